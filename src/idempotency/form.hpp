// application/x-www-form-urlencoded, in bodies and in queries.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "idempotency/json_lookup.hpp"

namespace idem::idempotency {

/// Percent-decoded bytes, `+` as a space. Nothing if a percent sign is not followed by two hex digits.
std::optional<std::string> form_decode(std::string_view text);

/// The value of the only field `name`; two are ambiguous. Fields whose name does not decode are passed over.
lookup_result find_in_form(std::string_view text, std::string_view name);

/// Calls `take(name, value)` with the raw halves of each pair; empty pairs are skipped.
template <class Take>
void for_each_pair(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    take(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
  }
}

}  // namespace idem::idempotency
