// What one source of a key finds in a request.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "idem/idempotency/identity.hpp"

namespace idem::idempotency {

struct source_value {
  enum class kind : std::uint8_t {
    absent,
    value,
    refused,   ///< there, but no key can be taken from it
    need_body  ///< cannot be told from the head alone
  };
  kind result = kind::absent;
  std::string value;
  std::string_view why;  ///< a literal, when refused
};

source_value read_source(const config::source& source, const config::idempotency_config& route,
                         const request_view& request);

}  // namespace idem::idempotency
