// One request on one connection to the backend: sending it, and reading the answer, at the same time.
//
// Used by what passes through and by claimed calls alike. It knows nothing of clients: the owner feeds it request bytes
// and takes the answer's pieces. A request is written once, to one connection; another one is tried only while no byte
// was written (RFC 9110 §9.2.2).
#pragma once

#include <string>
#include <string_view>

#include "idem/http/body.hpp"
#include "idem/http/parser.hpp"
#include "idem/net/deadline.hpp"
#include "proxy/read_buffer.hpp"
#include "proxy/upstream_pool.hpp"

namespace idem::proxy {

class upstream_exchange {
 public:
  upstream_exchange(net::buffer_pool& buffers, std::shared_ptr<upstream_pool> pool);

  /// Takes an idle connection or makes one. fault::none when there is one.
  net::task<fault> connect(reuse how);
  /// A new connection only, after an idle one turned out to be dead before a byte was written.
  net::task<fault> connect_fresh();

  /// Writes at once what the kernel takes; never waits. `written()` tells whether anything may have left.
  std::size_t send_now(std::string_view bytes);
  /// Writes the rest, waiting as long as it takes (the owner watches the time and closes).
  net::task<bool> send(std::string_view bytes);
  bool written() const { return written_; }
  bool write_failed() const { return write_failed_; }
  bool reused() const { return connection_ && connection_->reused; }
  /// Nothing has come on the connection, its end included. One system call.
  bool quiet() { return connection_ && connection_->stream.quiet(); }

  /// Reads the next head, interim ones included. need_more never comes back: complete or a fault.
  /// @param method of the request ("HEAD" decides about the body)
  net::task<fault> read_head(std::string_view method);
  const http::response_head& head() const { return connection_->parser.head(); }
  /// After a 1xx: its bytes are used up, the next head follows.
  void next_head();
  /// After the final head was used: its bytes are given up, the body follows. Views of head() end here.
  void begin_body();

  /// Whether all of the answer has been read, after a final head and before begin_body(). Costs a look at its bytes.
  bool whole_in_hand() const;

  /// The next piece of the body in what was read already; need_more when the connection must be read first.
  http::body_step next_piece();
  /// Waits for more bytes of the body. fault::none also when the connection's end ends the body.
  net::task<fault> read_more();
  const std::string& trailers() const { return body_.trailers(); }
  /// Bytes that came after a 101, for the tunnel.
  std::string_view surplus() const { return in_.view(); }

  /// The exchange is over: the connection is kept if the answer is whole and nothing else came.
  void finish(bool request_whole);
  /// Breaks off; pending operations end.
  void close();

  upstream_connection* connection() { return connection_.get(); }

 private:
  fault end_of_reading() const;
  void write_fails(const net::error_code& ec);

  net::buffer_pool& buffers_;
  std::shared_ptr<upstream_pool> pool_;
  upstream_ptr connection_;
  read_buffer in_;
  http::body_decoder body_;
  bool written_ = false;
  bool write_failed_ = false;
  bool cut_ = false;  ///< a write was told of a reset
  bool answer_begun_ = false;
  bool closed_ = false;
  bool keep_alive_ = false;
  bool in_body_ = false;
};

}  // namespace idem::proxy
