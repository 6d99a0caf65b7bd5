#include "proxy/foreign_record.hpp"

#include "idem/telemetry/log.hpp"

namespace idem::proxy {

void warn_if_foreign(const claim& c, const config::route& route) {
  using namespace std::chrono_literals;
  if (!c.engine.found_foreign()) return;
  auto& quiet_until = c.w.shared.foreign_quiet_until;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  auto until = quiet_until.load(std::memory_order_relaxed);
  if (now < until || !quiet_until.compare_exchange_strong(until, now + 10s, std::memory_order_relaxed)) return;
  telemetry::warn("what stands in the store is no record of this version: it is left alone",
                  {{"route", std::string_view(route.name)}, {"record", std::string_view(c.engine.name())}});
}

}  // namespace idem::proxy
