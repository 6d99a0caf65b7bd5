// Heads and chunks, as the proxy reads and writes them.
#include <memory>
#include <utility>
#include <vector>

#include "http/tokenizer.hpp"
#include "idem/http/body.hpp"
#include "idem/http/parser.hpp"
#include "idem/http/writer.hpp"
#include "operation.hpp"
#include "samples.hpp"

namespace idem::bench {
namespace {

using namespace http;

action tokenize(std::string head) {
  return [head = std::move(head), fields = std::vector<field>()]() mutable {
    tokenizer<true> t(fields);
    require(t.run(head).empty());
    keep(fields);
  };
}

action judge_request(std::string head) {
  return [head = std::move(head), parser = request_parser()]() mutable {
    parser.reset();
    require(parser.parse(head) == parse_result::complete);
    keep(parser);
  };
}

action judge_response() {
  return [head = response_head(), parser = response_parser()]() mutable {
    parser.reset();
    require(parser.parse(head, "POST") == parse_result::complete);
    keep(parser);
  };
}

action write_request(std::string text) {
  auto from = std::make_shared<std::pair<std::string, request_parser>>(std::move(text), request_parser());
  require(from->second.parse(from->first) == parse_result::complete);
  return [from, out = std::string()]() mutable {
    const auto& head = from->second.head();
    request_edits edits;
    edits.body = head.body;
    edits.forwarded_for = "192.0.2.1";
    edits.forwarded_proto = "http";
    edits.forwarded_mode = request_edits::forwarded::append;
    out.clear();
    require(append_request_head(out, head, edits));
    keep(out);
  };
}

action write_response() {
  auto from = std::make_shared<std::pair<std::string, response_parser>>(response_head(), response_parser());
  require(from->second.parse(from->first, "POST") == parse_result::complete);
  return [from, out = std::string()]() mutable {
    response_edits edits;
    edits.body = from->second.head().body;
    edits.drop_idempotency_status = true;
    out.clear();
    require(append_response_head(out, from->second.head(), edits));
    keep(out);
  };
}

action decode_chunks(std::size_t size, std::size_t chunk) {
  return [body = chunked(json_body(size), chunk)] {
    body_decoder decoder(framing{framing_kind::chunked, 0});
    std::string_view rest = body;
    while (!decoder.done()) {
      auto step = decoder.feed(rest);
      require(step.type != body_step::kind::error && step.type != body_step::kind::need_more);
      keep(step);
      rest.remove_prefix(step.consumed);
    }
  };
}

const listed all[] = {
    {"http/tokenize_8_fields", [] { return tokenize(small_request_head()); }},
    {"http/tokenize_40_fields", [] { return tokenize(large_request_head()); }},
    {"http/judge_request_8_fields", [] { return judge_request(small_request_head()); }},
    {"http/judge_request_40_fields", [] { return judge_request(large_request_head()); }},
    {"http/judge_response", judge_response},
    {"http/write_request_8_fields", [] { return write_request(small_request_head()); }},
    {"http/write_request_40_fields", [] { return write_request(large_request_head()); }},
    {"http/write_response", write_response},
    {"http/decode_chunks_300", [] { return decode_chunks(300, 4096); }},
    {"http/decode_chunks_16k", [] { return decode_chunks(16384, 4096); }},
    {"http/decode_chunks_16k_small", [] { return decode_chunks(16384, 64); }},
};

}  // namespace
}  // namespace idem::bench
