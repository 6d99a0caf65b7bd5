#include "idem/idempotency/record.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "idempotency/checksum.hpp"

namespace idem::idempotency {
namespace {

constexpr std::string_view token = "0123456789abcdef0123456789abcdef";

owner make_owner(std::uint16_t attempt) {
  owner o;
  o.attempt = attempt;
  std::copy(token.begin(), token.end(), o.token.begin());
  return o;
}

fingerprint make_fingerprint(std::uint32_t settings) {
  fingerprint f;
  for (std::size_t i = 0; i < f.digest.size(); ++i) f.digest[i] = static_cast<unsigned char>(i);
  f.version = 1;
  f.settings = settings;
  return f;
}

record processing_record() {
  record r;
  r.owner = make_owner(1);
  r.lease = std::chrono::seconds(15);
  r.hold = r.retention = std::chrono::hours(24);
  r.created = 1700000000000;
  r.fingerprint = make_fingerprint(0xdeadbeef);
  return r;
}

record stored_record() {
  record r = processing_record();
  r.state = record_state::succeeded;
  r.owner.attempt = 0xffff;
  r.retention = std::chrono::hours(48);
  r.guarantee = config::guarantee::at_least_once;
  r.fingerprint.settings = 0xa;
  r.status = 201;
  r.header_block = "Created\r\nContent-Type: application/json\r\nSet-Cookie: a=1\r\n";
  r.body = "{\"id\":\"ch_1\"}";
  return r;
}

// What stores of running systems hold: a change of either text needs a new version, or a form that can be told apart,
// and a reader of the old one.
const std::string processing_text =
    "i1 P 0001 0123456789abcdef0123456789abcdef 15000 86400000 86400000 m 1700000000000 "
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 1.deadbeef 0 0 0 p x9d177542be8e8f29\n";
const std::string stored_text =
    "i1 S ffff 0123456789abcdef0123456789abcdef 15000 86400000 172800000 l 1700000000000 "
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 1.0000000a 201 58 13 p x56481e8aea921ad5\n"
    "Created\r\nContent-Type: application/json\r\nSet-Cookie: a=1\r\n{\"id\":\"ch_1\"}";
// "hello hello hello hello hello hello", packed by zstd 1.5
const std::string packed_text =
    "i1 F 0002 0123456789abcdef0123456789abcdef 1 2 3 m 0 "
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 1.00000001 422 2 21 z xf0a9cb1c604a5a44\n\r\n" +
    std::string("\x28\xb5\x2f\xfd\x00\x58\x65\x00\x00\x30\x68\x65\x6c\x6c\x6f\x20\x01\x00\xb9\x4b\x11", 21);

void expect_equal(const record& a, const record& b) {
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.owner, b.owner);
  EXPECT_EQ(a.lease, b.lease);
  EXPECT_EQ(a.hold, b.hold);
  EXPECT_EQ(a.retention, b.retention);
  EXPECT_EQ(a.guarantee, b.guarantee);
  EXPECT_EQ(a.created, b.created);
  EXPECT_EQ(a.fingerprint, b.fingerprint);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.header_block, b.header_block);
  EXPECT_EQ(a.body, b.body);
}

/// `text` with its `column`th field (0 = version) replaced.
std::string with_field(const std::string& text, std::size_t column, std::string_view value) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < column; ++i) begin = text.find(' ', begin) + 1;
  const std::size_t end = text.find_first_of(" \n", begin);
  return text.substr(0, begin) + std::string(value) + text.substr(end);
}

decode_result result_of(std::string_view text) { return decode(text).result; }

TEST(record_encoding, a_claim_has_the_agreed_bytes) { EXPECT_EQ(encode(processing_record()), processing_text); }

TEST(record_encoding, an_answer_has_the_agreed_bytes) { EXPECT_EQ(encode(stored_record()), stored_text); }

TEST(record_encoding, appends_to_what_is_there) {
  std::string out = "SET ";
  encode_to(out, stored_record());
  EXPECT_EQ(out, "SET " + stored_text);
}

TEST(record_encoding, only_states_with_an_answer_keep_one) {
  for (const record_state s : {record_state::processing, record_state::unknown, record_state::revoked}) {
    record r = stored_record();
    r.state = s;
    const std::string text = encode(r);
    EXPECT_TRUE(text.ends_with('\n'));
    EXPECT_EQ(result_of(text), decode_result::ok);
  }
  record r = stored_record();
  r.state = record_state::without_body;
  const auto text = encode(r);
  const auto d = decode(text);
  EXPECT_EQ(d.result, decode_result::ok);
  EXPECT_EQ(d.value.header_block, r.header_block);
  EXPECT_EQ(d.value.body, "");
}

