// What encoding and decoding a record have in common.
#pragma once

#include <string_view>

#include "idem/idempotency/record.hpp"

namespace idem::idempotency {

inline constexpr std::string_view record_version = "i1 ";

/// States that hold an answer; the others never have header or body bytes.
inline bool holds_answer(record_state s) {
  return s == record_state::succeeded || s == record_state::failed_final || s == record_state::without_body;
}

}  // namespace idem::idempotency
