// Where keys and scopes are taken from: `header:Idempotency-Key`, `json:/order/id`, `credential`, …
#pragma once

#include <string_view>

#include "config/parsed.hpp"
#include "idem/config/config.hpp"

namespace idem::config {

enum class source_use { key, scope };

/// Reads one source as a key or scope may have it; the reason of a failure follows the quoted text.
parsed<source> parse_source(std::string_view text, source_use use);

/// Names in templates: letters, digits, `_` and `-`, beginning with a letter or `_`.
bool is_template_name(std::string_view text);

}  // namespace idem::config
