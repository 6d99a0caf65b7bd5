#include <algorithm>
#include <array>

#include "idem/text/decimal.hpp"
#include "idem/text/hex.hpp"
#include "idempotency/checksum.hpp"
#include "idempotency/record_format.hpp"
#include "idempotency/zstd_body.hpp"

namespace idem::idempotency {
namespace {

/// The fields of a first line, between single spaces.
enum class column : std::size_t {
  version,
  state,
  attempt,
  owner,
  lease,
  hold,
  retention,
  guarantee,
  created,
  digest,
  settings,
  status,
  header_bytes,
  body_bytes,
  encoding,
  checksum,
  count
};
constexpr std::size_t column_count = static_cast<std::size_t>(column::count);

class first_line {
 public:
  /// False unless there are exactly as many fields as a record has.
  bool split(std::string_view line) {
    for (std::size_t i = 0; i + 1 < column_count; ++i) {
      const std::size_t space = line.find(' ');
      if (space == std::string_view::npos) return false;
      fields_[i] = line.substr(0, space);
      line.remove_prefix(space + 1);
    }
    fields_[column_count - 1] = line;
    return line.find(' ') == std::string_view::npos;
  }
  std::string_view operator[](column c) const { return fields_[static_cast<std::size_t>(c)]; }

 private:
  std::array<std::string_view, column_count> fields_;
};

// One number, one text: no sign, no leading zero.
template <class Number>
bool read_decimal(std::string_view text, Number& out) {
  const auto n = text::parse_strict_decimal<Number>(text);
  if (n) out = *n;
  return n.has_value();
}

bool read_duration(std::string_view text, std::chrono::milliseconds& out) {
  std::int64_t count = 0;
  if (!read_decimal(text, count)) return false;
  out = std::chrono::milliseconds(count);
  return true;
}

bool read_hex(std::string_view text, unsigned char* out, std::size_t count) {
  return text::read_hex(text, out, count, text::hex_case::lower);
}

bool read_state(std::string_view text, record_state& out) {
  if (text.size() != 1 || std::string_view("PUSFXR").find(text.front()) == std::string_view::npos) return false;
  out = static_cast<record_state>(text.front());
  return true;
}

bool read_owner(std::string_view attempt, std::string_view token, owner& out) {
  unsigned char number[2], ignored[16];
  if (!read_hex(attempt, number, 2) || !read_hex(token, ignored, 16)) return false;
  out.attempt = static_cast<std::uint16_t>(number[0] << 8 | number[1]);
  std::copy(token.begin(), token.end(), out.token.begin());
  return out.attempt != 0;
}

bool read_guarantee(std::string_view text, config::guarantee& out) {
  out = text == "l" ? config::guarantee::at_least_once : config::guarantee::at_most_once;
  return text == "l" || text == "m";
}

bool read_fingerprint(std::string_view digest, std::string_view settings, fingerprint& out) {
  const std::size_t dot = settings.find('.');
  unsigned char hash[4];
  if (dot == std::string_view::npos || !read_hex(settings.substr(dot + 1), hash, 4)) return false;
  out.settings = static_cast<std::uint32_t>(hash[0]) << 24 | static_cast<std::uint32_t>(hash[1]) << 16 |
                 static_cast<std::uint32_t>(hash[2]) << 8 | hash[3];
  return read_hex(digest, out.digest.data(), out.digest.size()) && read_decimal(settings.substr(0, dot), out.version);
}

bool read_status(std::string_view text, unsigned& out) {
  return read_decimal(text, out) && (out == 0 || (out >= 100 && out <= 599));
}

// Everything of the first line but sizes, encoding and checksum.
bool read_values(const first_line& line, record& out) {
  return read_state(line[column::state], out.state) &&
         read_owner(line[column::attempt], line[column::owner], out.owner) &&
         read_duration(line[column::lease], out.lease) && read_duration(line[column::hold], out.hold) &&
         read_duration(line[column::retention], out.retention) &&
         read_guarantee(line[column::guarantee], out.guarantee) && read_decimal(line[column::created], out.created) &&
         read_fingerprint(line[column::digest], line[column::settings], out.fingerprint) &&
         read_status(line[column::status], out.status);
}

// Cuts header block and stored body out of what follows the first line; their sizes must fit it exactly.
bool read_answer(const first_line& line, std::string_view rest, record& out) {
  std::size_t header = 0, body = 0;
  if (!read_decimal(line[column::header_bytes], header) || !read_decimal(line[column::body_bytes], body)) return false;
  if (header > rest.size() || body != rest.size() - header) return false;
  if (!holds_answer(out.state) && !rest.empty()) return false;
  if (out.state == record_state::without_body && body != 0) return false;
  out.header_block = rest.substr(0, header);
  out.body = rest.substr(header);
  return true;
}

}  // namespace

decoded_record decode(std::string_view text) {
  decoded_record d;
  if (!text.starts_with(record_version)) return d;
  d.result = decode_result::damaged;
  const std::size_t end = text.find('\n');
  first_line line;
  if (end == std::string_view::npos || !line.split(text.substr(0, end))) return d;
  const std::string_view encoding = line[column::encoding];
  if (encoding.empty()) return d;
  if (encoding != "p" && encoding != "z") {
    d.result = decode_result::foreign;
    return d;
  }
  const auto stored_as = static_cast<body_encoding>(encoding.front());
  if (!read_values(line, d.value) || !read_answer(line, text.substr(end + 1), d.value)) return d;
  const record& r = d.value;
  if (!checksum_fits(line[column::checksum], r.status, r.header_block, r.body, stored_as)) return d;
  if (stored_as == body_encoding::zstd && !d.value.body.empty()) {
    // on the heap even when it is short, so that moving the result leaves the view of it whole
    d.unpacked.reserve(4096);
    if (!unpack_zstd(d.value.body, d.unpacked)) return d;
    d.value.body = d.unpacked;
  }
  d.result = decode_result::ok;
  return d;
}

std::string_view record::reason() const { return header_block.substr(0, header_block.find("\r\n")); }

std::string_view record::header_lines() const {
  const std::size_t end = header_block.find("\r\n");
  return end == std::string_view::npos ? std::string_view() : header_block.substr(end + 2);
}

}  // namespace idem::idempotency
