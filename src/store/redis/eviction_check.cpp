#include "store/redis/eviction_check.hpp"

#include "idem/telemetry/log.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/resp_writer.hpp"

namespace idem::store::redis {
namespace {

class inquiry final : private connection_user {
 public:
  explicit inquiry(const shared_parts& parts)
      : settings_(asking(parts.settings)),
        connection_(std::make_shared<connection>(io_, settings_, parts.tls, connection::purpose::commands,
                                                 static_cast<connection_user&>(*this))) {}

  /// True if both replies came.
  bool run(std::chrono::milliseconds limit) {
    connection_->open();
    io_.run_for(limit);
    connection_->close();
    return seen_ == 2;
  }

  resp_value config, info;
  std::string reason = "no answer in time";

 private:
  // The handshake would only say that the server may evict records, and the user is told by which policy.
  static config::redis_config asking(config::redis_config settings) {
    settings.allow_eviction = true;
    return settings;
  }
  void on_ready(dialect how) override {
    if (how == dialect::transactions) telemetry::warn("store refuses scripts", {{"instead", "WATCH and MULTI"}});
    outgoing_.clear();
    append_command(outgoing_, {"CONFIG", "GET", "maxmemory-policy"});
    append_command(outgoing_, {"INFO", "memory"});
    on_writable();
  }
  bool on_reply(resp_value&& v) override {
    (seen_++ == 0 ? config : info) = std::move(v);
    if (seen_ == 2) io_.stop();
    return true;
  }
  void on_writable() override {
    if (!outgoing_.empty() && connection_->writable()) connection_->write(outgoing_);
  }
  void on_lost(std::string_view why) override {
    reason = why;
    io_.stop();
  }

  const config::redis_config settings_;
  net::asio::io_context io_{1};
  std::shared_ptr<connection> connection_;
  std::string outgoing_;
  unsigned seen_ = 0;
};

std::string info_field(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find("\r\n", at), text.size());
    const auto line = text.substr(at, end - at);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':'))
      return std::string(line.substr(name.size() + 1));
    at = end + 2;
  }
  return {};
}

}  // namespace

std::string eviction_policy(const resp_value& config, const resp_value& info) {
  if (config.is(resp_type::array) && config.items.size() == 2 && !config.items[1].text.empty())
    return config.items[1].text;
  return info.is(resp_type::text) ? info_field(info.text, "maxmemory_policy") : std::string();
}

std::string check_eviction(const std::shared_ptr<shared_parts>& parts) {
  const auto& settings = parts->settings;
  if (parts->tls && !parts->tls->fault.empty()) return parts->tls->fault;
  inquiry ask(*parts);
  if (!ask.run(settings.connect_timeout + settings.command_timeout)) {
    telemetry::warn("store not checked", {{"reason", std::string_view(ask.reason)}});
    return {};
  }
  const auto policy = eviction_policy(ask.config, ask.info);
  if (policy.empty()) {
    telemetry::warn("store not checked", {{"reason", "the server does not tell its maxmemory-policy"}});
    return {};
  }
  if (policy == "noeviction") return {};
  if (settings.allow_eviction) {
    telemetry::warn("store may evict records", {{"policy", std::string_view(policy)}});
    return {};
  }
  return "the Redis server may evict records (maxmemory-policy " + policy +
         "), after which a retry would execute again: set maxmemory-policy to noeviction, or allow_eviction: true";
}

}  // namespace idem::store::redis
