// application/x-www-form-urlencoded, in bodies and in queries.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "idem/text/split.hpp"
#include "idempotency/json_lookup.hpp"

namespace idem::idempotency {

/// Percent-decoded bytes, `+` as a space. Nothing if a percent sign is not followed by two hex digits.
std::optional<std::string> form_decode(std::string_view text);

/// The same, behind what `out` has already. False: as far as it could be read.
bool append_form_decoded(std::string& out, std::string_view text);

/// The value of the only field `name`; two are ambiguous. Fields whose name does not decode are passed over.
lookup_result find_in_form(std::string_view text, std::string_view name);

/// Calls `take(name, value)` with the raw halves of each pair; empty pairs are skipped.
template <class Take>
void for_each_pair(std::string_view text, Take take) {
  while (!text.empty()) {
    std::string_view pair = text::take_part(text, '&');
    if (pair.empty()) continue;
    const std::string_view name = text::take_part(pair, '=');
    take(name, pair);
  }
}

}  // namespace idem::idempotency
