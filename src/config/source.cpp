#include "config/source.hpp"

#include <algorithm>
#include <array>

#include "config/suggest.hpp"
#include "idem/text/field_syntax.hpp"
#include "idem/text/json_pointer.hpp"

namespace idem::config {
namespace {

using kind = source::kind;

struct source_form {
  std::string_view word;
  kind type;
  bool as_key, as_scope;
  std::string_view form;  ///< how it is written; without a colon it takes no name
};

constexpr std::array<source_form, 12> forms{{
    {"header", kind::header, true, true, "header:NAME"},
    {"query", kind::query, true, false, "query:NAME"},
    {"path", kind::path, true, true, "\"path:{name}\""},
    {"json", kind::json, true, false, "json:/pointer"},
    {"form", kind::form, true, false, "form:NAME"},
    {"xml", kind::xml, true, false, "xml:/a/b"},
    {"jwt", kind::jwt, true, true, "jwt:CLAIM"},
    {"fingerprint", kind::fingerprint, true, false, "fingerprint"},
    {"credential", kind::credential, false, true, "credential"},
    {"cookie", kind::cookie, false, true, "cookie:NAME"},
    {"mtls", kind::mtls, false, true, "mtls:subject"},
    {"const", kind::constant, false, true, "const:NAME"},
}};

bool allowed(const source_form& form, source_use use) { return use == source_use::key ? form.as_key : form.as_scope; }

std::string expected(source_use use) {
  std::string out = "expected ";
  bool first = true;
  for (const source_form& form : forms) {
    if (!allowed(form, use)) continue;
    out += (first ? "" : ", ") + std::string(form.form);
    first = false;
  }
  return out;
}

std::string unknown_word(std::string_view word, source_use use) {
  std::array<std::string_view, forms.size()> words;
  std::transform(forms.begin(), forms.end(), words.begin(), [](const source_form& f) { return f.word; });
  return "is no source" + did_you_mean(word, words) + ", " + expected(use);
}

bool is_plain(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), text::is_control);
}

/// `/a/b`: element names from the root.
bool is_xml_path(std::string_view text) {
  if (!text.starts_with('/')) return false;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view name = text.substr(0, text.find('/'));
    const bool fine = !name.empty() && !text::is_digit(name[0]) && name[0] != '-' && name[0] != '.' &&
                      std::all_of(name.begin(), name.end(), [](char c) {
                        return text::is_alnum(c) || c == '_' || c == '-' || c == '.' || c == ':' ||
                               static_cast<unsigned char>(c) >= 0x80;
                      });
    if (!fine) return false;
    text.remove_prefix(name.size());
  }
  return true;
}

std::string fault_of_pointer(std::string_view text) {
  const auto tokens = text::parse_json_pointer(text);
  if (!tokens) return "has no JSON pointer (RFC 6901), expected for example json:/order/id";
  // in `exclude` it stands for every element; one value out of many is no key
  const bool wildcard = std::find(tokens->begin(), tokens->end(), "*") != tokens->end();
  return wildcard ? "has a *, which names no element here, expected an index or a name" : "";
}

/// What is wrong with the name of a source, or nothing. Takes the braces off a template's name.
std::string check_name(kind type, std::string& name) {
  switch (type) {
    case kind::header:
    case kind::cookie:
      return text::is_token(name) ? ""
                                  : "has no valid name, expected letters, digits and -, e.g. header:Idempotency-Key";
    case kind::path:
      if (name.size() < 3 || name.front() != '{' || name.back() != '}') {
        return "has no name in braces, expected for example \"path:{account}\"";
      }
      name = name.substr(1, name.size() - 2);
      return is_template_name(name) ? "" : "has no valid name in its braces, expected letters, digits, _ and -";
    case kind::json: return fault_of_pointer(name);
    case kind::xml: return is_xml_path(name) ? "" : "has no path of elements, expected for example xml:/order/id";
    case kind::mtls: return name == "subject" ? "" : "has an unknown part of the certificate, expected mtls:subject";
    case kind::query:
    case kind::form:
    case kind::jwt:
    case kind::constant: return is_plain(name) ? "" : "has no valid name after the colon";
    case kind::fingerprint:
    case kind::credential: break;
  }
  return "";
}

}  // namespace

bool is_template_name(std::string_view text) {
  return !text.empty() && (text::is_alpha(text[0]) || text[0] == '_') &&
         std::all_of(text.begin(), text.end(), [](char c) { return text::is_alnum(c) || c == '_' || c == '-'; });
}

parsed<source> parse_source(std::string_view text, source_use use) {
  using result = parsed<source>;
  const std::size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  const auto form = std::find_if(forms.begin(), forms.end(), [&](const source_form& f) { return f.word == word; });
  if (form == forms.end()) return result::fail(unknown_word(word, use));
  if (!allowed(*form, use)) {
    return result::fail(
        (use == source_use::key ? "is a source of scopes, not of keys, " : "is a source of keys, not of scopes, ") +
        expected(use));
  }
  const bool takes_name = form->form.find(':') != std::string_view::npos;
  if (takes_name != (colon != std::string_view::npos)) {
    return result::fail((takes_name ? "has no name, expected " : "takes no name, expected ") + std::string(form->form));
  }
  source made;
  made.type = form->type;
  made.text = text;
  if (takes_name) made.name = text.substr(colon + 1);
  std::string why = check_name(made.type, made.name);
  if (!why.empty()) return result::fail(std::move(why));
  return made;
}

}  // namespace idem::config
