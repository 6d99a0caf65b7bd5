#include "idem/http/head.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace idem::http {
namespace {

struct known {
  std::string_view name;
  field_id id;
};

constexpr known all[] = {{"Host", field_id::host},
                         {"Connection", field_id::connection},
                         {"Keep-Alive", field_id::keep_alive},
                         {"Proxy-Connection", field_id::proxy_connection},
                         {"TE", field_id::te},
                         {"Trailer", field_id::trailer},
                         {"Transfer-Encoding", field_id::transfer_encoding},
                         {"Content-Length", field_id::content_length},
                         {"Upgrade", field_id::upgrade},
                         {"Expect", field_id::expect},
                         {"Authorization", field_id::authorization},
                         {"Proxy-Authorization", field_id::proxy_authorization},
                         {"X-Api-Key", field_id::x_api_key},
                         {"Cookie", field_id::cookie},
                         {"Content-Type", field_id::content_type},
                         {"Content-Encoding", field_id::content_encoding},
                         {"Idempotency-Key", field_id::idempotency_key},
                         {"Idempotency-Status", field_id::idempotency_status},
                         {"Idempotency-Attempt", field_id::idempotency_attempt},
                         {"Idempotent-Replayed", field_id::idempotent_replayed},
                         {"X-Forwarded-For", field_id::x_forwarded_for},
                         {"X-Forwarded-Proto", field_id::x_forwarded_proto},
                         {"X-Forwarded-Host", field_id::x_forwarded_host},
                         {"Via", field_id::via},
                         {"Retry-After", field_id::retry_after}};

TEST(field_ids, every_known_name_is_found_in_any_case) {
  for (const known& k : all) {
    std::string name(k.name);
    EXPECT_EQ(field_id_of(name), k.id) << name;
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    EXPECT_EQ(field_id_of(name), k.id) << name;
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    EXPECT_EQ(field_id_of(name), k.id) << name;
  }
}

TEST(field_ids, a_name_that_differs_in_one_byte_is_other) {
  for (const known& k : all) {
    for (std::size_t i = 0; i < k.name.size(); ++i) {
      std::string name(k.name);
      name[i] = name[i] == '_' ? '~' : '_';
      EXPECT_EQ(field_id_of(name), field_id::other) << name;
    }
    EXPECT_EQ(field_id_of(std::string(k.name) + "x"), field_id::other);
    EXPECT_EQ(field_id_of(k.name.substr(1)), field_id::other);
  }
  EXPECT_EQ(field_id_of(""), field_id::other);
}

TEST(field_lists, look_ups_take_the_first_of_several) {
  field_list list;
  list.fields = {{"X-A", "1", field_id::other, false},
                 {"Via", "2", field_id::via, false},
                 {"x-a", "3", field_id::other, false},
                 {"via", "4", field_id::via, false}};
  EXPECT_EQ(list.find("X-a")->value, "1");
  EXPECT_EQ(list.value(field_id::via), "2");
  EXPECT_EQ(list.count(field_id::via), 2u);
  EXPECT_EQ(list.find("nothing"), nullptr);
  EXPECT_EQ(list.find(field_id::host), nullptr);
  EXPECT_EQ(list.value(field_id::host), "");
}

}  // namespace
}  // namespace idem::http
