#include "store/redis/eviction_check.hpp"

#include "idem/telemetry/log.hpp"
#include "store/redis/inquiry.hpp"
#include "store/redis/resp_writer.hpp"

namespace idem::store::redis {
namespace {

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
  const auto address = shown_address(settings.address);
  inquiry server(*parts);
  std::string questions;
  append_command(questions, {"CONFIG", "GET", "maxmemory-policy"});
  append_command(questions, {"INFO", "memory"});
  const auto replies = server.ask(std::move(questions), 2);
  if (replies.empty()) {
    telemetry::warn("store not checked",
                    {{"address", std::string_view(address)}, {"reason", std::string_view(server.reason())}});
    return {};
  }
  if (server.how() == dialect::transactions) telemetry::warn("store refuses scripts", {{"instead", "WATCH and MULTI"}});
  const auto policy = eviction_policy(replies[0], replies[1]);
  if (policy.empty()) {
    telemetry::warn("store not checked", {{"address", std::string_view(address)},
                                          {"reason", "the server does not tell its maxmemory-policy"}});
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
