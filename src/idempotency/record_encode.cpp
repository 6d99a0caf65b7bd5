#include <algorithm>

#include "idem/text/decimal.hpp"
#include "idem/text/hex.hpp"
#include "idempotency/checksum.hpp"
#include "idempotency/record_format.hpp"

namespace idem::idempotency {
namespace {

// the longest first line: 42 bytes of prefix, seven numbers, digest, checksum and what stands between
constexpr std::size_t first_line_bound = 384;

template <class Number>
void append_number(std::string& out, Number n) {
  out += text::decimal(n);
  out += ' ';
}

void append_prefix(std::string& out, record_state state, const owner& o) {
  const unsigned char attempt[] = {static_cast<unsigned char>(o.attempt >> 8),
                                   static_cast<unsigned char>(o.attempt & 0xff)};
  char text[prefix_size + 1] = "i1 P 0000 ";
  text[3] = static_cast<char>(state);
  text::write_hex(text + owner_offset, attempt, 2);
  std::copy(o.token.begin(), o.token.end(), text + owner_offset + 5);
  out.append(text, prefix_size);
}

void append_fingerprint(std::string& out, const fingerprint& f) {
  char digest[64];
  text::write_hex(digest, f.digest.data(), f.digest.size());
  out.append(digest, sizeof digest);
  out += ' ';
  append_number(out, f.version);
  out.back() = '.';
  unsigned char settings[4];
  for (int i = 0; i < 4; ++i) settings[i] = static_cast<unsigned char>(f.settings >> (24 - 8 * i));
  char hex[8];
  text::write_hex(hex, settings, 4);
  out.append(hex, sizeof hex);
  out += ' ';
}

// A time below zero has no form in a record.
std::int64_t not_negative(std::int64_t n) { return std::max<std::int64_t>(n, 0); }

}  // namespace

void encode_to(std::string& out, const record& r) {
  const std::string_view header = holds_answer(r.state) ? r.header_block : std::string_view();
  const bool has_body = holds_answer(r.state) && r.state != record_state::without_body;
  const std::string_view body = has_body ? r.body : std::string_view();
  out.reserve(out.size() + first_line_bound + header.size() + body.size());
  append_prefix(out, r.state, r.owner);
  out += ' ';
  append_number(out, not_negative(r.lease.count()));
  append_number(out, not_negative(r.hold.count()));
  append_number(out, not_negative(r.retention.count()));
  out += r.guarantee == config::guarantee::at_least_once ? "l " : "m ";
  append_number(out, not_negative(r.created));
  append_fingerprint(out, r.fingerprint);
  append_number(out, r.status);
  append_number(out, header.size());
  append_number(out, body.size());
  out += static_cast<char>(body_encoding::plain);
  out += ' ';
  const auto checksum = record_checksum(r.status, header, body, body_encoding::plain);
  out.append(checksum.data(), checksum.size());
  out += '\n';
  out += header;
  out += body;
}

std::string encode(const record& r) {
  std::string out;
  encode_to(out, r);
  return out;
}

std::string record_prefix(record_state state, const owner& o) {
  std::string out;
  append_prefix(out, state, o);
  return out;
}

}  // namespace idem::idempotency
