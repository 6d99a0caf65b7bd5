// The body decoder. The first byte says in pieces of which size the rest is fed as a chunked body.
//
// The data, the trailers and the verdict are the same in one piece, byte by byte and in those pieces; data that is
// written as chunks again is read back.
#include <algorithm>
#include <cstdint>
#include <string>

#include "fuzz/check.hpp"
#include "idem/http/body.hpp"

namespace {

using namespace idem::http;
using idem::fuzz::check;
using idem::fuzz::exact_copy;

struct outcome {
  std::string data;
  std::string trailers;
  std::string error;
  std::size_t consumed = 0;
  bool done = false;

  bool operator==(const outcome&) const = default;
};

/// @return whether the decoder wants the next piece
bool feed_piece(body_decoder& decoder, std::string_view piece, outcome& out) {
  for (;;) {
    const body_step step = decoder.feed(piece);
    check(step.consumed <= piece.size(), "no more is consumed than was fed");
    if (step.type == body_step::kind::error) {
      out.error = step.error;
      return false;
    }
    out.consumed += step.consumed;
    piece.remove_prefix(step.consumed);
    out.data += step.data;
    if (step.type == body_step::kind::done) return false;
    if (step.type == body_step::kind::need_more) {
      check(piece.empty(), "what waits for more has taken everything");
      return true;
    }
  }
}

outcome decode(std::string_view raw, std::size_t piece_size) {
  body_decoder decoder({framing_kind::chunked, 0});
  outcome out;
  while (!raw.empty()) {
    const exact_copy piece(raw.substr(0, piece_size));
    raw.remove_prefix(piece.view().size());
    if (!feed_piece(decoder, piece.view(), out)) break;
  }
  out.done = decoder.finish();
  check(out.data.size() == decoder.received(), "every byte of data is counted");
  if (!out.error.empty()) {
    out.consumed = 0;
    return out;
  }
  out.trailers = decoder.trailers();
  return out;
}

void check_written_again(const outcome& read, std::size_t chunk_size) {
  std::string text;
  for (std::string_view left = read.data; !left.empty();) {
    const std::string_view chunk = left.substr(0, chunk_size);
    left.remove_prefix(chunk.size());
    append_chunk_size(text, chunk.size());
    text += chunk;
    text += chunk_end;
  }
  append_last_chunk(text, read.trailers);
  const outcome again = decode(text, text.size());
  check(again.done && again.error.empty() && again.consumed == text.size(), "what is written as chunks is one body");
  check(again.data == read.data && again.trailers == read.trailers, "what is written as chunks is read back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 64 * 1024) return 0;
  const std::string_view raw(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece_size = std::max<std::size_t>(data[0], 1);
  const outcome whole = decode(raw, std::max<std::size_t>(raw.size(), 1));
  check(whole == decode(raw, 1), "a body is the same byte by byte");
  check(whole == decode(raw, piece_size), "a body is the same in pieces");
  if (whole.done) check_written_again(whole, piece_size);
  return 0;
}
