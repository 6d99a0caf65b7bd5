// The message gate: turns the bytes of a head into judged views and a framing plan, or into a rejection.
//
// beast::http::basic_parser splits the head into tokens; the gate decides what is allowed (RFC 9112, and stricter where
// two readers of the same bytes could disagree: docs/http-behaviour.md §1 and §2). Pure: no sockets, no clock. One
// parser for each connection, reused; not thread-safe.
#pragma once

#include <cstddef>
#include <string_view>

#include "idem/http/head.hpp"

namespace idem::http {

struct head_limits {
  std::size_t header_bytes = 32 * 1024;  ///< whole head with its blank line; at most 60 KiB
  std::size_t fields = 100;
  std::size_t target_bytes = 8 * 1024;
};

/// Why a message is refused. `reason` is a literal for logs and for the problem's detail; it never quotes the message.
struct rejection {
  unsigned status = 400;  ///< 400, 405, 414, 431, 501, 505 for requests; for responses always 502
  std::string_view reason;
};

enum class parse_result { need_more, complete, rejected };

/// How far the search for the end of a head has come; kept between calls, so that each byte is looked at once.
struct head_scan {
  std::size_t start = 0;  ///< offset of the message, behind the empty lines that were skipped
  std::size_t line = 0;   ///< offset of the line that is not complete yet
  std::size_t next = 0;   ///< offset of the first byte that was not searched yet
  std::size_t lines = 0;  ///< complete lines so far
};

class request_parser {
 public:
  explicit request_parser(head_limits limits = {}) : limits_(limits) {}

  void limits(head_limits limits) { limits_ = limits; }

  /// Judges the message that starts at the first byte of `bytes`. Call it again with the same bytes and more after
  /// need_more (the buffer may have moved). Limits are decided as early as the head allows. Empty lines before the
  /// request line (RFC 9112 §2.2) are skipped, at most four.
  parse_result parse(std::string_view bytes);

  const request_head& head() const { return head_; }
  std::size_t head_size() const { return size_; }  ///< bytes of the head, blank line and skipped lines included
  const rejection& why() const { return why_; }

  /// Whether at least one byte of a message has come (skipped empty lines do not count): decides between 408 and
  /// a silent close when the client is too slow.
  bool started(std::string_view bytes) const;

  /// Whether the message that starts here asks by HEAD, be it refused or not whole: an answer to it has no content.
  bool is_head(std::string_view bytes) const;

  void reset();  ///< before the next message

 private:
  parse_result reject(rejection why);

  head_limits limits_;
  request_head head_;
  rejection why_;
  std::size_t size_ = 0;
  head_scan scan_;
};

class response_parser {
 public:
  explicit response_parser(head_limits limits = {}) : limits_(limits) {}

  const head_limits& limits() const { return limits_; }

  /// As request_parser::parse(), but no empty line is skipped.
  /// @param method of the request that is answered: HEAD (and CONNECT) decide about the body
  parse_result parse(std::string_view bytes, std::string_view method);

  const response_head& head() const { return head_; }
  std::size_t head_size() const { return size_; }
  const rejection& why() const { return why_; }
  void reset();

 private:
  parse_result reject(std::string_view reason);

  head_limits limits_;
  response_head head_;
  rejection why_;
  std::size_t size_ = 0;
  head_scan scan_;
};

}  // namespace idem::http