TEST(record_encoding, prefix_and_owner_stand_at_their_fixed_places) {
  const owner o = make_owner(0x0a0b);
  EXPECT_EQ(record_prefix(record_state::revoked, o), "i1 R 0a0b 0123456789abcdef0123456789abcdef");
  EXPECT_EQ(record_prefix(record_state::revoked, o).size(), prefix_size);
  EXPECT_EQ(o.text(), "0a0b 0123456789abcdef0123456789abcdef");
  EXPECT_EQ(o.text().size(), owner_size);
  record r = stored_record();
  r.owner = o;
  const std::string text = encode(r);
  EXPECT_EQ(text.substr(0, prefix_size), record_prefix(r.state, o));
  EXPECT_EQ(text.substr(owner_offset, owner_size), o.text());
}

TEST(record_decoding, gives_back_what_was_encoded) {
  record odd = stored_record();
  odd.state = record_state::failed_final;
  odd.owner.attempt = 0x1a;
  odd.lease = odd.hold = odd.retention = std::chrono::milliseconds(std::numeric_limits<std::int64_t>::max());
  odd.created = 0;
  odd.fingerprint.version = 0xffff;
  odd.status = 599;
  odd.header_block = "\r\n";
  const std::string bytes("\0\n i1 \xff\xfe", 8);
  odd.body = bytes;
  for (const record& r : {processing_record(), stored_record(), odd}) {
    const std::string text = encode(r);
    const auto d = decode(text);
    ASSERT_EQ(d.result, decode_result::ok) << text;
    expect_equal(d.value, r);
  }
}

TEST(record_decoding, reads_what_was_written_with_the_checksum_of_before) {
  const std::tuple<const std::string*, std::string_view, record> before[] = {
      {&processing_text, "fa9b64f860249c41", processing_record()}, {&stored_text, "5030c5527f95ac4d", stored_record()}};
  for (const auto& [text, checksum, expected] : before) {
    const std::string old = with_field(*text, 15, checksum);
    const auto d = decode(old);
    ASSERT_EQ(d.result, decode_result::ok) << checksum;
    expect_equal(d.value, expected);
  }
  EXPECT_EQ(result_of(with_field(packed_text, 15, "87e93b90e9f46a02")), decode_result::ok);
}

TEST(record_decoding, reads_a_packed_body) {
  const auto d = decode(packed_text);
  ASSERT_EQ(d.result, decode_result::ok);
  EXPECT_EQ(d.value.body, "hello hello hello hello hello hello");
  EXPECT_EQ(d.value.status, 422u);
}

TEST(record_decoding, a_moved_result_keeps_its_unpacked_body) {
  auto d = std::make_unique<decoded_record>(decode(packed_text));
  const decoded_record moved = std::move(*d);
  d.reset();
  EXPECT_EQ(moved.value.body, "hello hello hello hello hello hello");
}

TEST(record_decoding, a_packed_body_that_does_not_unpack_is_damaged) {
  for (const std::string& stored : {packed_text.substr(0, packed_text.size() - 4), packed_text + "x"}) {
    const std::string packed = stored.substr(stored.find('\n') + 3);
    const auto checksum = record_checksum(422, "\r\n", packed, body_encoding::zstd);
    std::string text = with_field(stored, 13, std::to_string(packed.size()));
    text = with_field(text, 15, std::string_view(checksum.data(), checksum.size()));
    EXPECT_EQ(result_of(text), decode_result::damaged) << packed.size();
  }
}

TEST(record_decoding, reason_and_header_lines_are_parts_of_the_header_block) {
  record r;
  r.header_block = "Not Here\r\nA: 1\r\nB: 2\r\n";
  EXPECT_EQ(r.reason(), "Not Here");
  EXPECT_EQ(r.header_lines(), "A: 1\r\nB: 2\r\n");
  r.header_block = "\r\n";
  EXPECT_EQ(r.reason(), "");
  EXPECT_EQ(r.header_lines(), "");
  r.header_block = "";
  EXPECT_EQ(r.reason(), "");
  EXPECT_EQ(r.header_lines(), "");
}

