#include "admin/table.hpp"

#include <exception>

#include "idem/telemetry/log.hpp"

namespace idem::admin {
namespace {

namespace http = boost::beast::http;

http_response not_allowed(const std::string& allow) {
  auto response = make_response({405, "method not allowed\n"});
  response.set(http::field::allow, allow);
  return response;
}

answer call(const handler& row, const request& r) {
  try {
    return row.handle(r);
  } catch (const std::exception& e) {
    telemetry::error("admin endpoint failed", {{"path", row.path}, {"error", std::string_view(e.what())}});
    return {500, "internal error\n"};
  }
}

}  // namespace

http_response make_response(answer a) {
  http_response response;
  response.version(11);
  response.result(a.status);
  response.set(http::field::content_type, a.content_type);
  response.set(http::field::cache_control, "no-store");
  response.keep_alive(false);
  response.body() = std::move(a.body);
  response.prepare_payload();
  return response;
}

http_response table::answer_to(const http_request& r, bool local) const {
  const std::string_view target(r.target().data(), r.target().size());
  const std::string_view method(r.method_string().data(), r.method_string().size());
  const auto mark = target.find('?');
  const request asked{method == "HEAD" ? "GET" : method, target.substr(0, mark),
                      mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1), r.body()};
  std::string allow;
  for (const auto& row : rows_) {
    if (row.path != asked.path) continue;
    if (row.method == asked.method) {
      const bool changes = row.method != "GET";
      if (changes && !local) return make_response({403, "answered on this machine only\n"});
      if (changes && r.count(http::field::origin)) return make_response({403, "not answered to web pages\n"});
      return make_response(call(row, asked));
    }
    if (!allow.empty()) allow += ", ";
    allow += row.method == "GET" ? "GET, HEAD" : row.method;
  }
  return allow.empty() ? make_response({404, "not found\n"}) : not_allowed(allow);
}

}  // namespace idem::admin
