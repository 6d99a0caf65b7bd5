#include "config/section.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "config/suggest.hpp"
#include "config/units.hpp"
#include "config/variables.hpp"

namespace idem::config {
namespace {

std::string_view kind_name(tree_node::kind kind) {
  switch (kind) {
    case tree_node::kind::null: return "nothing";
    case tree_node::kind::scalar: return "a single value";
    case tree_node::kind::list: return "a list";
    case tree_node::kind::map: return "a map";
  }
  return "nothing";
}

std::string join(std::span<const std::string_view> names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

/// Whether the value is there, can be read and is allowed; else says what is wrong with it, and leaves `target` alone.
template <class T>
bool take_within(report& out, const std::optional<scalar>& value, parsed<T> (*parse)(std::string_view),
                 std::string (*show)(T), limits<T> allowed, T& target) {
  if (!value) return false;
  const auto read = parse(value->text);
  if (!read) {
    out.error(value->at, value->shown + " " + read.why);
  } else if (*read < allowed.least || *read > allowed.most) {
    out.error(value->at,
              value->shown + " is out of range, expected " + show(allowed.least) + " to " + show(allowed.most));
  } else {
    target = *read;
    return true;
  }
  return false;
}

}  // namespace

std::optional<scalar> read_scalar(report& out, const tree_node& node, const std::string& path,
                                  std::string_view expected) {
  const place at{node.line, node.column, path};
  if (node.type != tree_node::kind::scalar) {
    out.error(at, "is " + std::string(kind_name(node.type)) + ", expected " + std::string(expected));
    return std::nullopt;
  }
  auto text = expand_variables(node.text);
  if (!text) {
    out.error(at, text.why);
    return std::nullopt;
  }
  if (*text != node.text) out.conceal(*text, node.text);
  return scalar{*text, out.value(*text), at};
}

std::vector<scalar> read_scalars(report& out, const tree_node& list, const std::string& path,
                                 std::string_view expected) {
  std::vector<scalar> values;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    auto value = read_scalar(out, list.items[i], path + "[" + std::to_string(i) + "]", expected);
    if (value) values.push_back(std::move(*value));
  }
  return values;
}

section::section(report& out, const tree_node* node, place at, const map_schema& schema)
    : out_(out), at_(std::move(at)), keys_(schema.keys) {
  if (!node || node->type == tree_node::kind::null) return;
  if (node->type != tree_node::kind::map) {
    out_.error(at_, "is " + std::string(kind_name(node->type)) + ", expected a map with " + join(keys_));
    return;
  }
  node_ = node;
  report_keys();
}

void section::report_keys() const {
  for (auto entry = node_->entries.begin(); entry != node_->entries.end(); ++entry) {
    const place here{entry->line, entry->column, path(entry->key)};
    const auto first = std::find_if(node_->entries.begin(), entry, [&](const auto& e) { return e.key == entry->key; });
    if (first != entry) {
      out_.error(here, "given twice, the first time on line " + std::to_string(first->line));
    } else if (std::find(keys_.begin(), keys_.end(), entry->key) == keys_.end()) {
      const std::string near = did_you_mean(entry->key, keys_);
      out_.error(here, "unknown key" + (near.empty() ? ", expected " + join(keys_) : near));
      if (!near.empty()) out_.refuse(path(nearest(entry->key, keys_)));
    }
  }
}

std::string section::path(std::string_view key) const {
  std::string printable = quoted(key);
  printable = printable.substr(1, printable.size() - 2);
  return at_.path.empty() ? printable : at_.path + "." + printable;
}

const tree_node* section::find(std::string_view key) const {
  assert(std::find(keys_.begin(), keys_.end(), key) != keys_.end() && "a key that is not in its table");
  if (!node_) return nullptr;
  for (const tree_entry& entry : node_->entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

place section::where(std::string_view key) const {
  if (const tree_node* value = find(key)) return {value->line, value->column, path(key)};
  return {at_.line, at_.column, path(key)};
}

section section::child(std::string_view key, const map_schema& schema) const {
  return section(out_, find(key), where(key), schema);
}

std::optional<scalar> section::text(std::string_view key, std::string_view expected) const {
  const tree_node* value = find(key);
  return value ? read_scalar(out_, *value, path(key), expected) : std::nullopt;
}

bool section::string(std::string_view key, std::string& target, std::string_view expected) const {
  auto value = text(key, expected);
  if (value) target = std::move(value->text);
  return value.has_value();
}

const tree_node* section::list(std::string_view key, std::string_view expected) const {
  const tree_node* value = find(key);
  if (!value) return nullptr;
  if (value->type == tree_node::kind::list) return value;
  std::string found(kind_name(value->type));
  out_.error(where(key), "is " + found + ", expected a list of " + std::string(expected));
  return nullptr;
}

std::optional<std::vector<scalar>> section::texts(std::string_view key, std::string_view expected) const {
  const tree_node* values = list(key, expected);
  if (!values) return std::nullopt;
  return read_scalars(out_, *values, path(key), expected);
}

bool section::duration(std::string_view key, std::chrono::milliseconds& target,
                       limits<std::chrono::milliseconds> allowed) const {
  return take_within(out_, text(key, "a duration such as 15s"), parse_duration, show_duration, allowed, target);
}

bool section::size(std::string_view key, std::size_t& target, limits<std::size_t> allowed) const {
  return take_within(out_, text(key, "a size such as 64KiB"), parse_size, show_size, allowed, target);
}

std::optional<std::uint64_t> section::whole_number(std::string_view key, limits<std::uint64_t> allowed) const {
  const std::string range = std::to_string(allowed.least) + " to " + std::to_string(allowed.most);
  const auto value = text(key, "a whole number from " + range);
  if (!value) return std::nullopt;
  std::uint64_t number = 0;
  const char* end_of_text = value->text.data() + value->text.size();
  const auto [end, error] = std::from_chars(value->text.data(), end_of_text, number);
  const bool is_number = !value->text.empty() && end == end_of_text;
  if (!is_number || error != std::errc() || number < allowed.least || number > allowed.most) {
    const char* fault = is_number ? " is out of range, expected " : " is no whole number, expected ";
    out_.error(value->at, value->shown + fault + range);
    return std::nullopt;
  }
  return number;
}

bool section::flag(std::string_view key, bool& target) const {
  static constexpr std::string_view names[] = {"true", "false", "on", "off"};
  const auto value = text(key, "true or false");
  if (!value) return false;
  const auto which = std::find(std::begin(names), std::end(names), value->text);
  if (which == std::end(names)) {
    out_.error(value->at, value->shown + " is neither true nor false" + did_you_mean(value->text, names));
    return false;
  }
  target = *which == "true" || *which == "on";
  return true;
}

std::optional<std::size_t> section::one_of(std::string_view key, std::span<const std::string_view> names) const {
  const auto value = text(key, join(names));
  if (!value) return std::nullopt;
  std::string_view wanted = value->text;
  if (wanted == "true") wanted = "on";
  if (wanted == "false") wanted = "off";
  const auto which = std::find(names.begin(), names.end(), wanted);
  if (which != names.end()) return static_cast<std::size_t>(which - names.begin());
  out_.error(value->at,
             value->shown + " is not a choice" + did_you_mean(value->text, names) + ", expected " + join(names));
  return std::nullopt;
}

}  // namespace idem::config
