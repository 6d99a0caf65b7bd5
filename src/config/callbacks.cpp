// The keys of an idempotency block that callbacks need: `preset`, `answer` and `signature`.
#include <algorithm>

#include "config/draft.hpp"
#include "config/file.hpp"
#include "config/presets.hpp"
#include "config/source.hpp"
#include "config/suggest.hpp"
#include "config/words.hpp"
#include "idem/text/base64.hpp"
#include "idem/text/field_syntax.hpp"

namespace idem::config {
namespace {

/// Whatever is found in a preset stands, for the user, where the preset is named.
void put_at(tree_node& node, int line, int column) {
  node.line = line;
  node.column = column;
  for (tree_node& item : node.items) put_at(item, line, column);
  for (tree_entry& entry : node.entries) {
    entry.line = line;
    entry.column = column;
    put_at(entry.value, line, column);
  }
}

void read_block_of_preset(const section& block, std::string_view yaml, idempotency_draft& to) {
  report faults("preset");
  auto tree = parse_tree(yaml, faults);
  if (!tree) return;
  const place at = block.where("preset");
  put_at(*tree, at.line, at.column);
  read_settings(section(block.out(), &*tree, {at.line, at.column, block.at().path}, schema::idempotency), to);
}

const preset* find_preset(std::string_view name) {
  const auto list = presets();
  const auto found = std::find_if(list.begin(), list.end(), [&](const preset& p) { return p.name == name; });
  return found == list.end() ? nullptr : &*found;
}

std::string unknown_preset(const scalar& value) {
  std::vector<std::string_view> names;
  std::string list;
  for (const preset& p : presets()) {
    names.push_back(p.name);
    list += (list.empty() ? "" : ", ") + std::string(p.name);
  }
  return value.shown + " is no preset" + did_you_mean(value.text, names) + ", expected one of " + list;
}

bool is_quoted(std::string_view text) {
  return text.size() > 1 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
}

/// `json:/code == SUCCESS`. What no value can ever equal is none: with it each success would be taken for a failure.
std::optional<body_condition> parse_condition(std::string_view text) {
  const std::size_t at = text.find(" == ");
  if (at == std::string_view::npos) return std::nullopt;
  const auto from = parse_source(text::trim_ows(text.substr(0, at)), source_use::key);
  if (!from || (from->type != source::kind::json && from->type != source::kind::xml)) return std::nullopt;
  body_condition c;
  c.type = from->type == source::kind::json ? body_condition::kind::json : body_condition::kind::xml;
  c.path = from->name;
  c.expected = text::trim_ows(text.substr(at + 4));
  const bool null = c.type == body_condition::kind::json && c.expected == "null";
  if (c.expected.empty() || is_quoted(c.expected) || null) return std::nullopt;
  return c;
}

void read_success(const section& success, idempotency_draft& to) {
  success_config read;
  const auto statuses = success.texts("statuses", "status codes or classes such as [2xx]");
  if (statuses) {
    for (const status_entry& e : read_status_list(success.out(), *statuses)) {
      (e.is_class ? read.statuses.classes : read.statuses.codes).insert(e.value);
      if (e.is_class || (e.value != 401 && e.value != 403)) continue;
      success.out().error(e.at, "401 and 403 are never a success of a callback, expected another status");
    }
  }
  const auto equals = success.text("body_equals", "the whole body");
  const auto body = success.text("body", "a condition such as json:/code == SUCCESS");
  if (equals && !equals->text.empty()) read.body = {body_condition::kind::equals, {}, equals->text};
  if (body && !body->text.empty()) {
    if (equals && !equals->text.empty()) {
      success.out().error(body->at, "stands beside body_equals, expected one of the two");
    }
    const auto condition = parse_condition(body->text);
    if (condition) read.body = *condition;
    if (!condition) {
      success.out().error(body->at,
                          body->shown +
                              " is no condition, expected json:/pointer == TEXT or xml:/a/b == TEXT, the text "
                              "without quotes and not null");
    }
  }
  if (read.statuses.empty() && read.body.type != body_condition::kind::none) read.statuses.classes.insert(2);
  to.config.success = std::move(read);
  to.success = success.at();
}

/// Whether one was given.
bool read_scheme(const section& signature, idempotency_draft& to) {
  const auto value = signature.text("scheme", "standard_webhooks, stripe, github, shopify or slack");
  if (!value) return false;
  const auto found = std::find_if(std::begin(scheme_words), std::end(scheme_words),
                                  [&](const auto& w) { return w.first == value->text; });
  if (found == std::end(scheme_words)) {
    signature.out().error(value->at,
                          value->shown + " is no scheme, expected standard_webhooks, stripe, github, shopify or slack");
    return true;
  }
  to.config.signature.scheme = found->second;
  to.signature_scheme = value->at;
  return true;
}

/// What `defaults` verify stays where this sender signs so; a secret without a scheme is one for its scheme. Whether it
/// was something else.
bool drop_foreign_signature(signature_config& c, const preset& p) {
  const bool other = p.scheme == signature_scheme::none || (c.scheme != signature_scheme::none && c.scheme != p.scheme);
  const bool foreign = other && !c.secret_file.empty();
  c.scheme = signature_scheme::none;  // the preset's block has its own
  if (foreign) c.secret_file.clear(), c.secret.clear();
  return foreign;
}

/// The bytes that the HMAC is keyed with, of a secret as the sender shows it.
parsed<std::string> hmac_key(signature_scheme scheme, std::string secret) {
  constexpr std::string_view prefix = "whsec_";
  if (scheme != signature_scheme::standard_webhooks) return secret;
  std::string_view text = secret;
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  auto bytes = text::decode_base64(text, text::base64_alphabet::standard);
  if (!bytes || bytes->empty())
    return parsed<std::string>::fail("holds no secret of Standard Webhooks, expected whsec_ and base64");
  return *bytes;
}

}  // namespace

void read_preset(const section& block, idempotency_draft& to) {
  const auto value = block.text("preset", "the name of a sender, such as stripe");
  if (!value || value->text.empty()) return;
  const preset* const p = find_preset(value->text);
  if (!p) {
    block.out().error(value->at, unknown_preset(*value));
    return;
  }
  const bool foreign = drop_foreign_signature(to.config.signature, *p);
  read_block_of_preset(block, block_of(*p), to);
  to.foreign_signature = foreign ? std::optional(value->at) : std::nullopt;
  to.hold_given = false;
  to.config.preset = p->name;
  to.config.sender_tries = p->tries;
  to.config.sender_waits = p->waits;
  to.signature_scheme.reset();  // the scheme of a preset alone asks for nothing yet
  to.preset = value->at;
}

void read_answer(const section& answer, idempotency_draft& to) {
  if (answer.find("success")) read_success(answer.child("success", schema::success), to);
}

void read_signature(const section& signature, idempotency_draft& to) {
  signature_config& c = to.config.signature;
  const bool scheme = read_scheme(signature, to);
  signature.duration("tolerance", c.tolerance, {1s, 24h});
  const auto file = signature.text("secret_file", "the path of a file");
  if (file) {
    c.secret_file = file->text;
    to.signature = file->at;
  }
  if (!file && !scheme) return;
  to.foreign_signature.reset();
  if (!file && c.scheme == signature_scheme::none) c.secret_file.clear();
  if (!scheme && c.secret_file.empty()) to.signature_scheme.reset();
  c.secret.clear();
  if (c.secret_file.empty() || c.scheme == signature_scheme::none) return;
  const place at = to.signature ? *to.signature : signature.where("secret_file");
  const auto secret = read_secret(signature.out(), at, c.secret_file);
  const auto key = secret ? hmac_key(c.scheme, *secret) : secret;
  if (key) c.secret = *key;
  if (!key) signature.out().error(at, signature.out().value(c.secret_file) + " " + key.why);
}

}  // namespace idem::config
