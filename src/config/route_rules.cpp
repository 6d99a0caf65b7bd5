#include <algorithm>

#include "config/rules.hpp"
#include "config/units.hpp"

namespace idem::config {
namespace {

std::string named(const report& out, const route_draft& r) {
  return r.route.name.empty() ? r.at.path : "route " + out.value(r.route.name);
}

bool has_fingerprint(const std::vector<source>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const source& s) { return s.type == source::kind::fingerprint; });
}

/// The lease against the store and against what must outlive it.
void check_lease(const draft& all, const route_draft& r, report& out) {
  const idempotency_config& c = r.idempotency.config;
  if (refused(out, r, "lease", r.idempotency.lease)) return;
  const milliseconds command_timeout = all.config.store.redis.command_timeout;
  const bool commands = all.config.store.type == store_type::redis && !out.refused("store.redis.command_timeout");
  if (commands && c.lease < 3 * command_timeout) {
    out.error(r.where(r.idempotency.lease, "idempotency.lease"),
              show_duration(c.lease) + " is less than three times store.redis.command_timeout (" +
                  show_duration(command_timeout) + "), expected at least " + show_duration(3 * command_timeout));
  }
  const auto at_least_lease = [&](milliseconds value, const std::optional<place>& given, std::string_view key) {
    if (value >= c.lease || refused(out, r, key, given)) return;
    out.error(
        r.where(given, "idempotency." + std::string(key)),
        show_duration(value) + " is less than the lease (" + show_duration(c.lease) + "), expected at least that");
  };
  at_least_lease(c.retention, r.idempotency.retention, "retention");
  // a hold that was not given is the retention, of which was said enough
  if (r.idempotency.hold_given) at_least_lease(c.hold, r.idempotency.hold, "hold");
  const bool by_fingerprint = std::any_of(c.key.from.begin(), c.key.from.end(), has_fingerprint);
  if (by_fingerprint) at_least_lease(c.key.fingerprint_ttl, r.idempotency.fingerprint_ttl, "key.fingerprint_ttl");
}

void check_hold(const route_draft& r, report& out) {
  const idempotency_config& c = r.idempotency.config;
  if (c.hold >= c.retention || refused(out, r, "hold", r.idempotency.hold)) return;
  if (r.idempotency.hold_given && c.hold < c.lease) return;  // of which was said enough
  if (refused(out, r, "retention", r.idempotency.retention)) return;
  out.warning(r.where(r.idempotency.hold, "idempotency.hold"),
              show_duration(c.hold) + " is less than the retention (" + show_duration(c.retention) +
                  "): a retry of an unknown outcome that comes after the hold executes again");
}

/// A command that does not get through in time costs all others of its thread their connection.
void check_stored_body(const draft& all, const route_draft& r, report& out) {
  constexpr std::uint64_t bytes_in_a_millisecond = 20'000;
  const milliseconds command_timeout = all.config.store.redis.command_timeout;
  const std::uint64_t most = r.idempotency.config.max_stored_body;
  if (all.config.store.type != store_type::redis || most <= bytes_in_a_millisecond * command_timeout.count()) return;
  if (refused(out, r, "max_stored_body", r.idempotency.max_stored_body)) return;
  if (out.refused("store.redis.command_timeout")) return;
  out.warning(r.where(r.idempotency.max_stored_body, "idempotency.max_stored_body"),
              show_size(most) + " is more than 20 MB/s carry within store.redis.command_timeout (" +
                  show_duration(command_timeout) + "): an answer that the store takes longer for is not kept");
}

void check_waiting(const draft& all, const route_draft& r, report& out) {
  const in_flight_config& c = r.idempotency.config.in_flight;
  if (refused(out, r, "in_flight.wait", r.idempotency.wait)) return;
  const milliseconds keep_alive = all.config.server.timeouts.keep_alive;
  const place wait_at = r.where(r.idempotency.wait, "idempotency.in_flight.wait");
  if (c.wait >= keep_alive && !out.refused("server.timeouts.keep_alive")) {
    out.error(wait_at, show_duration(c.wait) + " is not less than server.timeouts.keep_alive (" +
                           show_duration(keep_alive) + "), expected less than that");
  }
  if (refused(out, r, "in_flight.respond", r.idempotency.respond)) return;
  if (c.wait > 0ms && c.respond != in_flight_respond::wait) {
    out.error(wait_at, show_duration(c.wait) + " has no effect, expected `respond: wait` beside it");
  }
  if (c.wait == 0ms && c.respond == in_flight_respond::wait) {
    out.error(r.where(r.idempotency.respond, "idempotency.in_flight.respond"),
              "has no time to wait, expected `wait` beside it, e.g. wait: 5s");
  }
}

