// Blocks around the routes: server, admin, upstream, store; addresses, secrets, and what the check warns of.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/temporary_folder.hpp"
#include "unit/config/support.hpp"

namespace idem::config {
namespace {

using idem::test::temporary_folder;
using test::is_clean;
using test::reports;

const std::string upstream = "upstream: {url: \"http://127.0.0.1:3000\"}\n";
const std::string routes = "routes: [{name: a}]\n";

std::string with_redis(const std::string& redis) {
  return upstream + routes + "store: {type: redis, redis: {" + redis + "}}\n";
}

TEST(server, several_addresses_may_be_listened_on) {
  const auto result =
      test::loaded(upstream + "server: {listen: [\"0.0.0.0:8080\", \"[::1]:8081\", \"unix:/run/p.sock\"]}\n");
  ASSERT_EQ(result.config->server.listen.size(), 3u);
  EXPECT_EQ(result.config->server.listen[1].host, "::1");
  EXPECT_TRUE(result.config->server.listen[2].is_unix());
}

TEST(server, an_address_that_is_none_or_overlaps_is_an_error_at_its_place) {
  const auto listen = [](const char* list) { return upstream + "server: {listen: " + list + "}\n"; };
  EXPECT_TRUE(reports(listen("[\"127.0.0.1:1\", \":80\"]"), "f:2:34: error: server.listen[1]: \":80\" has no host"));
  EXPECT_TRUE(reports(listen("[\":80\"]"), "f:2:19: error: server.listen[0]: ", "for every address 0.0.0.0:PORT"));
  EXPECT_TRUE(reports(listen("[\":8\\n0\"]"), "f:2:19: error: server.listen[0]: \":8\\x0a0\"", "0.0.0.0:PORT"));
  EXPECT_TRUE(reports(listen("[\"127.0.0.1:1\", \"127.0.0.1:1\"]"),
                      "f:2:34: error: server.listen[1]: \"127.0.0.1:1\" overlaps with \"127.0.0.1:1\""));
  EXPECT_TRUE(reports(listen("[\"0.0.0.0:1\", \"127.0.0.1:1\"]"), "f:2:32: error: server.listen[1]: ", "overlaps"));
  EXPECT_TRUE(reports(listen("[]"), "f:2:18: error: server.listen: is empty"));
}

TEST(server, the_admin_port_is_a_port_of_its_own) {
  EXPECT_TRUE(reports(upstream + "server: {listen: [\"0.0.0.0:9911\"]}\n",
                      "f:1:1: error: admin.listen: \"127.0.0.1:9911\" overlaps with server.listen \"0.0.0.0:9911\""));
  EXPECT_TRUE(reports(upstream + "admin: {listen: \"127.0.0.1:8080\"}\n",
                      "f:2:17: error: admin.listen: ", "overlaps with server.listen"));
  EXPECT_TRUE(reports(upstream + "admin: {listen: \"8080\"}\n", "f:2:17: error: admin.listen: \"8080\" has no port"));
}

TEST(server, the_upstream_is_not_the_proxy_itself) {
  EXPECT_TRUE(reports("upstream: {url: \"http://localhost:8080\"}\n",
                      "f:1:17: error: upstream.url: is the proxy's own address"));
  EXPECT_TRUE(reports("upstream: {url: \"unix:/a\"}\nserver: {listen: [\"unix:/a\"]}\n",
                      "f:1:17: error: upstream.url: is the proxy's own address"));
  const auto loops = [](const std::string& url, const std::string& listen) {
    return reports("upstream: {url: \"" + url + "\"}\nserver: {listen: [\"" + listen + "\"]}\n",
                   "f:1:17: error: upstream.url: is the proxy's own address", "of server.listen");
  };
  EXPECT_TRUE(loops("http://0.0.0.0:8080", "0.0.0.0:8080"));
  EXPECT_TRUE(loops("http://0.0.0.0:8080", "127.0.0.1:8080"));
  EXPECT_TRUE(loops("http://[0::0]:8080", "[::1]:8080"));
  EXPECT_TRUE(loops("http://[0:0:0:0:0:0:0:1]:8080", "[::1]:8080"));
  EXPECT_TRUE(loops("http://[::ffff:127.0.0.1]:8080", "127.0.0.1:8080"));
  EXPECT_TRUE(loops("http://localhost:8080", "[::1]:8080"));
  EXPECT_TRUE(loops("http://10.0.0.1:8080", "10.0.0.1:8080"));
}

TEST(server, the_upstream_is_not_the_admin_port) {
  const auto loops = [](const std::string& url, const std::string& listen) {
    return reports("upstream: {url: \"" + url + "\"}\nadmin: {listen: \"" + listen + "\"}\n",
                   "f:1:17: error: upstream.url: is the proxy's own address", "of admin.listen");
  };
  EXPECT_TRUE(loops("http://127.0.0.1:9911", "127.0.0.1:9911"));
  EXPECT_TRUE(loops("http://localhost:9911", "0.0.0.0:9911"));
  EXPECT_TRUE(loops("http://0.0.0.0:9911", "127.0.0.1:9911"));
  EXPECT_TRUE(loops("unix:/a", "unix:/a"));
  EXPECT_TRUE(reports("upstream: {url: \"http://127.0.0.1:9911\"}\n", "f:1:17: error: upstream.url: "));
}

TEST(server, another_machine_is_not_the_proxy_though_its_port_is_the_same) {
  for (const char* url : {"http://10.0.0.1:8080", "http://app.svc:8080", "http://[fd00::1]:8080"}) {
    EXPECT_TRUE(load_text("upstream: {url: \"" + std::string(url) + "\"}\n", "f").ok()) << url;
  }
  EXPECT_TRUE(load_text("upstream: {url: \"http://0.0.0.0:8080\"}\nserver: {listen: [\"10.0.0.1:8080\"]}\n", "f").ok());
}

TEST(server, limits_are_within_what_the_parser_can) {
  EXPECT_TRUE(reports(upstream + "server: {header_limit: 61KiB}\n",
                      "f:2:24: error: server.header_limit: \"61KiB\" is out of range, expected 1KiB to 60KiB"));
  EXPECT_EQ(test::loaded(upstream + "server: {header_limit: 60KiB}\n").config->server.header_limit, 60u * 1024);
  EXPECT_TRUE(reports(upstream + "server: {threads: 65}\n",
                      "f:2:19: error: server.threads: \"65\" is out of range, expected 1 to 64"));
  EXPECT_TRUE(reports(upstream + "server: {threads: 0}\n", "f:2:19: error: server.threads: "));
  EXPECT_EQ(test::loaded(upstream + "server: {threads: 64}\n").config->server.threads, 64u);
  EXPECT_TRUE(reports(upstream + "server: {timeouts: {keep_alive: 0s}}\n",
                      "f:2:33: error: server.timeouts.keep_alive: \"0s\" is out of range"));
}

TEST(server, automatic_threads_are_between_one_and_four) {
  for (const char* text : {"auto", "\"${IDEM_TEST_UNSET:-auto}\""}) {
    const unsigned threads = test::loaded(upstream + "server: {threads: " + text + "}\n").config->server.threads;
    EXPECT_GE(threads, 1u);
    EXPECT_LE(threads, 4u);
  }
}

TEST(upstream_block, needs_a_url) {
  EXPECT_TRUE(reports("server: {via: on}\n", "f:1:1: error: upstream.url: is missing"));
  EXPECT_TRUE(reports("server: {via: on}\nupstream: {idle_timeout: 1s}\n", "f:2:11: error: upstream.url: is missing"));
  EXPECT_TRUE(reports("upstream: {url: \"127.0.0.1:3000\"}\n",
                      "f:1:17: error: upstream.url: \"127.0.0.1:3000\" has no scheme"));
}

TEST(upstream_block, credentials_in_the_url_are_refused_and_not_shown) {
  const auto lines = test::lines_of(load_text("upstream: {url: \"http://u:hunter2@h\"}\n", "f"));
  ASSERT_FALSE(lines.empty());
  for (const auto& line : lines) EXPECT_EQ(line.find("hunter2"), std::string::npos) << line;
}

TEST(upstream_block, tls_settings_need_https) {
  EXPECT_TRUE(reports("upstream: {url: \"http://127.0.0.1:3000\", tls: {server_name: a}}\n",
                      "f:1:47: error: upstream.tls: has no effect"));
  EXPECT_TRUE(reports("upstream: {url: \"http://127.0.0.1:3000\", tls: {verify: false}}\n",
                      "f:1:47: error: upstream.tls: has no effect"));
  const auto tls =
      test::loaded("upstream: {url: \"https://127.0.0.1:3000\", tls: {server_name: app.svc}}\n").config->upstream.tls;
  EXPECT_TRUE(tls.enabled && tls.verify);
  EXPECT_EQ(tls.server_name, "app.svc");
}

TEST(upstream_block, tls_without_verification_is_a_warning) {
  EXPECT_TRUE(reports("upstream: {url: \"https://127.0.0.1:3000\", tls: {verify: off}}\n",
                      "f:1:57: warning: upstream.tls.verify: "));
}

TEST(remote_upstream, warns_of_routes_that_release_a_503) {
  const std::string remote = "upstream: {url: \"http://app.svc:3000\"}\nstore: {type: redis}\n";
  EXPECT_TRUE(reports(remote + "routes: [{name: a, match: {path: /a}}, {name: b, match: {path: /b}}]\n",
                      "f:1:17: warning: upstream.url: ", "statuses.unknown of: \"a\", \"b\""));
  EXPECT_TRUE(reports("upstream: {url: \"http://10.0.0.1\"}\n" + routes, "f:1:17: warning: upstream.url: ", "503"));
}

TEST(remote_upstream, is_silent_where_the_503_was_decided_or_does_no_harm) {
  const std::string remote = "upstream: {url: \"http://app.svc:3000\"}\nstore: {type: redis}\n";
  for (const char* block : {"statuses: {unknown: [503]}", "statuses: {final: [5xx]}", "statuses: {release: [503]}",
                            "guarantee: at_least_once", "mode: off"}) {
    EXPECT_TRUE(is_clean(remote + "routes: [{name: a, idempotency: {" + block + "}}]\n")) << block;
  }
}

TEST(local_upstream, does_not_warn_of_503) {
  for (const char* url :
       {"http://127.0.0.1:3000", "http://localhost:3000", "http://[::1]:3000", "unix:/run/app.sock"}) {
    EXPECT_TRUE(is_clean("upstream: {url: \"" + std::string(url) + "\"}\nstore: {type: redis}\n" + routes)) << url;
  }
}

TEST(no_routes, is_a_warning) {
  for (const char* text : {"", "routes:\n", "routes: []\n"}) {
    const std::string file = upstream + "store: {type: redis}\n" + text;
    EXPECT_TRUE(reports(file, "f:", "warning: routes: there is no route")) << text;
    EXPECT_TRUE(load_text(file, "f").ok()) << text;
  }
}

TEST(memory_store, warns_that_records_die_and_are_not_shared) {
  EXPECT_TRUE(reports(upstream + routes + "store: {type: memory}\n",
                      "f:3:15: warning: store.type: memory: records die with the process and are not shared"));
  EXPECT_TRUE(reports(upstream + routes, "f:1:1: warning: store.type: memory: "));
}

TEST(redis_store, takes_the_url_apart) {
  const auto redis = test::loaded(with_redis("url: \"rediss://u:p%40@h:7/3\"")).config->store.redis;
  EXPECT_TRUE(redis.tls);
  EXPECT_EQ(redis.address.host, "h");
  EXPECT_EQ(redis.address.port, 7);
  EXPECT_EQ(redis.database, 3u);
  EXPECT_EQ(redis.username, "u");
  EXPECT_EQ(redis.password, "p@");
  EXPECT_EQ(redis.address.text, "rediss://h:7/3");
}

TEST(redis_store, a_faulty_url_is_an_error_that_does_not_show_it) {
  const std::string text = with_redis("url: \"redis://u:hunter2@h:x\"");
  EXPECT_TRUE(reports(text, "f:3:35: error: store.redis.url: the URL has no valid port"));
  for (const auto& line : test::lines_of(load_text(text, "f")))
    EXPECT_EQ(line.find("hunter2"), std::string::npos) << line;
}

TEST(redis_store, tls_settings_need_rediss) {
  EXPECT_TRUE(reports(with_redis("url: \"redis://h\", tls: {server_name: a}"),
                      "f:3:53: error: store.redis.tls: has no effect"));
  EXPECT_TRUE(is_clean(with_redis("url: \"rediss://h\", tls: {server_name: a, verify: true}")));
  EXPECT_TRUE(
      reports(with_redis("url: \"rediss://h\", tls: {verify: false}"), "f:3:63: warning: store.redis.tls.verify: "));
}

TEST(redis_store, a_prefix_has_no_braces) {
  EXPECT_EQ(test::loaded(with_redis("key_prefix: \"shop7:\"")).config->store.redis.key_prefix, "shop7:");
  for (const char* prefix : {"{a}:", "", "a b", "ä"}) {
    EXPECT_TRUE(reports(with_redis("key_prefix: \"" + std::string(prefix) + "\""),
                        "f:3:42: error: store.redis.key_prefix: ", "is no prefix"))
        << prefix;
  }
}

TEST(redis_password, is_read_from_its_file_without_the_line_end) {
  const temporary_folder folder;
  for (const char* content : {"secret", "secret\n", "secret\r\n"}) {
    const std::string path = folder.write("password", content);
    const auto redis = test::loaded(with_redis("username: u, password_file: \"" + path + "\"")).config->store.redis;
    EXPECT_EQ(redis.password, "secret");
    EXPECT_EQ(redis.password_file, path);
    EXPECT_EQ(redis.username, "u");
  }
}

TEST(redis_password, a_file_that_cannot_be_used_is_an_error) {
  const temporary_folder folder;
  const auto with_file = [](const std::string& path) { return with_redis("password_file: \"" + path + "\""); };
  const std::string at = "f:3:45: error: store.redis.password_file: ";
  EXPECT_TRUE(reports(with_file((folder.path() / "nowhere").string()), at, "cannot be read: No such file"));
  EXPECT_TRUE(reports(with_file(folder.path().string()), at, "cannot be read: Is a directory"));
  EXPECT_TRUE(reports(with_file(folder.write("a", "\n")), at, "is empty"));
  EXPECT_TRUE(reports(with_file(folder.write("b", "one\ntwo\n")), at, "several lines"));
  EXPECT_TRUE(reports(with_file("/dev/zero"), at, "no regular file"));
  EXPECT_TRUE(reports(with_file(folder.write("c", std::string(70'000, 'x'))), at, "is larger than 64KiB"));
}

TEST(secret_file, with_what_nobody_sees_around_its_secret_is_a_warning) {
  const temporary_folder folder;
  for (const char* content : {" secret", "secret \n", "secret\t\r\n", "\xef\xbb\xbfsecret"}) {
    const std::string path = folder.write("secret", content);
    const std::string what = "white space or a byte order mark around";
    EXPECT_TRUE(
        reports(with_redis("password_file: \"" + path + "\""), "f:3:45: warning: store.redis.password_file: ", what));
    EXPECT_TRUE(reports(test::with_block("jwt: {hmac_secret_file: \"" + path + "\"}"),
                        "f:7:31: warning: routes[0].idempotency.jwt.hmac_secret_file: \"" + path + "\" has", what));
    EXPECT_TRUE(reports(test::with_block("signature: {scheme: github, secret_file: \"" + path + "\"}"),
                        "f:7:48: warning: routes[0].idempotency.signature.secret_file: ", what));
  }
  EXPECT_TRUE(test::is_clean(with_redis("password_file: \"" + folder.write("fine", "two words\n") + "\"")));
}

TEST(redis_password, is_not_looked_for_while_the_store_is_memory) {
  EXPECT_TRUE(
      load_text(upstream + routes + "store: {type: memory, redis: {password_file: /nowhere/at/all}}\n", "f").ok());
}

TEST(redis_password, stands_in_one_place_only) {
  const temporary_folder folder;
  const std::string path = folder.write("password", "secret");
  EXPECT_TRUE(reports(with_redis("password_file: \"" + path + "\", url: \"redis://:p@h\""),
                      "f:3:45: error: store.redis.password_file: the URL has a password, too"));
  EXPECT_TRUE(reports(with_redis("password_file: /no/file, url: \"redis://:p@h\""),
                      "f:3:45: error: store.redis.password_file: \"/no/file\" cannot be read"));
  EXPECT_TRUE(reports(with_redis("username: b, url: \"redis://a:p@h\""),
                      "f:3:40: error: store.redis.username: the URL has a user name, too"));
  EXPECT_TRUE(reports(with_redis("username: b"), "f:3:40: error: store.redis.username: has no password"));
  EXPECT_TRUE(reports(with_redis("password: p"),
                      "f:3:30: error: store.redis.password: unknown key (did you mean \"password_file\"?)"));
}

TEST(file, one_that_cannot_be_read_is_a_finding) {
  const temporary_folder folder;
  const auto missing = load_file((folder.path() / "nowhere.yaml").string());
  ASSERT_EQ(missing.findings.size(), 1u);
  EXPECT_EQ(missing.findings[0].text(),
            (folder.path() / "nowhere.yaml").string() + ": error: cannot be read: No such file or directory");
  EXPECT_FALSE(missing.ok());
  EXPECT_NE(load_file(folder.path().string()).findings.at(0).message.find("Is a directory"), std::string::npos);
  EXPECT_NE(load_file("/dev/zero").findings.at(0).message.find("no regular file"), std::string::npos);
  EXPECT_NE(
      load_file(folder.write("big", std::string(5 * 1024 * 1024, '#'))).findings.at(0).message.find("larger than 4MiB"),
      std::string::npos);
}

TEST(file, messages_begin_with_its_name_as_given) {
  const temporary_folder folder;
  const std::string path = folder.write("c.yaml", "server: {via: perhaps}\n");
  EXPECT_TRUE(load_file(path).findings.at(0).text().starts_with(path + ":1:"));
}

TEST(shortest_file, is_enough) {
  const auto result = test::loaded("upstream: {url: \"http://127.0.0.1:3000\"}\nroutes: [{name: api}]\n");
  EXPECT_EQ(result.config->server.listen.at(0).text, "0.0.0.0:8080");
  EXPECT_EQ(result.config->admin.listen.text, "127.0.0.1:9911");
  EXPECT_EQ(result.config->routes.at(0).name, "api");
}

}  // namespace
}  // namespace idem::config
