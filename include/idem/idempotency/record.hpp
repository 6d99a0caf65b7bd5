// The record of a key, as it stands in every store (docs/protocol.md, "One record per key").
//
//   i1 <S> <attempt: 4 hex> <owner: 32 hex> <fields…>\n<header block><body>
//
// State, attempt and owner stand at fixed places, so that a store compares them without reading more than 42 bytes.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "idem/config/config.hpp"

namespace idem::idempotency {

enum class record_state : char {
  processing = 'P',    ///< an attempt runs, as long as its lease is renewed
  unknown = 'U',       ///< it may have been executed: declared by its owner, or by an operator
  succeeded = 'S',     ///< with the answer
  failed_final = 'F',  ///< with the answer, which says that it will stay so
  without_body = 'X',  ///< executed, and the answer's body was not kept
  revoked = 'R'        ///< an operator took it from its owner, who may still answer
};

/// Who made an attempt: a random token for each, never used again once it was given up.
struct owner {
  std::uint16_t attempt = 1;        ///< from 1, saturates at 0xffff
  std::array<char, 32> token = {};  ///< lower-case hex of 128 random bits

  /// A fresh token from the system's random generator.
  static owner fresh(std::uint16_t attempt);
  /// `aaaa tttttttttttttttttttttttttttttttt`: the 37 bytes at offset 5 of a record.
  std::string text() const;
  friend bool operator==(const owner&, const owner&) = default;
};

inline constexpr std::size_t prefix_size = 42;  ///< `i1 S aaaa <owner>`: what compare-and-set commands compare
inline constexpr std::size_t owner_offset = 5;
inline constexpr std::size_t owner_size = 37;

/// A request's fingerprint with what is needed to know whether two can be compared.
struct fingerprint {
  std::array<unsigned char, 32> digest = {};
  std::uint16_t version = 0;   ///< of the algorithm
  std::uint32_t settings = 0;  ///< hash of the settings that made it

  bool comparable(const fingerprint& other) const { return version == other.version && settings == other.settings; }
  friend bool operator==(const fingerprint&, const fingerprint&) = default;
};

enum class body_encoding : char { plain = 'p', zstd = 'z' };

struct record {
  record_state state = record_state::processing;
  idempotency::owner owner;
  std::chrono::milliseconds lease{}, hold{}, retention{};  ///< as claimed: readers go by these, never by their own
  config::guarantee guarantee = config::guarantee::at_most_once;
  std::int64_t created = 0;  ///< unix milliseconds, for display only
  idempotency::fingerprint fingerprint;
  unsigned status = 0;                    ///< 0 without an answer
  std::string_view header_block;          ///< reason CRLF, then `Name: value` CRLF for each line
  std::string_view body;                  ///< decoded from its framing, otherwise as it came
  std::string_view reason() const;        ///< first line of the header block
  std::string_view header_lines() const;  ///< the rest
};

/// The value to store; always plain encoding.
std::string encode(const record& r);
/// The same, appended to `out`.
void encode_to(std::string& out, const record& r);

enum class decode_result : std::uint8_t {
  ok,
  foreign,  ///< another version or encoding, or no record of ours at all: never overwritten
  damaged   ///< checksum or lengths do not fit: never executed, never served
};

/// A decoded record. Views point into the text, or into `unpacked` when the body was compressed.
struct decoded_record {
  decode_result result = decode_result::foreign;
  record value;
  std::string unpacked;
};
decoded_record decode(std::string_view text);

/// The first 42 bytes of a record of these values.
std::string record_prefix(record_state state, const owner& o);

}  // namespace idem::idempotency
