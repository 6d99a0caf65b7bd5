// A key that this process holds, or tries to: the engine with what it needs to live as long as a store command of it is
// under way, and the renewals of its lease.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "idem/idempotency/engine.hpp"
#include "idem/idempotency/identity.hpp"
#include "idem/net/deadline.hpp"
#include "idem/net/event.hpp"
#include "proxy/worker.hpp"

namespace idem::proxy {

class claim : public std::enable_shared_from_this<claim> {
 public:
  claim(worker& w, std::shared_ptr<proxy::runtime> r, idempotency::engine::setup s);
  ~claim();

  /// Runs pending commands until the engine asks for something else.
  net::task<idempotency::next> drive(idempotency::next n);

  /// Renews every third of the lease, with jitter, until stop_renewing(), or until the record is another's.
  void start_renewing();
  void stop_renewing();
  /// After trouble with the store: as soon as possible.
  void renew_soon();
  /// Before the first byte is sent, when the lease may be over. There is one renewal at a time: the one that is under
  /// way is waited for instead of sending another. next::execute: ask again whether the lease holds; the lease is
  /// renewed on from then. Anything else: the key is not this claim's any more.
  net::task<idempotency::next> renew_now();

  /// Whether there is a place among those that execute (max_in_flight): not that it will still be there.
  idempotency::room room_left(std::size_t max_in_flight) const;
  /// Takes a place, held until end_flight(), or until the claim is gone. False if there is none; nothing is counted
  /// then.
  bool take_place(std::size_t max_in_flight);
  void end_flight();
  /// Known as running here, or in the backlog, where calls go on without a store (worker::remembers()).
  /// @param past_store the store could not be read: only if no other claim of this process has the name
  /// @return false if the key may not be executed now; nothing is remembered then
  bool remember_name(bool past_store);
  /// Whether a call of this process was let past the store with this name, and the store does not know of it yet.
  bool runs_past_store() const;
  /// The store knows what became of a call that was let past it, or there is nothing to know.
  /// @return whether that is news to it
  bool settled_past_store();
  /// Whether the record of a call that was let past the store has been shown, or made, since.
  bool stands_in_store() const { return stands_; }
  /// Whether a renewal has been told what stands in the store: the own record, or another's.
  bool store_has_spoken() const { return spoken_; }

  idempotency::engine engine;
  worker& w;
  std::shared_ptr<proxy::runtime> runtime;
  std::chrono::microseconds store_time{};

 private:
  void renew();
  void be_listed();
  void arm(std::chrono::milliseconds base);
  void stands();

  net::deadline renewal_;
  net::event renewed_;  ///< the renewal that was under way has its reply
  std::optional<decltype(worker::claims)::iterator> listed_;
  bool renewing_ = false;
  bool renew_under_way_ = false;
  bool counted_ = false;
  bool remembered_ = false;
  bool past_store_ = false;
  bool stands_ = false;
  bool spoken_ = false;
};

/// A claim of that identity's name, which it takes, for a request that is whole.
/// @param others is asked while the claim is driven, and must live as long
std::shared_ptr<claim> make_claim(worker& w, std::shared_ptr<proxy::runtime> r, const route_state& route,
                                  idempotency::identity id, const idempotency::request_view& request,
                                  idempotency::fingerprint_source& others);

}  // namespace idem::proxy
