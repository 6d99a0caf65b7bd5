#include "idempotency/json_lookup.hpp"

#include <optional>
#include <vector>

#include "idem/text/json_pointer.hpp"
#include "idempotency/json_events.hpp"
#include "idempotency/lone_surrogates.hpp"

namespace idem::idempotency {
namespace {

/// Follows one pointer. A container is on the way while every token down to it has matched.
class pointer_visitor {
 public:
  /// @param any_element whether `*` stands for every element of an array
  explicit pointer_visitor(const text::json_pointer& pointer, bool any_element = false)
      : pointer_(pointer), any_element_(any_element) {}

  void begin_object() { enter(false); }
  void begin_array() { enter(true); }
  void end_object() { leave(); }
  void end_array() { leave(); }

  void name(std::string_view text) {
    level& l = levels_.back();
    l.next_matches = l.on_way && text == token();
    if (!l.next_matches) return;
    if (l.seen) result_.result = lookup::ambiguous;
    l.seen = true;
  }

  void string(std::string_view text) { scalar(text); }
  void number(std::string_view text) { scalar(text); }
  void literal(std::string_view text) {
    if (text == "null") {
      value_matches();  // an element of an array all the same
    } else {
      scalar(text);
    }
  }

  lookup_result result() && { return std::move(result_); }

 private:
  struct level {
    bool array = false;
    bool on_way = false;
    bool seen = false;          // the token's name came already
    bool next_matches = false;  // for the value after a name
    std::size_t index = 0;
  };

  // The token that decides in the innermost container. Valid only while that is on the way: a value that the whole
  // pointer leads to is none that is entered on the way.
  std::string_view token() const { return pointer_[levels_.size() - 1]; }

  bool value_matches() {
    if (levels_.empty()) return true;
    level& l = levels_.back();
    if (!l.array) return l.next_matches;
    const bool matches = l.on_way && ((any_element_ && token() == "*") || text::names_index(token(), l.index));
    ++l.index;
    return matches;
  }

  void enter(bool array) {
    const bool matches = value_matches();
    level l;
    l.array = array;
    l.on_way = matches && levels_.size() < pointer_.size();
    levels_.push_back(l);
  }

  void leave() { levels_.pop_back(); }

  void scalar(std::string_view text) {
    if (!value_matches() || levels_.size() != pointer_.size() || result_.result == lookup::ambiguous) return;
    result_.result = lookup::found;
    result_.value = text;
  }

  const text::json_pointer& pointer_;
  bool any_element_;
  std::vector<level> levels_;
  lookup_result result_;
};

/// Nothing if the text does not parse.
std::optional<lookup_result> follow(const text::json_pointer& pointer, std::string_view text, json_bytes strings) {
  pointer_visitor visitor(pointer);
  if (!visit_json(text, visitor, strings)) return std::nullopt;
  return std::move(visitor).result();
}

}  // namespace

lookup_result find_in_json(std::string_view text, std::string_view pointer) {
  const auto tokens = text::parse_json_pointer(pointer);
  if (!tokens) return {};
  return follow(*tokens, text, json_bytes::utf8).value_or(lookup_result());
}

lookup_result find_in_json_as_written(std::string_view text, std::string_view pointer) {
  const auto tokens = text::parse_json_pointer(pointer);
  if (!tokens) return {};
  if (auto found = follow(*tokens, text, json_bytes::utf8)) return *std::move(found);
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::string rewritten;
  if (text.find("\\u") != text.npos) text = rewritten = with_bytes_for_lone_surrogates(text);
  return follow(*tokens, text, json_bytes::any).value_or(lookup_result());
}

bool stands_twice_in_json(std::string_view text, std::string_view pointer) {
  const auto tokens = text::parse_json_pointer(pointer);
  if (!tokens) return false;
  pointer_visitor visitor(*tokens, true);
  return visit_json(text, visitor) && std::move(visitor).result().result == lookup::ambiguous;
}

}  // namespace idem::idempotency
