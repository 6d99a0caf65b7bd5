// Which requests a route takes. Pure, no allocation on the way of a request but for captures of templates.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace idem::config {

/// Values of a template's names for one request: {"account", "42"}. Views into the request's path.
using path_captures = std::vector<std::pair<std::string_view, std::string_view>>;

/// `match` of a route. Paths are compared byte by byte, unnormalised, without the query.
struct route_match {
  enum class path_kind { any, exact, prefix, templated };

  path_kind kind = path_kind::any;
  std::string path;                   ///< as written: exact path, prefix or template
  std::vector<std::string> segments;  ///< of a template, between slashes; `{name}` takes one whole, non-empty segment
  std::vector<std::string> methods = {"POST"};
  std::string host;  ///< lower case, without a port and a dot at the end; empty = every host

  /// Whether this takes the request. `captures` gets the values of a template's names, and is empty otherwise.
  /// @param authority as it came; its port does not count
  bool matches(std::string_view method, std::string_view authority, std::string_view request_path,
               path_captures& captures) const;

  /// Whether every request that `other` takes is taken by this one, too (then a later `other` is never reached).
  bool covers(const route_match& other) const;
};

/// One request in place of many, for questions about what routes take together.
struct request_example {
  std::string_view method;  ///< a view into one of the two matches
  std::string host;         ///< empty where it is none that a route could name
  std::string path;
};

/// What both take, one example for each method. It has nothing in it that they do not ask for, so a third match takes
/// it only if it takes all that they both take by this method: snapshot::find() tells for one example whose all of
/// them, or what is left of them, are. Not for the path of a request.
std::vector<request_example> common_requests(const route_match& a, const route_match& b);

}  // namespace idem::config
