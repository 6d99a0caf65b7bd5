// The message gate. The first byte says what follows: G, H or C a response to GET, HEAD or CONNECT, anything else a
// request.
//
// A head is judged the same in one piece and byte by byte, and what the writer makes of it is understood as the same
// message and written again as the same bytes.
#include <cstdint>
#include <optional>
#include <string>

#include "fuzz/check.hpp"
#include "idem/http/parser.hpp"
#include "idem/http/writer.hpp"

namespace {

using namespace idem::http;
using idem::fuzz::check;
using idem::fuzz::exact_copy;

constexpr head_limits limits{2048, 20, 256};
constexpr head_limits wide{60 * 1024, 100, 8 * 1024};
constexpr std::size_t max_input = 4096;

std::string text_of(const request_head& h) {
  return std::string(h.method) + ' ' + std::string(h.path) + (h.has_query ? "?" : " ") + std::string(h.query) + ' ' +
         std::string(h.authority) + ' ' + std::to_string(static_cast<int>(h.body.kind)) + ' ' +
         std::to_string(h.body.length);
}

std::string text_of(const response_head& h) {
  return std::to_string(h.status) + ' ' + std::string(h.reason) + ' ' + std::to_string(static_cast<int>(h.body.kind)) +
         ' ' + std::to_string(h.body.length);
}

/// The verdict as text; nothing while more bytes are needed.
template <class Parser, class Parse>
std::optional<std::string> verdict(Parser& parser, const Parse& parse, std::string_view bytes) {
  switch (parse(parser, bytes)) {
    case parse_result::need_more: return std::nullopt;
    case parse_result::rejected:
      check(!parser.why().reason.empty(), "a rejection has a reason");
      return std::to_string(parser.why().status) + ' ' + std::string(parser.why().reason);
    case parse_result::complete: break;
  }
  check(parser.head_size() <= bytes.size(), "a head lies within its bytes");
  return std::to_string(parser.head_size()) + ' ' + text_of(parser.head());
}

template <class Parser, class Parse>
void check_cuts(std::string_view raw, const Parse& parse) {
  Parser whole(limits);
  const exact_copy all(raw);
  const auto expected = verdict(whole, parse, all.view());
  Parser bytewise(limits);
  for (std::size_t n = 1; n <= raw.size(); ++n) {
    const exact_copy prefix(raw.substr(0, n));
    const auto found = verdict(bytewise, parse, prefix.view());
    if (!found) continue;
    check(found == expected, "the verdict does not depend on how the bytes are cut");
    return;
  }
  check(!expected, "a verdict comes byte by byte as well");
}

template <class Parser, class Parse, class Write>
void check_round_trip(std::string_view raw, const Parse& parse, const Write& write) {
  Parser first(limits);
  if (parse(first, raw) != parse_result::complete) return;
  std::string written;
  check(write(written, first.head()), "what the gate lets through can be written");
  Parser second(wide);
  const exact_copy copy(written);
  check(parse(second, copy.view()) == parse_result::complete, "what the writer makes passes the gate");
  check(second.head_size() == written.size(), "one head is written");
  check(text_of(first.head()) == text_of(second.head()), "what is written is understood as the same message");
  std::string again;
  check(write(again, second.head()) && again == written, "writing is stable");
}

void fuzz_request(std::string_view raw) {
  const auto parse = [](request_parser& parser, std::string_view bytes) { return parser.parse(bytes); };
  const auto write = [](std::string& out, const request_head& head) {
    request_edits edits;
    edits.body = head.body;
    edits.keep_expect = true;
    return append_request_head(out, head, edits);
  };
  check_cuts<request_parser>(raw, parse);
  request_parser parser(limits);
  // a request of HTTP/1.0 without Host leaves with an empty one, which the gate does not take from clients
  if (parser.parse(raw) == parse_result::complete && parser.head().authority.empty()) return;
  check_round_trip<request_parser>(raw, parse, write);
}

void fuzz_response(std::string_view raw, std::string_view method) {
  const auto parse = [method](response_parser& parser, std::string_view bytes) { return parser.parse(bytes, method); };
  const auto write = [](std::string& out, const response_head& head) {
    response_edits edits;
    edits.body = head.body;
    return append_response_head(out, head, edits);
  };
  check_cuts<response_parser>(raw, parse);
  check_round_trip<response_parser>(raw, parse, write);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > max_input) return 0;
  const std::string_view raw(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'G': fuzz_response(raw, "GET"); break;
    case 'H': fuzz_response(raw, "HEAD"); break;
    case 'C': fuzz_response(raw, "CONNECT"); break;
    default: fuzz_request(raw);
  }
  return 0;
}
