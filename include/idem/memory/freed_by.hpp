// Objects of libraries in C, which have a function of their own that frees them.
#pragma once

#include <memory>

namespace idem::memory {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

/// Owns one, e.g. `owned_by_c<BIO, BIO_free>`.
template <class T, auto Free>
using owned_by_c = std::unique_ptr<T, freed_by<Free>>;

}  // namespace idem::memory
