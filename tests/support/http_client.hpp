// A raw HTTP/1.1 client for tests: it sends exactly the bytes that it is given, in the pieces that it is asked for, and
// reads answers strictly: what a lenient client would repair is reported as malformed. Blocking, with a limit on
// everything. Not for use by two threads at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace idem::test {

/// Header or trailer lines as they came: order, case and multiplicity kept, values without the white space around them.
using field_lines = std::vector<std::pair<std::string, std::string>>;

/// A request under construction. Every member may be changed; nothing is checked.
struct http_request {
  std::string method = "POST";
  std::string target = "/";
  field_lines fields;
  std::string body;
  bool chunked = false;  ///< the body goes as one chunk instead of with Content-Length

  http_request& with(std::string name, std::string value) {
    fields.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  /// The bytes on the wire. `Host: test` is added unless there is a Host, and the framing of the body, which POST, PUT
  /// and PATCH get even when it is empty.
  std::string bytes() const;
};

/// How reading an answer ended.
enum class ending {
  complete,   ///< whole by its framing (an orderly end of an until-close body included)
  eof,        ///< the peer closed before the answer was whole
  rst,        ///< the peer reset the connection before the answer was whole
  timeout,    ///< the limit passed before the answer was whole
  malformed,  ///< what came breaks RFC 9112; `fault` says how
};

struct http_response {
  int status = 0;  ///< 0: no whole head came
  std::string version, reason;
  field_lines fields;
  std::string head;  ///< the raw head, with the blank line
  std::string body;  ///< what arrived, without chunk framing
  field_lines trailers;
  ending end = ending::timeout;
  std::string fault;
  std::vector<http_response> interim;  ///< 1xx answers before this one, in order

  bool whole() const { return end == ending::complete; }
  bool has(std::string_view name) const { return field(name).has_value(); }
  /// The first value of a field, names compared without case.
  std::optional<std::string> field(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  /// The first value, or an empty string.
  std::string value(std::string_view name) const { return field(name).value_or(std::string()); }
};

class http_client {
 public:
  using limit = std::chrono::milliseconds;
  static constexpr limit usual{10'000};

  /// To 127.0.0.1. connected() tells whether that went well.
  explicit http_client(std::uint16_t port);
  /// To a unix socket.
  explicit http_client(const std::string& unix_path);
  ~http_client();
  http_client(http_client&& other) noexcept;
  http_client& operator=(http_client&& other) noexcept;

  bool connected() const { return fd_ >= 0; }

  /// False if the peer does not take it all within ten seconds.
  bool send(std::string_view bytes);
  bool send(const http_request& request) { return send(request.bytes()); }
  /// In pieces of `size` bytes, each in a segment of its own.
  bool send_slices(std::string_view bytes, std::size_t size);
  void half_close();  ///< no more bytes from here; reading goes on
  void reset();       ///< closes with a RST
  void close();       ///< closes orderly

  /// Reads one answer. Bytes behind it stay for the next call.
  /// @param to_head the request was HEAD: the answer has no body whatever its fields say
  http_response read(limit time = usual, bool to_head = false);
  /// One request and its answer.
  http_response exchange(const http_request& request, limit time = usual);

  /// Reads until `text` has arrived somewhere in what was not consumed yet; consumes nothing.
  bool wait_for(std::string_view text, limit time = usual);
  /// What has arrived and was not consumed.
  const std::string& pending() const { return buffer_; }
  /// Reads for as long as `time` or until the peer ends the connection, and returns all that is pending. Consumes it.
  std::string drain(limit time);
  /// True once the peer has closed or reset, within `time`; what arrives meanwhile is kept.
  bool closed(limit time = usual);
  bool was_reset() const { return state_ == state::rst; }

 private:
  enum class state { open, eof, rst };
  using when = std::chrono::steady_clock::time_point;

  bool fill(when until);
  std::optional<std::string> line(when until);
  ending ended() const;
  bool read_head(http_response& r, when until);
  bool read_fields(field_lines& into, http_response& r, std::string* raw, when until);
  void read_body(http_response& r, when until, bool to_head);
  void read_chunks(http_response& r, when until);
  bool take(std::string& into, std::size_t size, when until);

  int fd_ = -1;
  state state_ = state::open;
  std::string buffer_;
};

/// One request on a connection of its own, and its answer.
http_response fetch(std::uint16_t port, const http_request& request, http_client::limit time = http_client::usual);

/// Compares names of fields.
bool same_name(std::string_view a, std::string_view b);

}  // namespace idem::test
