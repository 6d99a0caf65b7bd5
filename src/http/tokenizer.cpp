#include "http/tokenizer.hpp"

namespace idem::http {

std::string_view describe(const boost::beast::error_code& ec) {
  using boost::beast::http::error;
  if (ec == error::bad_line_ending) return "a carriage return stands alone";
  if (ec == error::bad_method) return "the method is not a token";
  if (ec == error::bad_target) return "the target holds a control byte or white space, or is empty";
  if (ec == error::bad_version) return "the first line does not end with its version";
  if (ec == error::bad_status) return "the status code is malformed";
  if (ec == error::bad_reason) return "the reason phrase holds a control byte";
  if (ec == error::bad_field) return "a field name is empty, not a token or followed by white space";
  if (ec == error::bad_value) return "a field value holds a control byte, or Connection is not a list of tokens";
  if (ec == error::bad_content_length)
    return "Content-Length is not one decimal number, or stands beside Transfer-Encoding";
  if (ec == error::multiple_content_length) return "Content-Length is given twice";
  if (ec == error::bad_transfer_encoding) return "Transfer-Encoding is given twice, or stands beside Content-Length";
  return "the head is malformed";
}

}  // namespace idem::http
