// The blocks `server` and `admin`.
#include <thread>

#include "config/address.hpp"
#include "config/draft.hpp"
#include "config/threads.hpp"
#include "config/tls_files.hpp"

namespace idem::config {
namespace {

constexpr milliseconds longest = 24h;

std::optional<endpoint> read_address(report& out, const scalar& value) {
  const auto address = parse_listen_address(value.text);
  if (!address) out.error(value.at, value.shown + " " + address.why);
  return address.value;
}

void add_listener(report& out, const scalar& value, draft& to) {
  auto address = read_address(out, value);
  if (!address) return;
  to.config.server.listen.push_back(std::move(*address));
  to.listen_at.push_back(value.at);
}

void read_listen(const section& server, draft& to) {
  constexpr const char* expected = "an address such as 0.0.0.0:8080";
  if (!server.find("listen")) {
    add_listener(server.out(), {"0.0.0.0:8080", "", server.where("listen")}, to);
  } else if (const auto values = server.texts("listen", "addresses such as \"0.0.0.0:8080\"")) {
    for (const scalar& value : *values) add_listener(server.out(), value, to);
    if (server.find("listen")->items.empty()) {
      server.out().error(server.where("listen"), std::string("is empty, expected ") + expected);
    }
  }
}

void read_threads(const section& server, unsigned& threads) {
  const tree_node* node = server.find("threads");
  const bool automatic = !node || (node->type == tree_node::kind::scalar && node->text == "auto");
  if (automatic) {
    threads = automatic_threads("", std::thread::hardware_concurrency());
    return;
  }
  const auto value = server.text("threads", "auto or a whole number from 1 to 64");
  if (!value) return;
  if (value->text == "auto") {
    threads = automatic_threads("", std::thread::hardware_concurrency());
  } else {
    server.number("threads", threads, {1, 64});
  }
}

void read_timeouts(const section& timeouts, server_timeouts& to) {
  timeouts.duration("header", to.header, {1ms, longest});
  timeouts.duration("body_idle", to.body_idle, {1ms, longest});
  timeouts.duration("keep_alive", to.keep_alive, {1ms, longest});
  timeouts.duration("drain", to.drain, {0ms, longest});
}

void read_tls(const section& tls, server_tls& to) {
  tls.string("certificate", to.certificate, pem_file);
  tls.string("key", to.key, pem_file);
  tls.string("client_ca", to.client_ca, pem_file);
  if (!to.certificate.empty() && to.key.empty()) {
    if (!tls.refused("key")) tls.out().error(tls.where("key"), "is missing, expected the key of the certificate");
  } else if (to.certificate.empty() && !tls.refused("certificate") && !(to.key.empty() && to.client_ca.empty())) {
    tls.out().error(tls.where("certificate"), "is missing, expected a certificate: without one there is no TLS");
  }
  check_key_pair(tls.out(), {tls.where("certificate"), tls.where("key"), to.certificate, to.key});
  if (!to.client_ca.empty()) check_ca_file(tls.out(), tls.where("client_ca"), to.client_ca);
}

}  // namespace

void read_server(const section& file, draft& out) {
  const section server = file.child("server", schema::server);
  server_config& to = out.config.server;
  read_listen(server, out);
  read_threads(server, to.threads);
  server.number("max_in_flight", to.max_in_flight, {1, 1'000'000});
  server.number("max_connections", to.max_connections, {1, 1'000'000});
  server.size("header_limit", to.header_limit, {1024, 60 * 1024});
  server.number("header_fields", to.header_fields, {1, 1000});
  server.size("uri_limit", to.uri_limit, {64, 60 * 1024});
  read_timeouts(server.child("timeouts", schema::server_timeouts), to.timeouts);
  server.choice<forwarded_policy>("forwarded", to.forwarded,
                                  {{"preserve", forwarded_policy::preserve},
                                   {"append", forwarded_policy::append},
                                   {"replace", forwarded_policy::replace},
                                   {"remove", forwarded_policy::remove}});
  server.flag("via", to.via);
  server.choice<proxy_protocol_policy>("proxy_protocol", to.proxy_protocol,
                                       {{"off", proxy_protocol_policy::off}, {"v1_v2", proxy_protocol_policy::v1_v2}});
  read_tls(server.child("tls", schema::server_tls), to.tls);
}

void read_admin(const section& file, draft& out) {
  const section admin = file.child("admin", schema::admin);
  out.admin_listen_at = admin.where("listen");
  out.config.admin.listen = *parse_listen_address("127.0.0.1:9911");
  if (const auto value = admin.text("listen", "an address such as 127.0.0.1:9911")) {
    if (auto address = read_address(admin.out(), *value)) out.config.admin.listen = std::move(*address);
  }
  admin.flag("ready_requires_store", out.config.admin.ready_requires_store);
}

}  // namespace idem::config
