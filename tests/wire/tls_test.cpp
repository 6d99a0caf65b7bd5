// TLS on both sides.
#include <openssl/ssl.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/certificates.hpp"
#include "wire/wire.hpp"

namespace idem::test {
namespace {

void copy_over(const std::string& from, const std::string& to) {
  // a writer that renames, so that nobody reads half a file
  std::filesystem::copy_file(from, to + ".new", std::filesystem::copy_options::overwrite_existing);
  std::filesystem::rename(to + ".new", to);
}

class tls_clients : public ::testing::Test {
 protected:
  tls_clients() : first(make_certificates(folder, "proxy.test", "first")) {}

  std::string server_tls(const std::string& more = {}) const {
    return "tls: {certificate: \"" + first.certificate + "\", key: \"" + first.key + "\"" + more + "}";
  }
  tls_settings trusting(const certificates& c) const {
    tls_settings t;
    t.ca = c.ca;
    t.server_name = "proxy.test";
    return t;
  }
  /// One exchange; true if both sides had theirs.
  static bool exchange(stage& s, peer& c, peer::limit time = 2s) {
    if (!c.send(plain_get)) return false;
    auto b = s.backend.accept(time);
    if (b.read(plain_get.size()) != plain_get) return false;
    b.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    return c.read(plain_ok.size()) == plain_ok;
  }

