// Which handler a request gets, and what it gets without one. Pure.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <vector>

#include "idem/admin/admin.hpp"

namespace idem::admin {

using http_request = boost::beast::http::request<boost::beast::http::string_body>;
using http_response = boost::beast::http::response<boost::beast::http::string_body>;

class table {
 public:
  void add(handler row) { rows_.push_back(std::move(row)); }

  /// 404 for an unknown path, 405 with Allow (RFC 9110 section 15.5.6), 403 for a POST from elsewhere.
  /// @param local the peer is on this machine
  http_response answer_to(const http_request& r, bool local) const;

 private:
  std::vector<handler> rows_;
};

/// A whole response that ends its connection.
http_response make_response(answer a);

}  // namespace idem::admin
