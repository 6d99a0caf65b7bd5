// Halves of surrogate pairs in JSON. The grammar lets an escape stand for one (RFC 8259 §8.2), and what cuts strings by
// UTF-16 units, as JavaScript does, writes them; UTF-8 has no bytes for them.
#pragma once

#include <string>
#include <string_view>

namespace idem::idempotency {

/// The text with each escape of a lone surrogate as the three bytes that its code point would have, which are no UTF-8
/// but stand in a string as well. What is no JSON stays none.
std::string with_bytes_for_lone_surrogates(std::string_view json);

}  // namespace idem::idempotency
