#include "idem/config/route_match.hpp"

#include <algorithm>

#include "idem/config/config.hpp"
#include "idem/text/ascii.hpp"
#include "idem/text/authority.hpp"

namespace idem::config {
namespace {

bool is_name(std::string_view segment) { return segment.starts_with('{'); }

/// Whether `path` fits the template; what its names took goes to `captures` if that is wanted.
bool fits(const std::vector<std::string>& segments, std::string_view path, path_captures* captures) {
  for (const std::string& segment : segments) {
    if (!path.starts_with('/')) return false;
    path.remove_prefix(1);
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    if (!is_name(segment)) {
      if (part != segment) return false;
      continue;
    }
    if (part.empty()) return false;
    if (captures) captures->emplace_back(std::string_view(segment).substr(1, segment.size() - 2), part);
  }
  return path.empty();
}

/// Whether every path of the template `narrow` fits the template `wide`.
bool fits_template(const std::vector<std::string>& wide, const std::vector<std::string>& narrow) {
  return std::equal(wide.begin(), wide.end(), narrow.begin(), narrow.end(),
                    [](const auto& w, const auto& n) { return is_name(w) ? !n.empty() : w == n; });
}

bool covers_path(const route_match& wide, const route_match& narrow) {
  using kind = route_match::path_kind;
  switch (wide.kind) {
    case kind::any: return true;
    case kind::exact: return narrow.kind == kind::exact && wide.path == narrow.path;
    case kind::prefix:
      if (narrow.kind == kind::any) {
        // only OPTIONS comes with a target that does not begin with a slash
        const auto& methods = narrow.methods;
        return wide.path == "/" && std::find(methods.begin(), methods.end(), "OPTIONS") == methods.end();
      }
      // of a template only what stands before its first name is sure
      return std::string_view(narrow.path)
          .substr(0, narrow.kind == kind::templated ? narrow.path.find('{') : std::string::npos)
          .starts_with(wide.path);
    case kind::templated:
      if (narrow.kind == kind::exact) return fits(wide.segments, narrow.path, nullptr);
      return narrow.kind == kind::templated && fits_template(wide.segments, narrow.segments);
  }
  return false;
}

}  // namespace

bool route_match::matches(std::string_view method, std::string_view authority, std::string_view request_path,
                          path_captures& captures) const {
  captures.clear();
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) return false;
  if (!host.empty() && !text::iequals(text::host_of(authority), host)) return false;
  switch (kind) {
    case path_kind::any: return true;
    case path_kind::exact: return request_path == path;
    case path_kind::prefix: return request_path.starts_with(path);
    case path_kind::templated:
      if (fits(segments, request_path, &captures)) return true;
      captures.clear();
      return false;
  }
  return false;
}

bool route_match::covers(const route_match& other) const {
  const bool all_methods = std::all_of(other.methods.begin(), other.methods.end(), [&](const std::string& m) {
    return std::find(methods.begin(), methods.end(), m) != methods.end();
  });
  return all_methods && (host.empty() || host == other.host) && covers_path(*this, other);
}

const route* snapshot::named(std::string_view name) const {
  const auto found = std::find_if(routes.begin(), routes.end(), [&](const route& r) { return r.name == name; });
  return found == routes.end() ? nullptr : &*found;
}

const route* snapshot::find(std::string_view method, std::string_view authority, std::string_view path,
                            path_captures& captures) const {
  for (const route& candidate : routes) {
    if (candidate.match.matches(method, authority, path, captures)) return &candidate;
  }
  captures.clear();
  return nullptr;
}

}  // namespace idem::config