void check_processing(const route_draft& r, report& out) {
  const milliseconds most = r.idempotency.config.max_processing;
  const milliseconds response = r.route.response_timeout;
  if (most >= response || refused(out, r, "max_processing", r.idempotency.max_processing)) return;
  const std::string own_response = r.at.path + ".response_timeout";
  const std::string whose = r.response_timeout ? own_response : "upstream.response_timeout";
  if (out.refused(own_response) || out.refused(whose)) return;
  const bool own = r.idempotency.max_processing.has_value();
  const std::string message = "max_processing (" + show_duration(most) + (own ? "" : ", by default") +
                              ") is less than " + whose + " (" + show_duration(response) + "), expected at least that";
  // the fault is shown where a number was written
  const bool at_response = !own && r.response_timeout;
  out.error(at_response ? *r.response_timeout : r.where(r.idempotency.max_processing, "idempotency.max_processing"),
            message);
}

void check_templates(const route_draft& r, report& out) {
  if (!r.match_usable) return;
  const auto check = [&](const source& s, const place& at) {
    if (s.type != source::kind::path) return;
    const auto& segments = r.route.match.segments;
    if (std::find(segments.begin(), segments.end(), "{" + s.name + "}") != segments.end()) return;
    // the name itself may be that of a variable
    out.error(at, out.value(s.text) + " names nothing in the path of " + named(out, r) +
                      ", expected a match.path with that name in braces");
  };
  const idempotency_draft& i = r.idempotency;
  std::size_t at = 0;
  for (const auto& parts : i.config.key.from) {
    for (const source& part : parts) check(part, at < i.key_sources.size() ? i.key_sources[at] : r.at), ++at;
  }
  at = 0;
  for (const source& part : i.config.scope) check(part, at < i.scope_parts.size() ? i.scope_parts[at] : r.at), ++at;
}

/// Two requests that are wanted, and that differ in their bodies alone, would be one. The body is left out of the
/// fingerprint by each preset.
void check_fingerprint_key(const route_draft& r, report& out) {
  const idempotency_draft& i = r.idempotency;
  if (i.config.fingerprint.body != body_mode::none || i.config.mode == route_mode::off) return;
  if (refused(out, r, "fingerprint") || refused(out, r, "key") || refused(out, r, "mode")) return;
  std::size_t at = 0;
  for (const auto& parts : i.config.key.from) {
    if (parts.size() == 1 && has_fingerprint(parts)) {
      out.warning(
          at < i.key_sources.size() ? i.key_sources[at] : r.at,
          "the fingerprint is a key, yet with `fingerprint.body: none` (which presets have) requests that differ "
          "in their bodies alone are one, and the second never executes; expected `fingerprint: {body: auto}`");
    }
    at += parts.size();
  }
}

/// Where a success of a callback is defined, what is none is released whatever its status.
void check_released_successes(const route_draft& r, report& out) {
  const idempotency_config& c = r.idempotency.config;
  if (c.mode == route_mode::off || c.success.given() || refused(out, r, "statuses") || refused(out, r, "mode")) return;
  const auto& released = r.idempotency.statuses[1];
  for (const status_entry& e : released) {
    if ((e.is_class ? e.value : e.value / 100) != 2) continue;
    out.warning(e.at, "frees the key after a success, of which nothing is kept: each retry executes again");
  }
}

void check_name(const draft& all, std::size_t index, report& out) {
  const route_draft& r = all.routes[index];
  for (std::size_t earlier = 0; earlier < index; ++earlier) {
    if (r.route.name.empty() || all.routes[earlier].route.name != r.route.name) continue;
    out.error(r.name_at, out.value(r.route.name) + " is the name of " + all.routes[earlier].at.path + " on line " +
                             std::to_string(all.routes[earlier].at.line) + ", too, expected a name of its own");
    return;
  }
}

void check_reachable(const draft& all, std::size_t index, report& out) {
  const route_draft& r = all.routes[index];
  for (std::size_t earlier = 0; earlier < index; ++earlier) {
    const route_draft& first = all.routes[earlier];
    if (!first.match_usable || !r.match_usable || !first.route.match.covers(r.route.match)) continue;
    out.error(r.at, named(out, r) + " is never reached: " + named(out, first) + " on line " +
                        std::to_string(first.at.line) +
                        " takes all of its requests, expected the narrower route first");
    return;
  }
}

}  // namespace

bool refused(const report& out, const route_draft& route, std::string_view key, const std::optional<place>& given) {
  const auto in = [&](const std::string& block, std::string_view which) {
    return out.refused(block + "." + std::string(which));
  };
  const std::string own = route.at.path + ".idempotency", defaults = "defaults";
  if (in(own, key) || in(own, "preset")) return true;
  const bool given_here = given && given->path.starts_with(own + ".");
  return !given_here && (in(defaults, key) || in(defaults, "preset"));
}

void check_routes(const draft& config, report& out) {
  if (config.routes.empty() && !out.refused("routes")) {
    out.warning(config.routes_at, "there is no route: every request passes through untouched");
  }
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const route_draft& r = config.routes[i];
    check_name(config, i, out);
    check_reachable(config, i, out);
    check_lease(config, r, out);
    check_hold(r, out);
    check_stored_body(config, r, out);
    check_waiting(config, r, out);
    check_processing(r, out);
    check_templates(r, out);
    check_fingerprint_key(r, out);
    check_released_successes(r, out);
    check_scope(config, r, out);
    check_callbacks(r, out);
    check_verification(r, out);
    check_cors(r, out);
  }
}

}  // namespace idem::config
