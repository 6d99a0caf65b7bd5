// The block `match` of a route.
#include <algorithm>
#include <set>

#include "config/address.hpp"
#include "config/draft.hpp"
#include "config/source.hpp"
#include "idem/text/field_syntax.hpp"

namespace idem::config {
namespace {

/// What is wrong with a path as requests have it on the wire, or nothing.
std::string check_path(std::string_view path) {
  if (!path.starts_with('/')) return "does not begin with /, expected for example /v1/charges";
  if (path.find_first_of("?#") != std::string_view::npos) return "has a query or fragment, expected the path alone";
  const bool visible = std::all_of(path.begin(), path.end(), text::is_visible);
  return visible ? "" : "has spaces or non-ASCII characters, expected them percent-encoded as requests have them";
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> segments;
  path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    segments.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

/// What is wrong with a template, or nothing.
std::string check_template(const std::vector<std::string>& segments) {
  std::set<std::string> names;
  for (const std::string& segment : segments) {
    if (segment.find_first_of("{}") == std::string::npos) continue;
    if (segment.size() < 3 || segment.front() != '{' || segment.back() != '}') {
      return "has braces within a segment, expected a name that takes a whole segment, e.g. /v1/{account}/charges";
    }
    const std::string name = segment.substr(1, segment.size() - 2);
    if (!is_template_name(name)) return "has no valid name in its braces, expected letters, digits, _ and -";
    if (!names.insert(name).second) return "has the same name twice in its braces";
  }
  return "";
}

/// A route that is meant to match and does not leaves its requests unprotected. Paths with such segments can exist.
void warn_of_wildcards(const section& match, const scalar& value) {
  const auto segments = split(value.text);
  const bool any = std::any_of(segments.begin(), segments.end(), [](std::string_view segment) {
    return segment == "*" || segment == "**" || segment == ".*" || (segment.starts_with(':') && segment.size() > 1);
  });
  if (!any) return;
  match.out().warning(value.at, value.shown +
                                    " is compared as it is written: * and :name are no wildcards, expected a template "
                                    "such as /v1/{account}/charges, or prefix");
}

void read_path(const section& match, route_match& to) {
  const auto value = match.text("path", "a path such as /v1/charges");
  if (!value || value->text.empty()) return;
  std::string why = check_path(value->text);
  if (why.empty() && value->text.find_first_of("{}") != std::string::npos) {
    to.segments = split(value->text);
    why = check_template(to.segments);
  }
  if (!why.empty()) {
    match.out().error(value->at, value->shown + " " + why);
    to.segments.clear();
    return;
  }
  warn_of_wildcards(match, *value);
  to.path = value->text;
  to.kind = to.segments.empty() ? route_match::path_kind::exact : route_match::path_kind::templated;
}

void read_prefix(const section& match, route_match& to) {
  const auto value = match.text("prefix", "the beginning of paths, such as /v1/");
  if (!value || value->text.empty()) return;
  if (const tree_node* path = match.find("path");
      path && !(path->type == tree_node::kind::scalar && path->text.empty())) {
    match.out().error(value->at, "stands beside path, expected one of the two");
    return;
  }
  std::string why = check_path(value->text);
  if (why.empty() && value->text.find_first_of("{}") != std::string::npos)
    why = "has braces, expected templates in path only";
  if (!why.empty()) {
    match.out().error(value->at, value->shown + " " + why);
    return;
  }
  warn_of_wildcards(match, *value);
  to.path = value->text;
  to.kind = route_match::path_kind::prefix;
}

void read_methods(const section& match, route_match& to) {
  const auto values = match.texts("methods", "methods such as POST");
  if (!values) return;
  to.methods.clear();
  for (const scalar& value : *values) {
    const std::string& method = value.text;
    const bool lower = std::any_of(method.begin(), method.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (!text::is_token(method) || method[0] < 'A' || method[0] > 'z') {
      match.out().error(value.at, value.shown + " is no method, expected for example POST");
    } else if (lower) {
      match.out().error(
          value.at, value.shown + " is not in capitals, and methods are told apart by case, expected for example POST");
    } else if (method == "CONNECT") {
      match.out().error(value.at, "CONNECT is refused by the proxy and reaches no route");
    } else if (std::find(to.methods.begin(), to.methods.end(), method) != to.methods.end()) {
      match.out().error(value.at, value.shown + " stands twice in the list");
    } else {
      to.methods.push_back(method);
    }
  }
  if (match.find("methods")->items.empty()) {
    match.out().error(match.where("methods"), "is empty and would match nothing, expected for example [POST]");
  }
}

void read_host(const section& match, route_match& to) {
  const auto value = match.text("host", "a host name");
  if (!value || value->text.empty()) return;
  const auto host = parse_host_name(value->text);
  if (host) {
    to.host = *host;
  } else {
    match.out().error(value->at, value->shown + " " + host.why);
  }
}

}  // namespace

void read_match(const section& match, route_match& out) {
  read_path(match, out);
  read_prefix(match, out);
  read_methods(match, out);
  read_host(match, out);
}

}  // namespace idem::config
