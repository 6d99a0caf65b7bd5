// An operation that is measured: by Google Benchmark in time, by valgrind in instructions.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace idem::bench {

/// Performs the operation once. Owns what it works on.
using action = std::function<void()>;

struct operation {
  std::string name;  ///< of letters, digits, `_` and `/`
  std::function<action()> make;
};

/// All of them, by name.
std::vector<operation> operations();

/// Puts an operation on the list; for objects of namespace scope.
struct listed {
  listed(std::string name, std::function<action()> make);
};

/// The compiler must assume that `value` is used, and changed.
template <class T>
void keep(T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

/// What does not do its work must not be measured.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace idem::bench
