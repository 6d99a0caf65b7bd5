// A backend for tests: an HTTP/1.1 server on loopback or a unix socket that answers by scripts, misbehaves on demand,
// and remembers every request. One thread for each connection; every call here may come from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/http_client.hpp"

namespace idem::test {

struct backend_request {
  std::string method, target;
  std::string head;  ///< the raw bytes, with the blank line
  field_lines fields;
  std::string body;               ///< without chunk framing
  std::size_t connection = 0;     ///< the number of the connection it came on, from 1
  std::size_t on_connection = 0;  ///< the number of the request on that connection, from 1

  std::optional<std::string> field(std::string_view name) const;
  std::string value(std::string_view name) const { return field(name).value_or(std::string()); }
  std::size_t count(std::string_view name) const;
  std::string key() const { return value("Idempotency-Key"); }
};

/// What a script does with the connection that its request came on.
class backend_connection {
 public:
  virtual ~backend_connection() = default;
  virtual bool send(std::string_view bytes) = 0;
  virtual void close() = 0;  ///< orderly
  virtual void reset() = 0;  ///< with a RST
  /// Waits, but not longer than the backend lives. False if it was ended meanwhile.
  virtual bool sleep(std::chrono::milliseconds time) = 0;
  /// True as soon as the proxy has closed its side, within `time`.
  virtual bool peer_closed(std::chrono::milliseconds time) = 0;
  /// A script that has called close() or reset() has ended the connection.
  virtual bool open() const = 0;
};

using script = std::function<void(const backend_request&, backend_connection&)>;

/// Something that a test opens, and scripts wait for. Copies are the same gate.
class gate {
 public:
  gate();
  void open();
  bool wait(std::chrono::milliseconds time = std::chrono::seconds(20)) const;

 private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

enum class framing { length, chunked, until_close };

/// The bytes of an answer. `fields` are whole lines without CRLF.
std::string answer_bytes(int status, std::string_view body = {}, const std::vector<std::string>& fields = {},
                         framing how = framing::length, std::string_view reason = "Scripted");

/// Answers. The framing until_close closes the connection.
script reply(int status, std::string body = {}, std::vector<std::string> fields = {}, framing how = framing::length);
/// Sends exactly these bytes; the connection stays open.
script raw(std::string bytes);
script raw_then_close(std::string bytes);
script raw_then_reset(std::string bytes);
script reset_connection();
script close_connection();
/// Says nothing until the proxy or the backend goes away.
script hang();
script delayed(std::chrono::milliseconds time, script then);
/// Runs `then` once the gate is open; a gate that stays closed hangs.
script held(gate until, script then);
/// One script for each request, in order; the last one repeats.
script in_turn(std::vector<script> scripts);
script both(script first, script second);

class scripted_backend {
 public:
  struct place {
    std::uint16_t port = 0;  ///< 0: the kernel's choice
    std::string unix_path;   ///< instead of a port
  };

  /// Listens. Whatever has no script is answered 200 with the body `ok`.
  scripted_backend() : scripted_backend(place()) {}
  explicit scripted_backend(const place& where);
  ~scripted_backend();
  scripted_backend(const scripted_backend&) = delete;
  scripted_backend& operator=(const scripted_backend&) = delete;

  std::uint16_t port() const;
  std::string url() const;  ///< http://127.0.0.1:port or unix:/path

  /// The script for a path (the target without its query), or for every path that has none: "*".
  void on(const std::string& path, script s);
  /// A script that runs when the head is there and the body is not read yet; the script of the path follows unless
  /// this one ended the connection.
  void on_head(const std::string& path, script s);

  std::vector<backend_request> requests() const;
  /// Whole requests so far; with `key`, those with this Idempotency-Key (as it was sent).
  std::size_t count() const;
  std::size_t count(const std::string& key) const;
  std::size_t connections() const;
  /// Heads so far, their bodies read or not.
  std::size_t heads() const;

  /// Until there are `n` whole requests, of this key if one is given.
  bool wait_for(std::size_t n, std::chrono::milliseconds time = std::chrono::seconds(10)) const;
  bool wait_for(const std::string& key, std::size_t n = 1,
                std::chrono::milliseconds time = std::chrono::seconds(10)) const;
  /// Answers that were handed to the kernel whole: scripts that came to their end.
  bool wait_for_answers(std::size_t n, std::chrono::milliseconds time = std::chrono::seconds(10)) const;
  /// What broke HTTP/1.1 on its way here; empty if nothing did.
  std::vector<std::string> faults() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace idem::test
