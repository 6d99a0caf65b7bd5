// Splits a whole head into tokens with Beast's parser and keeps them as views into the caller's bytes.
//
// Beast decides only what is a line, a name and a value. What a head may say is judged afterwards, by rules of our own
// (docs/http-behaviour.md §1): nothing of Beast's own view of framing, keep-alive or upgrade is used.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>
#include <string_view>

#include "idem/http/head.hpp"

namespace idem::http {

/// A literal for logs and problems that says what the tokenizer found wrong.
std::string_view describe(const boost::beast::error_code& ec);

/// Whether RFC 9110 §7.6.1 makes a field hop-by-hop, whatever Connection says.
constexpr bool is_hop_by_hop(field_id id) {
  return id == field_id::connection || id == field_id::keep_alive || id == field_id::proxy_connection ||
         id == field_id::te || id == field_id::trailer || id == field_id::transfer_encoding || id == field_id::upgrade;
}

template <bool IsRequest>
class tokenizer final : public boost::beast::http::basic_parser<IsRequest> {
  using error_code = boost::beast::error_code;
  using view = boost::beast::string_view;

 public:
  explicit tokenizer(std::vector<field>& fields) : fields_(fields) {
    fields_.clear();
    this->body_limit(boost::none);
    this->header_limit(std::numeric_limits<std::uint32_t>::max());
  }

  /// @param head from the first line to the blank line, without folded lines: Beast would join those in a buffer of its
  ///             own, and the views would dangle
  /// @return empty, or what is wrong
  std::string_view run(std::string_view head) {
    error_code ec;
    const std::size_t used = this->put(boost::asio::const_buffer(head.data(), head.size()), ec);
    if (ec) return describe(ec);
    return used == head.size() ? std::string_view() : "the head does not end at its blank line";
  }

  std::string_view method() const { return method_; }
  std::string_view target() const { return target_; }
  std::string_view reason() const { return reason_; }
  unsigned status() const { return status_; }
  unsigned minor() const { return minor_; }

 private:
  static std::string_view std_view(view v) { return {v.data(), v.size()}; }

  void on_request_impl(boost::beast::http::verb, view method, view target, int version, error_code&) override {
    method_ = std_view(method);
    target_ = std_view(target);
    minor_ = static_cast<unsigned>(version % 10);
  }
  void on_response_impl(int status, view reason, int version, error_code&) override {
    status_ = static_cast<unsigned>(status);
    reason_ = std_view(reason);
    minor_ = static_cast<unsigned>(version % 10);
  }
  void on_field_impl(boost::beast::http::field, view name, view value, error_code&) override {
    const field_id id = field_id_of(std_view(name));
    fields_.push_back({std_view(name), std_view(value), id, is_hop_by_hop(id)});
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(view, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, view, error_code&) override { return 0; }
  void on_finish_impl(error_code&) override {}

  std::vector<field>& fields_;
  std::string_view method_;
  std::string_view target_;
  std::string_view reason_;
  unsigned status_ = 0;
  unsigned minor_ = 1;
};

}  // namespace idem::http
