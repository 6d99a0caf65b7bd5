// The events of a JSON text, over Boost.JSON's SAX parser: whole names, strings and numbers, whatever pieces the parser
// hands them out in. No value is ever built; numbers come as the digits that were written.
#pragma once

#include <boost/json/basic_parser_impl.hpp>
#include <string>
#include <string_view>

namespace idem::idempotency {

inline constexpr std::size_t max_json_depth = 64;

/// `Visitor` has begin_object(), end_object(), begin_array(), end_array(), name(sv), string(sv), number(sv) and
/// literal(sv), all void; the views are valid during the call. Names and strings are unescaped UTF-8.
template <class Visitor>
class json_events {
 public:
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  using view = boost::json::string_view;
  using error_code = boost::json::error_code;

  explicit json_events(Visitor& visitor) : visitor_(visitor) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return visitor_.begin_object(), true; }
  bool on_object_end(std::size_t, error_code&) { return visitor_.end_object(), true; }
  bool on_array_begin(error_code&) { return visitor_.begin_array(), true; }
  bool on_array_end(std::size_t, error_code&) { return visitor_.end_array(), true; }
  bool on_key_part(view s, std::size_t, error_code&) { return keep(s); }
  bool on_key(view s, std::size_t, error_code&) { return visitor_.name(whole(s)), done(); }
  bool on_string_part(view s, std::size_t, error_code&) { return keep(s); }
  bool on_string(view s, std::size_t, error_code&) { return visitor_.string(whole(s)), done(); }
  bool on_number_part(view s, error_code&) { return keep(s); }
  bool on_int64(std::int64_t, view s, error_code&) { return visitor_.number(whole(s)), done(); }
  bool on_uint64(std::uint64_t, view s, error_code&) { return visitor_.number(whole(s)), done(); }
  bool on_double(double, view s, error_code&) { return visitor_.number(whole(s)), done(); }
  bool on_bool(bool b, error_code&) { return visitor_.literal(b ? "true" : "false"), true; }
  bool on_null(error_code&) { return visitor_.literal("null"), true; }
  bool on_comment_part(view, error_code&) { return true; }
  bool on_comment(view, error_code&) { return true; }

 private:
  bool keep(view s) {
    parts_.append(s.data(), s.size());
    return true;
  }
  std::string_view whole(view s) {
    if (parts_.empty()) return {s.data(), s.size()};
    parts_.append(s.data(), s.size());
    return parts_;
  }
  bool done() {
    parts_.clear();
    return true;
  }

  Visitor& visitor_;
  std::string parts_;
};

enum class json_bytes : bool { utf8, any };

/// Runs over `text`, which must be one JSON text (RFC 8259) in valid UTF-8, without a byte order mark, no deeper than
/// `max_json_depth`, and nothing but white space around it. False if it is not; the visitor has then seen a part.
/// @param strings what they may hold, and then what the visitor is given
template <class Visitor>
bool visit_json(std::string_view text, Visitor& visitor, json_bytes strings = json_bytes::utf8) {
  boost::json::parse_options options;
  options.max_depth = max_json_depth;
  options.allow_invalid_utf8 = strings == json_bytes::any;
  boost::json::basic_parser<json_events<Visitor>> parser(options, visitor);
  boost::json::error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  return !error && read == text.size();
}

}  // namespace idem::idempotency
