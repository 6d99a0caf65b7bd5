// The end of a client's connection behind its last answer (RFC 9112 §9.6).
#include <chrono>

#include "support/certificates.hpp"
#include "wire/wire.hpp"

namespace idem::test {
namespace {

class last_answers : public on_stage {
 protected:
  /// More than the kernel holds for a reader with a small window.
  static constexpr std::size_t size = 200'000;
  static std::string large() {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'z');
  }
  /// A client whose bytes behind the request nobody reads; it reads its answer only now.
  static void gets_all_of_it(peer& c) {
    EXPECT_TRUE(c.read_head().starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_EQ(c.discard(size), size);
    EXPECT_EQ(c.rest(), "");
    EXPECT_EQ(c.ended(), peer::end::clean);
  }
  static void serve_large(peer& c, const std::string& request, std::string_view more) {
    c.send(request);
    auto b = s().backend.accept();
    b.read_until("\r\n\r\nhi");
    c.send(more);
    EXPECT_TRUE(b.send(large()));
    gets_all_of_it(c);
  }
};

TEST_F(last_answers, come_whole_whatever_the_client_has_sent_behind_its_request) {
  const std::string rest = "Host: a\r\nContent-Length: 2\r\n\r\nhi",
                    keyed = "Authorization: t\r\nIdempotency-Key: last1\r\n";
  for (const std::string& request : {"POST /x HTTP/1.1\r\nConnection: close\r\n" + rest, "POST /x HTTP/1.0\r\n" + rest,
                                     "POST /keyed HTTP/1.1\r\nConnection: close\r\n" + keyed + rest}) {
    for (const std::string_view more : {"\r\n", "GET /more HTTP/1.1\r\nHost: a\r\n\r\n"}) {
      SCOPED_TRACE(request);
      s().backend.clear();
      auto c = client();
      c.small_window();
      if (request.starts_with("POST /keyed") && more != "\r\n") {
        c.send(request + std::string(more));  // a replay
        gets_all_of_it(c);
      } else {
        serve_large(c, request, more);
      }
    }
  }
}

TEST_F(last_answers, are_followed_by_the_end_at_once_and_the_connection_goes_with_the_clients_own) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) {
    auto w = reach("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", plain_get.size());
    w.backend.send(plain_ok);
    w.backend.close();
    EXPECT_TRUE(w.client.rest().ends_with("\r\n\r\nok"));
    EXPECT_EQ(w.client.ended(), peer::end::clean);
    w.client.close();
    EXPECT_TRUE(eventually([&] { return s().proxy->metric("idempotency_proxy_connections") == 0; }));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 4s) << "nobody is waited for five times";
}

TEST_F(last_answers, do_not_keep_the_connection_of_a_client_that_never_closes) {
  auto w = reach("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", plain_get.size());
  w.backend.send(plain_ok);
  EXPECT_TRUE(w.client.rest().ends_with("\r\n\r\nok"));
  EXPECT_TRUE(eventually([&] { return s().proxy->metric("idempotency_proxy_connections") == 0; }, 4s));
}

TEST(last_answers_of_a_drain, come_whole_to_clients_that_pipeline_and_the_process_ends) {
  constexpr std::size_t size = 200'000;
  stage s;
  auto c = s.client();
  c.small_window();
  c.send(plain_get);
  auto b = s.backend.accept();
  EXPECT_EQ(b.read(plain_get.size()), plain_get);
  c.send(std::string(plain_get) + std::string(plain_get));
  s.proxy->terminate();
  EXPECT_TRUE(eventually([&] { return !s.client().open(); })) << "nobody listens any more";
  EXPECT_TRUE(
      b.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'z')));
  EXPECT_NE(c.read_head().find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_EQ(c.discard(size), size);
  EXPECT_EQ(c.rest(), "");
  EXPECT_EQ(c.ended(), peer::end::clean);
  EXPECT_EQ(s.proxy->wait_for_exit(5s), 0) << "though this client does not close";
}

TEST(last_answers_on_tls, come_whole_whatever_the_client_has_sent_behind_its_request) {
  constexpr std::size_t size = 200'000;
  const temporary_folder folder;
  const auto files = make_certificates(folder, "proxy.test");
  stage s("tls: {certificate: \"" + files.certificate + "\", key: \"" + files.key + "\"}");
  tls_settings t;
  t.ca = files.ca;
  t.server_name = "proxy.test";
  auto c = s.client();
  c.small_window();
  ASSERT_TRUE(c.begin_tls(t, false)) << c.tls_fault();
  c.send("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  auto b = s.backend.accept();
  EXPECT_EQ(b.read(plain_get.size()), plain_get);
  c.send(std::string(100'000, 'x'));  // more than TLS reads ahead
  EXPECT_TRUE(
      b.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'z')));
  EXPECT_NE(c.read_head(), "");
  EXPECT_EQ(c.discard(size), size);
  EXPECT_EQ(c.rest(), "");
  EXPECT_EQ(c.ended(), peer::end::clean);
}

}  // namespace
}  // namespace idem::test
