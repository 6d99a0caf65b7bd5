// A key that this process holds, or tries to: the engine with what it needs to live as long as a store command of it is
// under way, and the renewals of its lease.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "idem/idempotency/engine.hpp"
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

  /// Counts against max_in_flight until end_flight(), or until the claim is gone.
  void count_in_flight();
  void end_flight();
  /// Known as running here, or in the backlog, for routes that go on without a store (on_store_error: allow).
  /// @param alone only if no other claim of this process has the name: false if one has, and nothing is remembered
  bool remember_name(bool alone);

  idempotency::engine engine;
  worker& w;
  std::shared_ptr<proxy::runtime> runtime;
  std::chrono::microseconds store_time{};

 private:
  void renew();
  void arm(std::chrono::milliseconds base);

  net::deadline renewal_;
  std::list<claim*>::iterator listed_;
  bool renewing_ = false;
  bool renew_under_way_ = false;
  bool counted_ = false;
  bool remembered_ = false;
};

}  // namespace idem::proxy
