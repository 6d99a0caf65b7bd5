// What requests and responses have in common in the judgement of their fields: framing and Connection.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "idem/http/head.hpp"

namespace idem::http {

/// Whether a list of names, such as the value of Connection, has this one; in any case.
bool lists(std::string_view list, std::string_view name);

/// Content-Length as RFC 9110 §8.6 writes it, and no other way: digits without sign, list or leading zeros, below 2^63.
std::optional<std::uint64_t> parse_length(std::string_view value);

/// What the framing fields of a head say (RFC 9112 §6). `reason` is set when they may not be followed.
struct framing_fields {
  bool chunked = false;
  bool coded = false;  ///< well-formed, by codings that are known but not undone here, and chunked behind them
  std::optional<std::uint64_t> length;
  std::string_view reason;
};

/// What Connection asks for. Fields that it names are marked as hop-by-hop on the way.
struct connection_options {
  bool close = false;
  bool keep_alive = false;
  bool upgrade = false;
  std::string_view reason;  ///< set when it may not be followed
};

/// Takes one Transfer-Encoding or Content-Length line into account.
void judge_framing_field(framing_fields& sum, const field& f, unsigned minor);

/// What all Connection lines name. Few, since judge_connection() lets no more than 64 through.
std::vector<std::string_view> connection_names(const field_list& head);

/// Takes one Connection line into account. At most 64 options are read from a head, so that marking stays cheap.
/// @param protect refuse options that name framing, routing or credentials: a recipient that follows them would see
///                another request than the proxy judged
void judge_connection(connection_options& sum, field_list& list, std::string_view value, bool protect,
                      std::size_t& options);

}  // namespace idem::http
