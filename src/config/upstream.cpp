// The block `upstream`.
#include "config/address.hpp"
#include "config/draft.hpp"
#include "config/tls_files.hpp"

namespace idem::config {
namespace {

constexpr milliseconds longest = 24h;

void read_url(const section& upstream, upstream_config& to) {
  if (!upstream.find("url")) {
    if (upstream.refused("url")) return;
    upstream.out().error(upstream.where("url"),
                         "is missing, expected the application's URL, e.g. http://127.0.0.1:3000");
    return;
  }
  const auto value = upstream.text("url", "a URL such as http://127.0.0.1:3000");
  if (!value) return;
  const auto url = parse_upstream_url(value->text);
  if (!url) {
    // a password that was put there by mistake must not come out in a log
    const bool secret = value->text.find('@') != std::string::npos;
    upstream.out().error(value->at, (secret ? "the URL" : value->shown) + " " + url.why);
    return;
  }
  to.address = url->address;
  to.tls.enabled = url->tls;
}

void check_tls(const section& tls, const upstream_tls& to) {
  const bool halves = tls.refused("certificate") || tls.refused("key");
  if (!halves && to.certificate.empty() != to.key.empty()) {
    const char* missing = to.key.empty() ? "key" : "certificate";
    tls.out().error(tls.where(missing), "is missing, expected both certificate and key, or neither");
  }
  check_key_pair(tls.out(), {tls.where("certificate"), tls.where("key"), to.certificate, to.key});
  if (!to.ca.empty()) check_ca_file(tls.out(), tls.where("ca"), to.ca);
}

void read_tls(const section& tls, const upstream_config& upstream, upstream_tls& to) {
  tls.string("ca", to.ca, pem_file);
  tls.string("certificate", to.certificate, pem_file);
  tls.string("key", to.key, pem_file);
  const auto name = tls.text("server_name", "a host name");
  if (name && !name->text.empty() && !parse_host_name(name->text)) {
    tls.out().error(name->at, name->shown + " is no valid host name");
  }
  if (name) to.server_name = name->text;
  tls.flag("verify", to.verify);
  const bool files = !to.ca.empty() || !to.certificate.empty() || !to.key.empty();
  const bool used = files || !to.server_name.empty() || !to.verify;
  if (used && !to.enabled && !upstream.address.text.empty()) {
    tls.out().error(tls.at(), "has no effect, expected an upstream.url that begins with https://");
  }
  check_tls(tls, to);
  if (to.enabled && !to.verify) {
    tls.out().warning(tls.where("verify"),
                      "the upstream's certificate is not verified: anyone on the way can pose as it");
  }
}

}  // namespace

void read_upstream(const section& file, draft& out) {
  const section upstream = file.child("upstream", schema::upstream);
  upstream_config& to = out.config.upstream;
  out.upstream_url_at = upstream.where("url");
  read_url(upstream, to);
  upstream.duration("connect_timeout", to.connect_timeout, {1ms, longest});
  upstream.duration("response_timeout", to.response_timeout, {1ms, longest});
  upstream.duration("idle_timeout", to.idle_timeout, {1ms, longest});
  const section keep_alive = upstream.child("keep_alive", schema::upstream_keep_alive);
  keep_alive.duration("idle", to.keep_alive_idle, {1ms, longest});
  keep_alive.number("max_idle", to.keep_alive_max_idle, {0, 100'000});
  read_tls(upstream.child("tls", schema::upstream_tls), to, to.tls);
}

}  // namespace idem::config
