// Plays bytes into the parsers and the decoder as a connection would, in pieces of any size, and says in one line what
// a recipient would have understood. Every piece lies in memory of its own, so that a view that outlives its bytes
// shows under AddressSanitizer.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "idem/http/body.hpp"
#include "idem/http/parser.hpp"

namespace idem::http::testing {

inline std::string describe(framing plan) {
  switch (plan.kind) {
    case framing_kind::none: return "none";
    case framing_kind::length: return "length " + std::to_string(plan.length);
    case framing_kind::chunked: return "chunked";
    case framing_kind::until_close: return "until close";
  }
  return {};
}

inline std::string describe(const request_head& head) {
  std::string text(head.method);
  text += " " + std::string(head.target) + " " + describe(head.body);
  if (!head.keep_alive) text += " close";
  if (head.upgrade) text += " upgrade";
  return text;
}

inline std::string describe(const response_head& head) {
  std::string text = std::to_string(head.status) + " '" + std::string(head.reason) + "' " + describe(head.body);
  if (!head.keep_alive) text += " close";
  return text;
}

/// One message: its head through `Parser`, its body through a decoder.
template <class Parser>
class listener {
 public:
  using parse_call = std::function<parse_result(Parser&, std::string_view)>;

  listener(head_limits limits, parse_call parse) : parser_(limits), parse_(std::move(parse)) {}

  void hear(std::string_view piece) {
    if (refused_) return;
    if (in_body_) return body(piece);
    bytes_ += piece;
    const std::string copy = bytes_;
    switch (parse_(parser_, copy)) {
      case parse_result::need_more: return;
      case parse_result::rejected:
        refused_ = true;
        verdict_ = std::to_string(parser_.why().status);
        reason_ = parser_.why().reason;
        return;
      case parse_result::complete:
        in_body_ = true;
        verdict_ = describe(parser_.head());
        has_body_ = parser_.head().body.has_body();
        decoder_.reset(parser_.head().body);
        body(copy.substr(parser_.head_size()));
    }
  }

  /// `HEAD`, `HEAD = DATA`, with ` + REST` for bytes of the next message, ` ...` for a body that is not whole and
  /// ` ! REASON` for one that is malformed. A head that has not come is `waits`.
  std::string summary() {
    if (refused_) return verdict_;
    if (!in_body_) return "waits";
    std::string text = verdict_;
    if (has_body_) text += " = " + data_;
    if (!trailers_().empty()) text += " [" + trailers_() + "]";
    if (broken_) return text + " ! " + reason_;
    if (!decoder_.finish()) text += " ...";
    if (!rest_.empty()) text += " + " + rest_;
    return text;
  }
  const std::string& reason() const { return reason_; }

 private:
  const std::string& trailers_() const { return decoder_.trailers(); }

  void body(std::string_view piece) {
    std::string copy(piece);
    std::string_view left = copy;
    while (!broken_) {
      const body_step step = decoder_.feed(left);
      left.remove_prefix(step.consumed);
      data_ += step.data;
      if (step.type == body_step::kind::need_more) break;
      if (step.type == body_step::kind::done) {
        rest_ += left;
        break;
      }
      if (step.type == body_step::kind::error) {
        broken_ = true;
        reason_ = step.error;
      }
    }
  }

  Parser parser_;
  parse_call parse_;
  body_decoder decoder_;
  std::string bytes_, verdict_, reason_, data_, rest_;
  bool in_body_ = false, has_body_ = false, refused_ = false, broken_ = false;
};

using request_listener = listener<request_parser>;
using response_listener = listener<response_parser>;

inline request_listener hearing_requests(head_limits limits = {}) {
  return {limits, [](request_parser& parser, std::string_view bytes) { return parser.parse(bytes); }};
}
inline response_listener hearing_responses(std::string method, head_limits limits = {}) {
  return {limits, [method](response_parser& parser, std::string_view bytes) { return parser.parse(bytes, method); }};
}

/// What is understood of `raw` in one piece, byte by byte, and cut in two at every position; they must be the same.
template <class MakeListener>
std::vector<std::string> every_way(const MakeListener& make, std::string_view raw) {
  std::vector<std::string> summaries;
  const auto note = [&summaries](auto& heard) {
    const std::string text = heard.summary() + " / " + heard.reason();
    if (summaries.empty() || summaries.back() != text) summaries.push_back(text);
  };
  auto whole = make();
  whole.hear(raw);
  note(whole);
  auto bytewise = make();
  for (char c : raw) bytewise.hear({&c, 1});
  note(bytewise);
  for (std::size_t cut = 1; cut < raw.size(); ++cut) {
    auto halves = make();
    halves.hear(raw.substr(0, cut));
    halves.hear(raw.substr(cut));
    note(halves);
  }
  return summaries;
}

}  // namespace idem::http::testing
