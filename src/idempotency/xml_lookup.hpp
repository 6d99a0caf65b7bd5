// One element's text out of an XML body, for keys that stand there.
#pragma once

#include <string_view>

#include "idempotency/json_lookup.hpp"

namespace idem::idempotency {

inline constexpr std::size_t max_xml_depth = 32;

/// The text of the only element at `path` (`/a/b`: names from the root down, as written, prefixes included), CDATA
/// sections included and without white space around it. An element with elements inside is no value; two elements at
/// the path are ambiguous. A document with a DTD, with entities but the five predefined ones, deeper than
/// `max_xml_depth`, or not well-formed counts as no XML.
lookup_result find_in_xml(std::string_view text, std::string_view path);

}  // namespace idem::idempotency
