// Records: any bytes are decoded; and records are made out of the bytes, encoded, damaged, and decoded.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <string>

#include "fuzz/check.hpp"
#include "idem/idempotency/record.hpp"

namespace {

using namespace idem::idempotency;
using idem::fuzz::check;

bool equal(const record& a, const record& b) {
  return a.state == b.state && a.owner == b.owner && a.lease == b.lease && a.hold == b.hold &&
         a.retention == b.retention && a.guarantee == b.guarantee && a.created == b.created &&
         a.fingerprint == b.fingerprint && a.status == b.status && a.header_block == b.header_block && a.body == b.body;
}

/// The text without its checksum, the last field of the first line.
std::string without_checksum(std::string_view text) {
  const std::size_t end = text.find('\n'), begin = text.rfind(' ', end);
  return std::string(text.substr(0, begin + 1)).append(text.substr(end));
}

// What decodes was written by this codec, so that writing it again gives the same bytes: packed bodies aside, and the
// checksum of records that were written with another kind.
void check_decoded(std::string_view text) {
  const decoded_record d = decode(text);
  if (d.result != decode_result::ok) return;
  check(text.starts_with(record_prefix(d.value.state, d.value.owner)), "a record begins with its prefix");
  const std::string again = encode(d.value);
  if (d.unpacked.empty()) {
    // an empty packed body is written plain
    const bool written_now = text.substr(0, text.find('\n')).rfind(" x") != text.npos;
    const bool same = written_now ? again == text : without_checksum(again) == without_checksum(text);
    check(same || d.value.body.empty(), "one record has one text");
  }
  const decoded_record second = decode(again);
  check(second.result == decode_result::ok && equal(second.value, d.value), "encoding again keeps everything");
}

std::chrono::milliseconds duration(FuzzedDataProvider& data) {
  return std::chrono::milliseconds(
      data.ConsumeIntegralInRange<std::int64_t>(0, std::numeric_limits<std::int64_t>::max()));
}

record make_record(FuzzedDataProvider& data, const std::string& header, const std::string& body) {
  record r;
  r.state = static_cast<record_state>("PUSFXR"[data.ConsumeIntegralInRange(0, 5)]);
  r.owner.attempt = data.ConsumeIntegralInRange<std::uint16_t>(1, 0xffff);
  for (char& c : r.owner.token) c = "0123456789abcdef"[data.ConsumeIntegralInRange(0, 15)];
  r.lease = duration(data);
  r.hold = duration(data);
  r.retention = duration(data);
  if (data.ConsumeBool()) r.guarantee = idem::config::guarantee::at_least_once;
  r.created = duration(data).count();
  for (unsigned char& c : r.fingerprint.digest) c = data.ConsumeIntegral<unsigned char>();
  r.fingerprint.version = data.ConsumeIntegral<std::uint16_t>();
  r.fingerprint.settings = data.ConsumeIntegral<std::uint32_t>();
  r.status = data.ConsumeBool() ? data.ConsumeIntegralInRange(100u, 599u) : 0;
  const bool answer = r.state == record_state::succeeded || r.state == record_state::failed_final;
  if (answer || r.state == record_state::without_body) r.header_block = header;
  if (answer) r.body = body;
  return r;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  check_decoded({reinterpret_cast<const char*>(bytes), size});
  FuzzedDataProvider data(bytes, size);
  const std::string header = data.ConsumeRandomLengthString(), body = data.ConsumeRandomLengthString();
  const record r = make_record(data, header, body);
  std::string text = encode(r);
  const decoded_record d = decode(text);
  check(d.result == decode_result::ok && equal(d.value, r), "decoding undoes encoding");
  for (int i = 0; i < 3 && data.remaining_bytes() > 0; ++i) {
    const std::size_t at = data.ConsumeIntegralInRange<std::size_t>(0, text.size() - 1);
    text[at] = data.ConsumeIntegral<char>();
    check_decoded(text);
  }
  return 0;
}