TEST(record_decoding, what_is_of_another_version_or_encoding_is_foreign) {
  for (const std::string& text :
       {std::string(), std::string("i"), std::string("i1"), std::string("hello"), with_field(stored_text, 0, "i2"),
        with_field(stored_text, 0, "i10"), with_field(stored_text, 14, "x"), with_field(stored_text, 14, "zz")})
    EXPECT_EQ(result_of(text), decode_result::foreign) << text;
}

TEST(record_decoding, a_field_out_of_form_is_damaged) {
  const std::pair<std::size_t, std::string_view> faults[] = {
      {1, "Q"},
      {1, "p"},
      {1, "PP"},
      {1, ""},
      {2, "0"},
      {2, "0000"},
      {2, "FFFF"},
      {2, "00001"},
      {3, "0123456789ABCDEF0123456789abcdef"},
      {3, "0123456789abcdef0123456789abcde"},
      {4, ""},
      {4, "-1"},
      {4, "015"},
      {4, "+1"},
      {4, "1s"},
      {4, "9223372036854775808"},
      {5, "x"},
      {6, "1.5"},
      {7, "x"},
      {7, ""},
      {7, "ml"},
      {8, "-1"},
      {8, "01"},
      {9, "00"},
      {9, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1g"},
      {10, "1"},
      {10, "1.a"},
      {10, "65536.0000000a"},
      {10, ".0000000a"},
      {10, "1.0000000A"},
      {10, "01.0000000a"},
      {11, "99"},
      {11, "600"},
      {11, "0201"},
      {11, "-1"},
      {12, "57"},
      {12, "59"},
      {12, "058"},
      {12, "18446744073709551615"},
      {12, "18446744073709551616"},
      {12, "71"},
      {13, "12"},
      {13, "14"},
      {13, "18446744073709551574"},
      {14, ""},
      {15, "x56481e8aea921ad6"},
      {15, "x56481e8aea921ad"},
      {15, "x56481e8aea921ad50"},
      {15, "x"},
      {15, ""},
      {15, "56481e8aea921ad5"},
      {15, "X56481e8aea921ad5"},
      {15, "x56481E8aea921ad5"},
      {15, "5030c5527f95ac4e"},
      {15, "x5030c5527f95ac4d"}};
  for (const auto& [column, value] : faults)
    EXPECT_EQ(result_of(with_field(stored_text, column, value)), decode_result::damaged) << column << ' ' << value;
}

TEST(record_decoding, more_or_fewer_fields_are_damaged) {
  EXPECT_EQ(result_of(with_field(stored_text, 15, "x56481e8aea921ad5 x")), decode_result::damaged);
  EXPECT_EQ(result_of(with_field(stored_text, 5, "1 2")), decode_result::damaged);
  EXPECT_EQ(result_of("i1 S ffff\n"), decode_result::damaged);
  EXPECT_EQ(result_of("i1 "), decode_result::damaged);
  EXPECT_EQ(result_of("i1 \n"), decode_result::damaged);
}

TEST(record_decoding, every_shortened_and_every_lengthened_record_is_refused) {
  for (const std::string* text : {&processing_text, &stored_text, &packed_text}) {
    for (std::size_t n = 0; n < text->size(); ++n)
      EXPECT_NE(result_of(std::string_view(*text).substr(0, n)), decode_result::ok) << n;
    EXPECT_EQ(result_of(*text + '\n'), decode_result::damaged);
  }
}

TEST(record_decoding, no_flipped_bit_of_an_answer_goes_unnoticed) {
  const std::size_t answer = stored_text.find('\n') + 1;
  for (std::size_t i = answer; i < stored_text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string text = stored_text;
      text[i] = static_cast<char>(text[i] ^ (1 << bit));
      EXPECT_EQ(result_of(text), decode_result::damaged) << i;
    }
  }
}

TEST(record_decoding, a_border_that_moved_between_header_and_body_is_damaged) {
  EXPECT_EQ(result_of(with_field(with_field(stored_text, 12, "57"), 13, "14")), decode_result::damaged);
}

TEST(record_decoding, states_without_an_answer_hold_none) {
  for (const std::string_view state : {"P", "U", "R"})
    EXPECT_EQ(result_of(with_field(stored_text, 1, state)), decode_result::damaged) << state;
  EXPECT_EQ(result_of(with_field(stored_text, 1, "X")), decode_result::damaged);
  EXPECT_EQ(result_of(with_field(stored_text, 1, "F")), decode_result::ok);
}

}  // namespace
}  // namespace idem::idempotency
