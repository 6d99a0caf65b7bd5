// A request on a route that enforces: identity, body, fingerprint, then what the engine says (docs/protocol.md).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "idem/idempotency/fingerprint.hpp"
#include "idem/idempotency/identity.hpp"
#include "proxy/caller.hpp"
#include "proxy/claim.hpp"
#include "proxy/client_connection.hpp"

namespace idem::proxy {

class idempotent_exchange final : public idempotency::fingerprint_source {
 public:
  idempotent_exchange(client_connection& c, const config::path_captures& captures);
  ~idempotent_exchange();
  idempotent_exchange(const idempotent_exchange&) = delete;
  idempotent_exchange& operator=(const idempotent_exchange&) = delete;

  net::task<after> run();

  std::optional<idempotency::fingerprint> under(std::uint16_t version, std::uint32_t settings) override;

 private:
  enum class body_result : std::uint8_t { whole, too_large, malformed, late, gone };

  net::task<after> refuse(idempotency::problem p);
  net::task<after> pass();
  net::task<body_result> read_body();
  net::task<body_result> read_rest();
  net::task<bool> say_continue();
  net::task<after> body_failed(body_result r);
  bool too_long_announced() const;
  bool body_in_hand() const;

  std::optional<idempotency::problem> check_connection() const;
  std::optional<idempotency::problem> check_signature() const;

  net::task<after> claim_and_go();
  net::task<idempotency::next> acquire();
  net::task<idempotency::next> claim_once();
  net::task<idempotency::next> wait_for_change(idempotency::next n);
  net::task<after> act(idempotency::next n);
  net::task<after> execute(bool bypass);
  net::task<after> replay(bool status_only);
  net::task<after> refuse_duplicate();
  net::task<after> refuse_known_here();
  net::task<void> withdraw(idempotency::next n);

  void append_upstream_request(std::string& out) const;
  idempotency::request_view view() const;
  void give_up();
  void finish_input();

  client_connection& c_;
  const config::path_captures& captures_;
  const config::idempotency_config& route_;
  std::optional<caller> caller_;
  idempotency::identity identity_;
  std::shared_ptr<claim> claim_;
  std::string body_store_;  ///< the body, when it is not whole in the connection's buffer
  std::string_view body_;
  bool body_known_ = false;
  std::string carry_;     ///< bytes of the next request that were read with the body
  bool carried_ = false;  ///< the connection's buffer is used up; carry_ follows
  std::size_t used_ = 0;  ///< bytes of the connection's buffer that belong to this request
  bool finished_input_ = false;
  bool waited_ = false;
};

}  // namespace idem::proxy
