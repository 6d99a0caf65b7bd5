// All that a connection carries, message after message, through the buffer, the gate and the decoder, as it is read and
// relayed. The first byte says who speaks: G, H or C a backend that answers one request of GET, HEAD or CONNECT, with
// interim answers before, anything else a client. The second byte says how the bytes are cut.
//
// What is understood does not depend on how the bytes come, and of what is relayed the next reader understands the same
// messages: none is smuggled past, none is lost, and no byte of one belongs to another.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/check.hpp"
#include "idem/http/body.hpp"
#include "idem/http/parser.hpp"
#include "idem/http/writer.hpp"
#include "proxy/read_buffer.hpp"

namespace {

using namespace idem::http;
using idem::fuzz::check;

constexpr head_limits narrow{2048, 20, 256};
constexpr head_limits wide{32 * 1024, 100, 8 * 1024};
constexpr std::size_t max_input = 8 * 1024;

/// What is said in one message, in words that do not change when it is relayed.
struct message {
  std::string head, data, trailers;
  bool whole = false;

  bool operator==(const message&) const = default;
};

struct conversation {
  std::vector<message> messages;
  std::string fault;     ///< why nothing is understood of what follows
  std::size_t used = 0;  ///< bytes of whole messages
  std::string relayed;   ///< the whole messages, as they leave
  bool operator==(const conversation&) const = default;
};

struct client_side {
  using parser = request_parser;
  static parse_result parse(parser& p, std::string_view bytes) { return p.parse(bytes); }
  static std::string describe(const request_head& h) {
    return std::string(h.method) + ' ' + std::string(h.path) + (h.has_query ? "?" : " ") + std::string(h.query) + ' ' +
           std::string(h.authority);
  }
  static bool write(std::string& out, const request_head& h) {
    request_edits edits;
    edits.body = h.body;
    edits.keep_expect = true;
    return append_request_head(out, h, edits);
  }
  static bool is_interim(const request_head&) { return false; }
  /// A connection that ends or becomes a tunnel; and a request of HTTP/1.0 without Host, which leaves with an empty one
  /// that the gate does not take from clients.
  static bool is_last(const request_head& h) { return !h.keep_alive || h.upgrade || h.authority.empty(); }
  static bool can_be_read_again(const request_head& h) { return !h.authority.empty(); }
};

struct backend_side {
  using parser = response_parser;
  std::string_view method;

  parse_result parse(parser& p, std::string_view bytes) const { return p.parse(bytes, method); }
  static std::string describe(const response_head& h) { return std::to_string(h.status) + ' ' + std::string(h.reason); }
  static bool write(std::string& out, const response_head& h) {
    response_edits edits;
    edits.body = framing_of(h);
    return append_response_head(out, h, edits);
  }
  /// What ends with the connection leaves in chunks.
  static framing framing_of(const response_head& h) {
    return h.body.kind == framing_kind::until_close ? framing{framing_kind::chunked, 0} : h.body;
  }
  static bool is_interim(const response_head& h) { return h.status < 200 && h.status != 101; }
  static bool is_last(const response_head& h) { return !is_interim(h); }
  static bool can_be_read_again(const response_head&) { return true; }
};

/// Reads one direction of a connection as the proxy does.
template <class Side>
class listener {
 public:
  /// @param rests whether the buffer is given back whenever nothing is left in it, as between two messages
  listener(Side side, head_limits limits, bool rests) : side_(side), limits_(limits), parser_(limits), rests_(rests) {}

  void hear(std::string_view bytes) {
    while (!bytes.empty()) {
      if (in_.full()) in_.grow(limits_.header_bytes + 1024);
      const auto room = in_.room(rests_ && in_.empty());
      const auto n = std::min(room.size(), bytes.size());
      check(n > 0, "there is room for what comes");
      std::memcpy(room.data(), bytes.data(), n);
      in_.commit(n);
      bytes.remove_prefix(n);
      while (!ended_ && (in_body_ ? body() : head())) {
      }
      if (ended_) in_.consume(in_.view().size());
      if (rests_) in_.release_if_empty();
    }
  }

  conversation end() {
    if (in_body_ && !ended_ && decoder_.finish()) finish();
    if (in_body_) said_.messages.push_back(current_);
    return std::move(said_);
  }

 private:
  bool head() {
    if (in_.empty()) return false;
    switch (side_.parse(parser_, in_.view())) {
      case parse_result::need_more: return false;
      case parse_result::rejected: return fail(parser_.why().reason);
      case parse_result::complete: break;
    }
    const auto& h = parser_.head();
    current_ = {side_.describe(h), {}, {}, false};
    head_.clear();
    readable_ = side_.can_be_read_again(h);
    check(side_.write(head_, h), "what the gate lets through can be written");
    last_ = side_.is_last(h);
    if constexpr (std::is_same_v<Side, backend_side>) {
      framing_ = side_.framing_of(h);
    } else {
      framing_ = h.body;
    }
    decoder_.reset(h.body, h);
    used_ += parser_.head_size();
    in_.consume(parser_.head_size());
    in_body_ = true;
    return true;
  }

