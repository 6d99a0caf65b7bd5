// Duplicates that wait for the first attempt (in_flight: wait). They hold no store connection: one subscription a
// process wakes them, and polling every second stands behind it. Bounded per key and process; a waiter whose client
// goes away, or whose process drains, frees its place.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "idem/net/deadline.hpp"
#include "idem/net/event.hpp"
#include "proxy/worker.hpp"

namespace idem::proxy {

/// How many wait for one key in this process. Shared by all workers.
class waiter_counts {
 public:
  static constexpr std::size_t max_in_process = 10'000;
  bool enter(const std::string& name, std::size_t max_for_key);
  void leave(const std::string& name);

 private:
  std::mutex lock_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::size_t all_ = 0;
};

class waiters {
 public:
  waiters(worker& w, waiter_counts& counts) : w_(w), counts_(counts) {}

  /// A place among those that wait for a key, if one is free. Given back when the object goes; `name` must live as
  /// long.
  class seat {
   public:
    seat(waiters& w, const std::string& name, std::size_t max_for_key)
        : counts_(w.counts_), name_(name), taken_(counts_.enter(name, max_for_key)) {}
    seat(const seat&) = delete;
    seat& operator=(const seat&) = delete;
    ~seat() {
      if (taken_) counts_.leave(name_);
    }
    bool taken() const { return taken_; }

   private:
    waiter_counts& counts_;
    const std::string& name_;
    bool taken_;
  };

  enum class woken : std::uint8_t { changed, deadline, client_gone, drained };
  /// Until the record changes (or may have: every second), the deadline passes, the client resets, or a drain begins.
  net::task<woken> wait(const std::string& name, net::deadline::clock::time_point until, net::stream& client);

  /// A record changed; an empty name stands for all.
  void notify(std::string_view name);
  void drain();

 private:
  struct place {
    std::string name;
    net::event wake;
    woken why = woken::changed;
  };
  worker& w_;
  waiter_counts& counts_;
  std::vector<place*> places_;
};

}  // namespace idem::proxy
