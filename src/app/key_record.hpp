// One record as an operator sees it: read from the store, and told in words.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/idempotency/record.hpp"
#include "idem/net/types.hpp"
#include "idem/store/store.hpp"

namespace idem::app {

/// The store, used synchronously.
class key_store {
 public:
  explicit key_store(const config::store_config& settings)
      : backend_(store::make_backend(settings)), session_(backend_->open(io_)) {}
  ~key_store() { session_->close(); }
  key_store(const key_store&) = delete;
  key_store& operator=(const key_store&) = delete;

  store::reply run(const store::command& c);
  /// The records of these names, as op::look tells them, in one pipeline.
  std::vector<store::reply> look_at(std::span<const std::string> names);

 private:
  std::vector<store::reply> run_all(std::span<const store::command> all);

  net::asio::io_context io_{1};
  std::unique_ptr<store::backend> backend_;
  std::unique_ptr<store::session> session_;
};

struct seen_record {
  std::string text;  ///< what `decoded` points into
  idempotency::decoded_record decoded;
  std::int64_t ttl = 0;

  const idempotency::record& value() const { return decoded.value; }
  /// A P whose owner has not renewed it for a lease.
  bool lapsed() const;
};

/// Takes over what `op::look` found.
seen_record decode_found(store::reply&& found);

/// When the key was first claimed (RFC 3339), by the clock of who claimed it.
std::string first_seen(const idempotency::record& r);

/// Prints a complaint of the key commands, and returns the exit code that it was given.
int complain(int code, const std::string& what);

/// Reads the record; key_done, or the exit code after a complaint.
int look(key_store& store, const std::string& name, seen_record& seen);

/// Prints it, with its age at `unix_ms` and what a retry of the same request gets on this route.
void print(const std::string& name, const seen_record& r, const config::idempotency_config& route,
           std::int64_t unix_ms);

}  // namespace idem::app