  bool body() {
    const auto step = decoder_.feed(in_.view());
    used_ += step.consumed;
    current_.data += step.data;
    in_.consume(step.consumed);
    switch (step.type) {
      case body_step::kind::need_more: return false;
      case body_step::kind::data: return true;
      case body_step::kind::error: return fail(step.error);
      case body_step::kind::done: finish(); return true;
    }
    return false;
  }

  void finish() {
    current_.trailers = decoder_.trailers();
    current_.whole = true;
    said_.used = used_;
    if (readable_) relay();
    said_.messages.push_back(std::move(current_));
    parser_.reset();
    in_body_ = false;
    ended_ = last_;
  }

  void relay() {
    said_.relayed += head_;
    if (framing_.kind == framing_kind::chunked) {
      if (!current_.data.empty()) {
        append_chunk_size(said_.relayed, current_.data.size());
        (said_.relayed += current_.data) += chunk_end;
      }
      append_last_chunk(said_.relayed, current_.trailers);
    } else {
      said_.relayed += current_.data;
    }
  }

  bool fail(std::string_view why) {
    said_.fault = why;
    ended_ = true;
    return false;
  }

  Side side_;
  head_limits limits_;
  typename Side::parser parser_;
  const bool rests_;
  idem::net::buffer_pool pool_;
  idem::proxy::read_buffer in_{pool_};
  body_decoder decoder_;
  framing framing_;
  conversation said_;
  message current_;
  std::string head_;
  std::size_t used_ = 0;
  bool in_body_ = false, last_ = false, ended_ = false, readable_ = false;
};

template <class Side>
conversation listen(Side side, head_limits limits, std::string_view raw, std::size_t piece_size, bool rests = false) {
  listener<Side> l(side, limits, rests);
  for (; !raw.empty(); raw.remove_prefix(std::min(piece_size, raw.size()))) l.hear(raw.substr(0, piece_size));
  return l.end();
}

/// Whole messages only; what the relay does not pass on is not compared.
std::vector<message> whole_of(const conversation& c) {
  std::vector<message> all = c.messages;
  if (!all.empty() && !all.back().whole) all.pop_back();
  return all;
}

template <class Side>
conversation check_ways(Side side, std::string_view raw, std::size_t piece_size) {
  const conversation whole = listen(side, narrow, raw, std::max<std::size_t>(raw.size(), 1));
  check(whole == listen(side, narrow, raw, 1, true), "a conversation is the same byte by byte");
  check(whole == listen(side, narrow, raw, piece_size), "a conversation is the same in pieces");
  const conversation next = listen(side, wide, whole.relayed, piece_size);
  check(next.fault.empty() && next.used == whole.relayed.size(), "what is relayed is whole messages");
  check(next.relayed == whole.relayed, "relaying is stable");
  return whole;
}

// A request before them ends close to the end of the buffer, so that the rest of them has to move.
void check_behind_another(std::string_view raw, const conversation& alone, std::size_t fits) {
  std::string before = "POST /before HTTP/1.1\r\nHost: a\r\nContent-Length: ";
  const std::size_t length = idem::net::buffer_pool::size - fits - before.size() - 9;
  before += std::to_string(length) + "\r\n\r\n" + std::string(length, 'x');
  check(before.size() == idem::net::buffer_pool::size - fits, "the request before fills the buffer as it should");
  const auto behind = listen(client_side{}, narrow, before + std::string(raw), before.size() + raw.size());
  check(behind.fault == alone.fault && behind.messages.size() == alone.messages.size() + 1 &&
            std::equal(alone.messages.begin(), alone.messages.end(), behind.messages.begin() + 1),
        "a conversation is the same behind a request that fills the buffer");
}

void fuzz_client(std::string_view raw, std::size_t piece_size) {
  const auto said = check_ways(client_side{}, raw, piece_size);
  auto messages = whole_of(said);
  // the one that could not be read again is the last
  if (!messages.empty() && messages.back().head.ends_with(' ')) messages.pop_back();
  check(listen(client_side{}, wide, said.relayed, said.relayed.size() + 1).messages == messages,
        "the backend understands the same requests");
  check_behind_another(raw, said, piece_size);
}

void fuzz_backend(std::string_view raw, std::size_t piece_size, std::string_view method) {
  const backend_side side{method};
  const auto said = check_ways(side, raw, piece_size);
  check(listen(side, wide, said.relayed, said.relayed.size() + 1).messages == whole_of(said),
        "the client understands the same answers");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > max_input) return 0;
  const std::string_view raw(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t piece_size = std::max<std::size_t>(data[1], 1);
  switch (data[0]) {
    case 'G': fuzz_backend(raw, piece_size, "GET"); break;
    case 'H': fuzz_backend(raw, piece_size, "HEAD"); break;
    case 'C': fuzz_backend(raw, piece_size, "CONNECT"); break;
    default: fuzz_client(raw, piece_size);
  }
  return 0;
}