  temporary_folder folder;
  certificates first;
};

TEST_F(tls_clients, speak_1_2_or_1_3_and_nothing_older) {
  stage s(server_tls());
  for (const auto& [most, name] : {std::pair{TLS1_2_VERSION, "TLSv1.2"}, std::pair{TLS1_3_VERSION, "TLSv1.3"}}) {
    auto c = s.client();
    auto t = trusting(first);
    t.most = most;
    ASSERT_TRUE(c.begin_tls(t, false)) << c.tls_fault();
    EXPECT_EQ(c.tls_version(), name);
    EXPECT_TRUE(exchange(s, c));
  }
  auto old = s.client();
  auto t = trusting(first);
  t.most = TLS1_1_VERSION;
  EXPECT_FALSE(old.begin_tls(t, false));
  auto plain = s.client();
  plain.send(plain_get);
  EXPECT_EQ(plain.rest().find("HTTP/1.1 200"), std::string::npos);
  EXPECT_FALSE(s.backend.accept(50ms).open());
}

TEST_F(tls_clients, agree_on_http_1_1_or_on_nothing) {
  stage s(server_tls());
  for (const auto& [offered, chosen] : {std::pair{"http/1.1", "http/1.1"}, std::pair{"", ""}}) {
    auto c = s.client();
    auto t = trusting(first);
    t.protocol = offered;
    ASSERT_TRUE(c.begin_tls(t, false)) << c.tls_fault();
    EXPECT_EQ(c.tls_protocol(), chosen);
  }
  auto c = s.client();
  auto t = trusting(first);
  t.protocol = "h2";
  EXPECT_FALSE(c.begin_tls(t, false)) << "h2 alone is refused";
}

TEST_F(tls_clients, show_a_certificate_where_one_is_asked_for) {
  const auto known = make_certificates(folder, "client.test", "known"),
             unknown = make_certificates(folder, "x", "unknown");
  stage s(server_tls(", client_ca: \"" + known.ca + "\""));
  const auto served = [&](const certificates* shown) {
    auto c = s.client();
    auto t = trusting(first);
    if (shown) t.certificate = shown->certificate, t.key = shown->key;
    // in TLS 1.3 the client learns only from its first read that its certificate was refused
    return c.begin_tls(t, false) && exchange(s, c, shown == &known ? peer::limit(2s) : 300ms);
  };
  EXPECT_TRUE(served(&known));
  EXPECT_FALSE(served(nullptr));
  EXPECT_FALSE(served(&unknown));
}

TEST_F(tls_clients, that_still_send_hear_an_early_answer) {
  stage s(server_tls());
  auto c = s.client();
  ASSERT_TRUE(c.begin_tls(trusting(first), false));
  c.send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + std::string(100'000, 'x'));
  auto b = s.backend.accept();
  b.discard(50'000);
  b.send("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno");
  EXPECT_EQ(c.rest(), "HTTP/1.1 413 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
  EXPECT_EQ(c.ended(), peer::end::clean);
}

TEST_F(tls_clients, that_are_aborted_see_no_orderly_end) {
  stage s(server_tls());
  auto c = s.client();
  ASSERT_TRUE(c.begin_tls(trusting(first), false));
  c.send(plain_get);
  auto b = s.backend.accept();
  b.read(plain_get.size());
  b.send("HTTP/1.1 200 OK\r\n\r\nhello");
  EXPECT_NE(c.read_until("hello", 2s), "");
  b.reset();
  c.rest();
  EXPECT_EQ(c.ended(), peer::end::reset) << "close_notify would make it whole";
}

TEST_F(tls_clients, get_a_new_certificate_without_losing_a_connection_and_keep_the_old_one_where_the_new_is_bad) {
  stage s(server_tls());
  auto before = s.client();
  ASSERT_TRUE(before.begin_tls(trusting(first), false));
  EXPECT_TRUE(exchange(s, before));

  const auto reloads = [&](const char* result) {
    return s.proxy->metric("idempotency_proxy_config_reloads_total{result=\"" + std::string(result) + "\"}")
        .value_or(-1);
  };
  const auto second = make_certificates(folder, "proxy.test", "second");
  copy_over(second.key, first.key);
  copy_over(second.certificate, first.certificate);
  EXPECT_TRUE(eventually([&] {
    auto c = s.client();
    return c.begin_tls(trusting(second), false) && exchange(s, c);
  })) << "the files are watched";
  EXPECT_TRUE(exchange(s, before)) << "a connection from before lives on";

  const auto failed = reloads("failure");
  std::ofstream(first.certificate) << "no certificate";
  EXPECT_TRUE(eventually([&] { return reloads("failure") > failed; }));
  auto c = s.client();
  EXPECT_TRUE(c.begin_tls(trusting(second), false)) << c.tls_fault();
  EXPECT_TRUE(exchange(s, c));
  EXPECT_TRUE(exchange(s, before));
}

TEST_F(tls_clients, are_served_with_the_old_certificate_while_the_new_one_is_half_written) {
  stage s(server_tls());
  const auto second = make_certificates(folder, "proxy.test", "second");
  const auto content = [](const std::string& file) {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const auto serves = [&](const certificates& of) {
    auto c = s.client();
    return c.begin_tls(trusting(of), false) && exchange(s, c);
  };
  std::size_t read = 0;
  const auto told = [&](const std::string& file, const std::string& fault) {
    return eventually([&] {
      const auto log = s.proxy->log();
      const auto at = log.find(file + "\\\" " + fault, read);
      const auto end = at == std::string::npos ? at : log.find("the one from before stays", at);
      if (end != std::string::npos) read = end;
      return end != std::string::npos;
    });
  };
  const auto key = content(second.key), certificate = content(second.certificate);
  std::ofstream(first.key) << key.substr(0, key.size() / 2);
  EXPECT_TRUE(told(first.key, "holds no private key"));
  EXPECT_TRUE(serves(first));
  std::ofstream(first.key, std::ios::app) << key.substr(key.size() / 2);
  EXPECT_TRUE(told(first.key, "does not belong to the certificate"));
  EXPECT_TRUE(serves(first));
  std::ofstream(first.certificate) << certificate.substr(0, certificate.size() / 2);
  EXPECT_TRUE(told(first.certificate, "holds no certificate"));
  EXPECT_TRUE(serves(first));
  std::ofstream(first.certificate, std::ios::app) << certificate.substr(certificate.size() / 2);
  EXPECT_TRUE(eventually([&] { return serves(second); })) << "without a signal";
}

TEST_F(tls_clients, are_not_served_in_plain_text_when_a_reload_takes_the_settings_of_tls_away) {
  stage s(server_tls());
  auto next = s.settings;
  next.server_more = "threads: 1";
  s.proxy->reload(next);
  auto c = s.client();
  ASSERT_TRUE(c.begin_tls(trusting(first), false)) << c.tls_fault();
  EXPECT_TRUE(exchange(s, c));
  EXPECT_NE(s.proxy->log().find("server.tls"), std::string::npos) << "the log says that this needs a restart";
}

TEST_F(tls_clients, that_stall_in_the_handshake_are_let_go_in_time) {
  stage s(server_tls() + ", timeouts: {header: 300ms}");
  // a record of a ClientHello that announces 512 bytes
  const std::string beginning("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
  for (const auto& bytes : {std::string(), beginning}) {
    auto c = s.client();
    c.send(bytes);
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(c.rest(), "");
    EXPECT_NE(c.ended(), peer::end::none);
    EXPECT_GT(std::chrono::steady_clock::now() - began, 150ms);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
  }
  auto slow = s.client();
  slow.send(beginning);
  EXPECT_TRUE(eventually([&] { return !slow.send("x") || (slow.within(20ms), slow.ended() != peer::end::none); }, 3s))
      << "a byte now and then does not keep it";
  auto c = s.client();
  ASSERT_TRUE(c.begin_tls(trusting(first), false));
  EXPECT_TRUE(exchange(s, c));
}

TEST_F(tls_clients, that_never_answer_the_end_are_let_go_in_time) {
  stage s(server_tls());
  auto c = s.client();
  ASSERT_TRUE(c.begin_tls(trusting(first), false));
  c.send("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  auto b = s.backend.accept();
  b.read_head();
  b.send(plain_ok);
  EXPECT_TRUE(c.read_until("\r\n\r\nok").ends_with("ok"));
  // it neither reads on nor sends its close_notify, and keeps its socket
  EXPECT_TRUE(eventually([&] { return s.proxy->metric("idempotency_proxy_connections") == 0; }, 4s));
  EXPECT_EQ(c.rest(), "");
  EXPECT_EQ(c.ended(), peer::end::clean) << "the proxy's own close_notify has come all the same";
}

// ------------------------------------------------------------------------------------------------------ to the backend

class tls_backend : public ::testing::Test {
 protected:
  tls_backend() : files(make_certificates(folder, "backend.test", "backend")) {}

  static tls_settings showing(const certificates& c) {
    tls_settings t;
    t.certificate = c.certificate;
    t.key = c.key;
    return t;
  }
  std::string verified(const std::string& name) const {
    return "tls: {ca: \"" + files.ca + "\", server_name: " + name + "}";
  }

  temporary_folder folder;
  certificates files;
};

TEST_F(tls_backend, of_the_right_name_is_talked_to_and_its_connection_used_again) {
  stage s({}, verified("backend.test"), "https://");
  auto c = s.client();
  c.send(plain_get);
  auto b = s.backend.accept();
  ASSERT_TRUE(b.begin_tls(showing(files), true)) << b.tls_fault();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(b.read(plain_get.size()), plain_get);
    b.send(plain_ok);
    EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
    if (i == 0) c.send(plain_get);
  }
}

TEST_F(tls_backend, of_a_name_with_the_dot_of_the_root_shows_a_certificate_without_it) {
  stage s({}, verified("backend.test."), "https://");
  auto c = s.client();
  c.send(plain_get);
  auto b = s.backend.accept();
  ASSERT_TRUE(b.begin_tls(showing(files), true)) << b.tls_fault();
  EXPECT_EQ(b.tls_asked_name(), "backend.test") << "RFC 6066 section 3";
  EXPECT_EQ(b.read(plain_get.size()), plain_get);
  b.send(plain_ok);
  EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
}

TEST_F(tls_backend, of_a_wrong_name_or_ca_is_502_and_gets_no_byte_of_the_request) {
  const auto other = make_certificates(folder, "backend.test", "other");
  struct {
    std::string settings;
    const certificates* shown;
  } const table[] = {{verified("wrong.test"), &files}, {verified("backend.test"), &other}};
  for (const auto& t : table) {
    stage s({}, t.settings, "https://");
    auto c = s.client();
    c.send(plain_get);
    auto b = s.backend.accept();
    if (b.begin_tls(showing(*t.shown), true)) EXPECT_EQ(b.rest(), "");
    EXPECT_TRUE(is_problem(c.read_head(), 502, "upstream-unavailable"));
  }
}

TEST_F(tls_backend, that_stalls_in_its_handshake_is_given_up_within_the_limit_of_connecting) {
  stage s({}, "connect_timeout: 300ms, " + verified("backend.test"), "https://");
  auto c = s.client();
  const auto began = std::chrono::steady_clock::now();
  c.send(plain_get);
  auto b = s.backend.accept();
  ASSERT_TRUE(b.open());
  EXPECT_TRUE(is_problem(c.read_head(), 502, "upstream-unavailable"));
  EXPECT_GT(std::chrono::steady_clock::now() - began, 150ms);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
  EXPECT_EQ(b.rest().find("GET /x"), std::string::npos);
  EXPECT_NE(b.ended(), peer::end::none);
}

TEST_F(tls_backend, that_answers_early_is_heard_by_a_client_that_still_sends) {
  stage s({}, verified("backend.test"), "https://");
  auto c = s.client();
  constexpr std::size_t size = 8 << 20;
  c.send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n");
  auto b = s.backend.accept();
  ASSERT_TRUE(b.begin_tls(showing(files), true)) << b.tls_fault();
  std::thread upload([&] {
    const std::string piece(64 * 1024, 'x');
    for (std::size_t n = 0; n < size && c.send(piece); n += piece.size()) {
    }
  });
  b.discard(100'000);
  b.send("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno");
  upload.join();
  EXPECT_EQ(c.rest(), "HTTP/1.1 413 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
  EXPECT_EQ(c.ended(), peer::end::clean);
}

TEST_F(tls_backend, that_said_more_than_its_answer_is_not_talked_to_again) {
  stage s({}, verified("backend.test"), "https://");
  // a record of its own, that comes together with the answer's and that nobody has to read for it
  for (const std::string_view more : {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", ""}) {
    auto c = s.client();
    c.send(plain_get);
    auto b = s.backend.accept();
    ASSERT_TRUE(b.begin_tls(showing(files), true)) << b.tls_fault();
    EXPECT_EQ(b.read(plain_get.size()), plain_get);
    b.hold_back(true);
    b.send(plain_ok);
    if (more.empty()) {
      b.end_tls();
    } else {
      b.send(more);
    }
    b.hold_back(false);
    EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
    const std::string keyed = "POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: more" +
                              std::to_string(more.size()) + "\r\nContent-Length: 2\r\n\r\nhi";
    c.send(keyed);
    auto fresh = s.backend.accept(2s);
    ASSERT_TRUE(fresh.open()) << "what the client got: " << c.within(200ms);
    EXPECT_TRUE(fresh.begin_tls(showing(files), true)) << fresh.tls_fault();
    EXPECT_EQ(fresh.read(keyed.size()), keyed);
    fresh.send("HTTP/1.1 201 Made\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(c.read_head(), "HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n");
  }
}

TEST_F(tls_backend, that_asks_for_a_certificate_gets_the_one_that_is_configured) {
  const auto mine = make_certificates(folder, "sidecar.test", "mine");
  stage s({},
          "tls: {ca: \"" + files.ca + "\", server_name: backend.test, certificate: \"" + mine.certificate +
              "\", key: \"" + mine.key + "\"}",
          "https://");
  auto c = s.client();
  c.send(plain_get);
  auto b = s.backend.accept();
  auto t = showing(files);
  t.ca = mine.ca;
  ASSERT_TRUE(b.begin_tls(t, true)) << b.tls_fault();
  EXPECT_EQ(b.tls_peer_name(), "sidecar.test");
  EXPECT_EQ(b.read(plain_get.size()), plain_get);
}

TEST_F(tls_backend, that_ends_a_body_without_close_notify_has_cut_it) {
  stage s({}, verified("backend.test"), "https://");
  for (const bool orderly : {true, false}) {
    auto c = s.client();
    c.send(plain_get);
    auto b = s.backend.accept();
    ASSERT_TRUE(b.begin_tls(showing(files), true));
    b.read(plain_get.size());
    b.send("HTTP/1.1 200 OK\r\n\r\nhello");
    EXPECT_NE(c.read_until("hello\r\n", 2s), "");
    if (orderly) {
      b.end_tls();
      EXPECT_EQ(c.read(5), "0\r\n\r\n");
    } else {
      b.close();
      EXPECT_EQ(c.rest(), "");
      EXPECT_EQ(c.ended(), peer::end::reset);
    }
  }
}

}  // namespace
}  // namespace idem::test
