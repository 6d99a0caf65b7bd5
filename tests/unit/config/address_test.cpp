#include "config/address.hpp"

#include <gtest/gtest.h>

namespace idem::config {
namespace {

TEST(listen_address, hosts_ipv6_and_sockets_are_read) {
  EXPECT_EQ(parse_listen_address("0.0.0.0:8080")->host, "0.0.0.0");
  EXPECT_EQ(parse_listen_address("0.0.0.0:8080")->port, 8080);
  EXPECT_EQ(parse_listen_address("[::1]:8080")->host, "::1");
  EXPECT_EQ(parse_listen_address("[::1]:8080")->text, "[::1]:8080");
  EXPECT_EQ(parse_listen_address("localhost:0")->port, 0);
  EXPECT_EQ(parse_listen_address("unix:/run/a:b.sock")->unix_path, "/run/a:b.sock");
  EXPECT_EQ(parse_listen_address("unix:///run/a.sock")->unix_path, "/run/a.sock");
  EXPECT_EQ(parse_listen_address("unix:///run/a.sock")->text, "unix:///run/a.sock");
}

TEST(listen_address, what_cannot_be_bound_is_refused) {
  for (const char* text : {"",
                           "8080",
                           ":8080",
                           "*:8080",
                           "127.0.0.1",
                           "127.0.0.1:",
                           "127.0.0.1:65536",
                           "127.0.0.1:http",
                           "256.0.0.1:1",
                           "1.2.3:4",
                           "::1:80",
                           "::1",
                           "[::1]",
                           "[::1",
                           "[::g]:80",
                           "[]:80",
                           "[127.0.0.1]:80",
                           "a b:80",
                           "http://a:80",
                           "unix:",
                           "unix:run/a",
                           "unix:/",
                           "host:80:80",
                           "-a:80",
                           "127.0.0.1:-1",
                           "127.0.0.1: 80",
                           "unix://",
                           "]:80",
                           "[:80"}) {
    EXPECT_FALSE(parse_listen_address(text)) << text;
  }
  EXPECT_FALSE(parse_listen_address("unix:/" + std::string(107, 'a')));
  EXPECT_TRUE(parse_listen_address("unix:/" + std::string(106, 'a')));
}

TEST(listen_address, one_without_a_host_is_told_the_address_for_all) {
  EXPECT_NE(parse_listen_address(":8080").why.find("0.0.0.0:PORT"), std::string::npos);
}

TEST(upstream_address, schemes_hosts_and_default_ports_are_read) {
  EXPECT_EQ(parse_upstream_url("http://127.0.0.1:3000")->address.port, 3000);
  EXPECT_EQ(parse_upstream_url("http://app")->address.port, 80);
  EXPECT_EQ(parse_upstream_url("https://app.svc/")->address.port, 443);
  EXPECT_TRUE(parse_upstream_url("https://app")->tls);
  EXPECT_FALSE(parse_upstream_url("HTTP://app")->tls);
  EXPECT_EQ(parse_upstream_url("http://[::1]")->address.host, "::1");
  EXPECT_EQ(parse_upstream_url("unix:/run/app.sock")->address.unix_path, "/run/app.sock");
}

TEST(upstream_address, what_is_no_such_url_is_refused_with_its_reason) {
  const std::pair<const char*, const char*> cases[] = {{"127.0.0.1:3000", "no scheme"},
                                                       {"ftp://a", "unknown scheme"},
                                                       {"http://a/v1", "has a path"},
                                                       {"http://a//", "has a path"},
                                                       {"http://a/?q", "has a path"},
                                                       {"http://a#f", "has a path"},
                                                       {"http://u:p@a", "user or password"},
                                                       {"http://", "no host"},
                                                       {"http://a:0", "port"},
                                                       {"http://a:x", "port"},
                                                       {"http://::1", "brackets"},
                                                       {"unix:app", "absolute path"},
                                                       {"", "no scheme"}};
  for (const auto& [text, why] : cases) {
    const auto read = parse_upstream_url(text);
    EXPECT_FALSE(read) << text;
    EXPECT_NE(read.why.find(why), std::string::npos) << text << ": " << read.why;
  }
}

TEST(redis_address, every_form_is_read) {
  const auto plain = parse_redis_url("redis://cache");
  EXPECT_EQ(plain->address.host, "cache");
  EXPECT_EQ(plain->address.port, 6379);
  EXPECT_EQ(plain->database, 0u);
  EXPECT_EQ(parse_redis_url("redis://cache:7000/3")->database, 3u);
  EXPECT_EQ(parse_redis_url("redis://cache:7000/")->address.port, 7000);
  EXPECT_TRUE(parse_redis_url("rediss://cache")->tls);
  EXPECT_EQ(parse_redis_url("redis://[::1]:7/2")->address.host, "::1");
  EXPECT_EQ(parse_redis_url("redis+unix:///run/r@1.sock")->address.unix_path, "/run/r@1.sock");
  EXPECT_EQ(parse_redis_url("redis+unix:///run/r.sock?db=5")->database, 5u);
  EXPECT_EQ(parse_redis_url("redis+unix://u:p@/run/r.sock")->password, "p");
}

TEST(redis_address, user_and_password_are_percent_decoded) {
  const auto url = parse_redis_url("redis://us%3Aer:p%40ss%2fw%25@h:1/2");
  EXPECT_EQ(url->username, "us:er");
  EXPECT_EQ(url->password, "p@ss/w%");
  EXPECT_EQ(parse_redis_url("redis://:only@h")->username, "");
  EXPECT_EQ(parse_redis_url("redis://:only@h")->password, "only");
  EXPECT_EQ(parse_redis_url("redis://u:a:b@h")->password, "a:b");
  EXPECT_EQ(parse_redis_url("redis://u:a@b/?@h")->password, "a@b/?");
}

TEST(redis_address, its_text_has_no_password) {
  EXPECT_EQ(parse_redis_url("redis://u:secret@h:1/2")->address.text.find("secret"), std::string::npos);
  EXPECT_EQ(parse_redis_url("redis+unix://u:secret@/r")->address.text.find("secret"), std::string::npos);
}

TEST(redis_address, a_refusal_never_shows_a_part_of_it) {
  for (const char* text :
       {"redis://u:secret@", "redis://u:secret%4@h", "redis://u:secret@h:x", "redis://u:secret@h/secret",
        "http://u:secret@h", "redis://u:secret@h/0?a=secret", "redis+unix://u:secret@secret",
        "redis+unix:///r?secret=1", "secret", "redis://h/70000", "redis://h:0", "redis+unix:///r?db=x",
        "redis://u:secret@[secret]", "redis://h/0#secret", "redis://%zz:secret@h"}) {
    const auto read = parse_redis_url(text);
    EXPECT_FALSE(read) << text;
    EXPECT_EQ(read.why.find("secret"), std::string::npos) << text << ": " << read.why;
  }
}

TEST(loopback, is_known_by_address_or_the_name_localhost) {
  const auto loopback = [](const char* text) { return is_loopback(*parse_listen_address(text)); };
  EXPECT_TRUE(loopback("127.0.0.1:1") && loopback("127.9.9.9:1") && loopback("[::1]:1"));
  EXPECT_TRUE(loopback("localhost:1") && loopback("LocalHost:1") && loopback("unix:/a"));
  EXPECT_FALSE(loopback("0.0.0.0:1") || loopback("10.0.0.1:1") || loopback("[::2]:1") ||
               loopback("app.localhost.svc:1"));
}

TEST(overlap, is_seen_for_equal_and_for_wildcard_addresses) {
  const auto both = [](const char* a, const char* b) {
    return overlaps(*parse_listen_address(a), *parse_listen_address(b)) &&
           overlaps(*parse_listen_address(b), *parse_listen_address(a));
  };
  EXPECT_TRUE(both("127.0.0.1:80", "127.0.0.1:80"));
  EXPECT_TRUE(both("0.0.0.0:80", "127.0.0.1:80"));
  EXPECT_TRUE(both("localhost:80", "127.0.0.1:80"));
  EXPECT_TRUE(both("[::]:80", "[::1]:80"));
  EXPECT_TRUE(both("[::1]:80", "[0:0:0:0:0:0:0:1]:80"));
  EXPECT_TRUE(both("[0:0::0]:80", "[fd00::A]:80"));
  EXPECT_TRUE(both("[fd00::A]:80", "[fd00::000a]:80"));
  EXPECT_TRUE(both("unix:/a", "unix:/a"));
  EXPECT_FALSE(both("127.0.0.1:80", "127.0.0.1:81"));
  EXPECT_FALSE(both("127.0.0.1:80", "127.0.0.2:80"));
  EXPECT_FALSE(both("0.0.0.0:80", "[::1]:80"));
  EXPECT_FALSE(both("127.0.0.1:0", "127.0.0.1:0"));
  EXPECT_FALSE(both("unix:/a", "127.0.0.1:80"));
}

TEST(host_name, is_lower_case_without_a_port) {
  EXPECT_EQ(*parse_host_name("API.Example.com"), "api.example.com");
  EXPECT_EQ(*parse_host_name("a.example."), "a.example");
  EXPECT_EQ(*parse_host_name("[::1]"), "[::1]");
  EXPECT_EQ(*parse_host_name("::AB"), "[::ab]");
  for (const char* text : {"a:80", "[::1]:80", "a b", "", "a/b", "*.a"}) EXPECT_FALSE(parse_host_name(text)) << text;
  EXPECT_EQ(parse_host_name("*.a").why, "has a wildcard, expected one whole name, e.g. api.example.com");
}

}  // namespace
}  // namespace idem::config
