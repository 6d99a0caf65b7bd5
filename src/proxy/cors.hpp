// What lets pages of other origins read the proxy's own answers: their CORS fields (Fetch, "HTTP responses" of the CORS
// protocol; docs/routes.md, "Pages of another origin"). Answers of the application's, replays included, have their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/http/head.hpp"

namespace idem::proxy {

/// The lines of one route, made once for each configuration. Never holds a byte of a request.
class cors_lines {
 public:
  explicit cors_lines(const config::cors_config& settings);

  /// The lines for an answer to this request, each with its end; none on a route without origins. Valid as long as this
  /// object, however soon the head's bytes go.
  std::string_view answering(const http::request_head& head) const;

 private:
  struct of_origin {
    std::string origin, lines;
  };
  std::vector<of_origin> origins_;
  std::string otherwise_;  ///< for a request of no origin of the list; all there is where every origin may read
};

}  // namespace idem::proxy
