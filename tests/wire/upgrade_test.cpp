// Upgrades (RFC 9110 §7.8): a tunnel, but only after 101.
#include "wire/wire.hpp"

namespace idem::test {
namespace {

class upgrades : public on_stage {
 protected:
  static way ask() {
    const std::string request =
        "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\nConnection: Upgrade\r\n\r\n";
    auto w = reach(
        "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: k\r\n\r\n",
        request.size());
    EXPECT_EQ(w.request, request);
    return w;
  }
  static constexpr std::string_view yes =
      "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: v\r\nConnection: Upgrade\r\n\r\n";
};

TEST_F(upgrades, become_a_tunnel_after_101) {
  auto w = ask();
  w.backend.send(std::string(yes) + "first");
  EXPECT_EQ(w.client.read(yes.size()), yes);
  EXPECT_EQ(w.client.read(5), "first") << "bytes that came with the 101";
  const std::string up("\x00\xff GET / HTTP/1.1\r\n\r\n", 21);
  w.client.send(up);
  EXPECT_EQ(w.backend.read(up.size()), up);
  const std::string down(100'000, '\r');
  w.backend.send(down);
  EXPECT_EQ(w.client.read(100'000), down);
}

TEST_F(upgrades, pass_a_half_close_on_in_both_directions) {
  auto w = ask();
  w.backend.send(yes);
  w.client.read(yes.size());
  w.client.send("bye");
  w.client.half_close();
  EXPECT_EQ(w.backend.rest(), "bye");
  EXPECT_EQ(w.backend.ended(), peer::end::clean);
  w.backend.send("still here");
  EXPECT_EQ(w.client.read(10), "still here");
  w.backend.close();
  EXPECT_EQ(w.client.rest(), "");
  EXPECT_EQ(w.client.ended(), peer::end::clean);
}

TEST_F(upgrades, that_the_backend_declines_are_usual_exchanges) {
  auto w = ask();
  w.backend.send(plain_ok);
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
  w.client.send(plain_get);
  EXPECT_EQ(w.backend.read(plain_get.size()), plain_get) << "both connections go on";
}

TEST_F(upgrades, of_a_keyed_route_are_not_keyed) {
  const std::string request =
      "POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: u1\r\nContent-Length: 0\r\nUpgrade: "
      "x\r\n"
      "Connection: Upgrade\r\n\r\n";
  for (int i = 0; i < 2; ++i) {
    auto w = reach(request);
    EXPECT_EQ(w.request, request) << "each of them reaches the backend";
    w.backend.send(plain_ok);
    EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
    w.backend.close();
  }
}

}  // namespace
}  // namespace idem::test
