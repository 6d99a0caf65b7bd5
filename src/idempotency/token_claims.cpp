#include "idempotency/token_claims.hpp"

#include <algorithm>

#include "idempotency/json_events.hpp"

namespace idem::idempotency {
namespace {

class object_visitor {
 public:
  void begin_object() {
    if (depth_ == 0) is_object_ = true;
    if (depth_ == 1) in_list_ = false;
    ++depth_;
  }
  void begin_array() {
    if (depth_ == 1) in_list_ = is_object_;
    ++depth_;
  }
  void end_object() { --depth_; }
  void end_array() { --depth_; }

  void name(std::string_view text) {
    if (depth_ != 1) return;
    object_.members.push_back({std::string(text), token_object::kind::other, {}, {}});
  }
  void string(std::string_view text) {
    if (depth_ == 2 && in_list_) object_.members.back().items.emplace_back(text);
    scalar(token_object::kind::string, text);
  }
  void number(std::string_view text) { scalar(token_object::kind::number, text); }
  void literal(std::string_view text) { scalar(token_object::kind::literal, text); }

  std::optional<token_object> result() && {
    if (!is_object_ || names_one_twice()) return std::nullopt;
    return std::move(object_);
  }

 private:
  void scalar(token_object::kind type, std::string_view text) {
    if (depth_ != 1 || !is_object_) return;
    object_.members.back().type = type;
    object_.members.back().text = text;
  }

  /// Sorted, since a token whose signature nobody has checked yet can have a thousand members.
  bool names_one_twice() const {
    std::vector<std::string_view> names;
    names.reserve(object_.members.size());
    for (const auto& m : object_.members) names.push_back(m.name);
    std::ranges::sort(names);
    return std::ranges::adjacent_find(names) != names.end();
  }

  token_object object_;
  std::size_t depth_ = 0;
  bool is_object_ = false;
  bool in_list_ = false;  // the value of the last member is an array
};

}  // namespace

const token_object::member* token_object::find(std::string_view name) const {
  const auto found = std::find_if(members.begin(), members.end(), [&](const member& m) { return m.name == name; });
  return found == members.end() ? nullptr : &*found;
}

std::optional<token_object> parse_token_object(std::string_view text) {
  object_visitor visitor;
  if (!visit_json(text, visitor)) return std::nullopt;
  return std::move(visitor).result();
}

}  // namespace idem::idempotency
