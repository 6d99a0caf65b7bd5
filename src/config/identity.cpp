// Keys and scopes: which record a request belongs to (docs/protocol.md, "One record per key").
#include <algorithm>

#include "config/draft.hpp"
#include "config/source.hpp"
#include "idem/text/ascii.hpp"

namespace idem::config {
namespace {

constexpr std::size_t uuid_length = 36;

std::optional<source> read_source(report& out, const scalar& value, source_use use) {
  auto made = parse_source(value.text, use);
  if (!made) {
    out.error(value.at, value.shown + " " + made.why);
    return std::nullopt;
  }
  return *made;
}

/// Whether both are asked for the same: names of header fields have no case.
bool same(const source& a, const source& b) {
  if (a.type != b.type) return false;
  return a.type == source::kind::header ? text::iequals(a.name, b.name) : a.name == b.name;
}

bool stands_in(const std::vector<source>& list, const source& s) {
  return std::any_of(list.begin(), list.end(), [&](const source& other) { return same(other, s); });
}

/// One alternative: a source, or a list of sources whose values together are the key.
void read_alternative(const section& key, const tree_node& node, const std::string& path, idempotency_draft& to) {
  std::vector<scalar> values;
  if (node.type == tree_node::kind::list) {
    values = read_scalars(key.out(), node, path, "a source such as json:/id");
    if (node.items.empty()) key.out().error({node.line, node.column, path}, "is empty, expected the parts of a key");
  } else if (auto value =
                 read_scalar(key.out(), node, path, "a source such as header:Idempotency-Key, or a list of them")) {
    values.push_back(std::move(*value));
  }
  std::vector<source> parts;
  for (const scalar& value : values) {
    const auto part = read_source(key.out(), value, source_use::key);
    if (!part) continue;
    if (stands_in(parts, *part)) key.out().error(value.at, value.shown + " stands twice among the parts of the key");
    parts.push_back(*part);
    to.key_sources.push_back(value.at);
  }
  if (parts.empty()) return;
  auto& from = to.config.key.from;
  const auto equal = [&](const std::vector<source>& earlier) {
    return std::equal(earlier.begin(), earlier.end(), parts.begin(), parts.end(), same);
  };
  if (std::any_of(from.begin(), from.end(), equal)) {
    key.out().error({node.line, node.column, path}, "stands twice in the list, the second is never used");
  }
  const bool unreachable = !from.empty() && from.back().size() == 1 && from.back()[0].type == source::kind::fingerprint;
  if (unreachable) {
    key.out().error({node.line, node.column, path}, "is never used: every request has the fingerprint before it");
  }
  from.push_back(std::move(parts));
}

void read_from(const section& key, idempotency_draft& to) {
  const tree_node* list = key.list("from", "sources such as \"header:Idempotency-Key\"");
  if (!list) return;
  to.config.key.from.clear();
  to.key_sources.clear();
  if (list->items.empty()) key.out().error(key.where("from"), "is empty, expected at least one source");
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    read_alternative(key, list->items[i], key.path("from") + "[" + std::to_string(i) + "]", to);
  }
}

}  // namespace

void read_key(const section& key, idempotency_draft& out) {
  key_config& to = out.config.key;
  read_from(key, out);
  key.flag("required", to.required);
  key.number("max_length", to.max_length, {1, 16'384});
  enum class key_format { any, uuid } format = to.uuid ? key_format::uuid : key_format::any;
  key.choice<key_format>("format", format, {{"any", key_format::any}, {"uuid", key_format::uuid}});
  to.uuid = format == key_format::uuid;
  key.flag("strict", to.strict);
  if (key.duration("fingerprint_ttl", to.fingerprint_ttl, {10ms, 24h})) {
    out.fingerprint_ttl = key.where("fingerprint_ttl");
  }
  if (to.uuid && to.max_length < uuid_length && !key.refused("max_length")) {
    key.out().error(key.where("max_length"), "no UUID is that short, expected at least 36 with `format: uuid`");
  }
}

void read_scope(const section& block, idempotency_draft& out) {
  const auto values = block.texts("scope", "sources such as credential");
  if (!values) return;
  std::vector<source>& scope = out.config.scope;
  scope.clear();
  out.scope_parts.clear();
  out.scope = block.where("scope");
  for (const scalar& value : *values) {
    auto part = read_source(block.out(), value, source_use::scope);
    if (!part) continue;
    if (stands_in(scope, *part)) block.out().error(value.at, value.shown + " stands twice in the list");
    scope.push_back(std::move(*part));
    out.scope_parts.push_back(value.at);
  }
}

}  // namespace idem::config
