// rediss: the connection is encrypted, and the server is who it should be.
#include "store/store_fixture.hpp"
#include "support/certificates.hpp"

namespace idem::test {
namespace {

class redis_over_tls : public testing::Test {
 protected:
  redis_over_tls()
      : files(make_certificates(folder, "redis.test")),
        tls_port(free_port()),
        server({"--tls-port", std::to_string(tls_port), "--tls-cert-file", files.certificate, "--tls-key-file",
                files.key, "--tls-auth-clients", "no"}) {}

  std::unique_ptr<store::backend> make(const std::function<void(config::redis_config&)>& change = {}) {
    config::store_config c;
    c.type = config::store_type::redis;
    c.redis = redis_settings(tls_port);
    c.redis.tls = true;
    c.redis.tls_ca = files.ca;
    c.redis.tls_server_name = "redis.test";
    if (change) change(c.redis);
    return store::make_backend(c);
  }

  temporary_folder folder;
  certificates files;
  std::uint16_t tls_port;
  redis_server server;
};

TEST_F(redis_over_tls, commands_work_with_large_values) {
  const auto store = make();
  EXPECT_EQ(store->verify(), "");
  session_runner r(*store);
  ASSERT_TRUE(r.connect());
  const auto name = fresh_name(), value = record_text('P', owner_text(1, 'a'), std::string(200 * 1024, 'x'));
  EXPECT_EQ(r.run(claim(name, value, 60s)).value, value);
  EXPECT_EQ(server.command({"GET", name}).text, value);
  EXPECT_EQ(r.run(look(name)).value, value);
}

TEST_F(redis_over_tls, a_server_of_another_name_is_not_talked_to) {
  const auto store = make([](auto& c) { c.tls_server_name = "other.test"; });
  session_runner r(*store);
  EXPECT_FALSE(r.connect(500ms));
  EXPECT_EQ(server.calls("eval"), 0);
}

TEST_F(redis_over_tls, a_server_of_another_ca_is_not_talked_to) {
  const auto other = make_certificates(folder, "redis.test", "other");
  const auto store = make([&](auto& c) { c.tls_ca = other.ca; });
  session_runner r(*store);
  EXPECT_FALSE(r.connect(500ms));
  EXPECT_EQ(server.calls("eval"), 0);
}

TEST_F(redis_over_tls, verification_can_be_turned_off) {
  const auto store = make([](auto& c) {
    c.tls_server_name = "other.test";
    c.tls_verify = false;
  });
  session_runner r(*store);
  EXPECT_TRUE(r.connect());
}

TEST_F(redis_over_tls, a_ca_file_that_cannot_be_read_is_told_before_serving) {
  const auto store = make([](auto& c) { c.tls_ca += ".gone"; });
  EXPECT_NE(store->verify(), "");
  session_runner r(*store);
  EXPECT_FALSE(r.connect(200ms));
}

TEST_F(redis_over_tls, a_server_without_tls_is_unavailable) {
  const auto store = make([&](auto& c) { c.address.port = server.port(); });
  session_runner r(*store);
  EXPECT_FALSE(r.connect(500ms));
}

}  // namespace
}  // namespace idem::test
