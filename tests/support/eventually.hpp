// Waiting for a condition with a limit, instead of sleeping for luck.
#pragma once

#include <chrono>
#include <thread>

namespace idem::test {

/// Asks every few milliseconds; true as soon as it holds, false when it still does not after `limit`.
template <class Condition>
bool eventually(Condition&& holds, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace idem::test
