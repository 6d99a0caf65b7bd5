// What a request would have come to, on a route that only observes: a tap beside plain passing (docs/protocol.md,
// "Observing").
//
// It copies the request while it passes. Once all of it has been sent it computes identity and fingerprint from the
// copy and claims a record of its own kind; what the answer was settles it. Nobody waits for any of this: a claim that
// takes long goes on behind the exchange, and the request's count and its line in the log then come last, from here.
//
// Lives until its exchange and its last command to the store are over; the copy ends with the exchange, so that a
// connection has one at a time, with max_request_body of a body at most.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "idem/http/parser.hpp"
#include "idem/idempotency/fingerprint.hpp"
#include "idem/idempotency/identity.hpp"
#include "idem/idempotency/outcome.hpp"
#include "proxy/caller.hpp"
#include "proxy/claim.hpp"
#include "proxy/pass_through.hpp"
#include "proxy/request_log.hpp"
#include "proxy/request_tap.hpp"

namespace idem::proxy {

class observation final : public request_tap,
                          public idempotency::fingerprint_source,
                          public std::enable_shared_from_this<observation> {
 public:
  /// Of the request whose head the connection has just read, before anything of it is used up. Null where the head
  /// shows that nothing would be claimed; the log's decision says so then.
  static std::shared_ptr<observation> of(client_connection& c, const config::path_captures& captures);

  observation(client_connection& c, caller who, idempotency::identity id);
  ~observation() override;

  void data(std::string_view piece) override;
  void sent() override;
  void tunnels() override;

  /// The exchange is over, and with it the use of the connection. Where there is a claim, its log entry is handed over.
  void end(const pass_through& exchange);

  std::optional<idempotency::fingerprint> under(std::uint16_t version, std::uint32_t settings) override;

 private:
  idempotency::request_view view() const;
  void read_copy();
  bool comes_to_a_claim();
  void drop_copy();
  net::task<void> ask_store();
  void conclude(idempotency::settlement s);
  net::task<void> settle();
  void write_log();

  client_connection& c_;  ///< until end()
  worker& w_;
  const route_state& route_;  ///< of runtime_
  std::shared_ptr<proxy::runtime> runtime_;
  caller caller_;
  idempotency::identity identity_;
  std::string head_, body_;  ///< the copy, until the answer has come to its end or a tunnel begins
  http::request_parser parser_;
  config::path_captures captures_;
  std::shared_ptr<claim> claim_;
  request_log log_;
  std::string key_hash_;
  telemetry::decision what_ = telemetry::decision::observed_other;  ///< also of what does not come whole
  std::optional<idempotency::settlement> settlement_;
  unsigned status_ = 0;
  bool too_large_ = false;
  bool decided_ = false;  ///< the store has answered to the claim
  bool owned_ = false;
  bool settled_ = false;
  bool ended_ = false;
};

/// Passes the request as it would on no route, and observes it.
net::task<after> run_observed(client_connection& c, const config::path_captures& captures);

}  // namespace idem::proxy
