// Fields that a person writes for an answer, rather than a backend.
#pragma once

#include <string_view>

namespace idem::http {

/// Empty, or a literal that says why the field cannot stand in an answer that is kept (RFC 9110 §5.1, §5.5, §7.6.1).
/// What frames a message or speaks of a connection is made anew each time the answer is sent; a second one would let a
/// client read another message than was sent.
std::string_view made_field_fault(std::string_view name, std::string_view value);

}  // namespace idem::http
