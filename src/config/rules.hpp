// What must hold between several values of a configuration. Each rule has its own message.
#pragma once

#include "config/draft.hpp"
#include "config/report.hpp"

namespace idem::config {

/// Whether the value of `key` of the route's idempotency block was refused where it comes from: in the block itself, in
/// its preset or in `defaults`. Rules then say nothing of the value that is in force instead.
/// @param given where the value in force was given, if that is known
bool refused(const report& out, const route_draft& route, std::string_view key,
             const std::optional<place>& given = std::nullopt);

/// Names, shadowing, and everything about one route's block.
void check_routes(const draft& config, report& out);

/// Scopes: who shares answers with whom.
void check_scope(const draft& config, const route_draft& route, report& out);

/// Callbacks and DELETEs: whether the times fit the sender, and whether what is asked for can have an effect.
void check_callbacks(const route_draft& route, report& out);

/// Tokens and signatures: what is needed to verify them.
void check_verification(const route_draft& route, report& out);

/// Who may read the proxy's own answers: what browsers would refuse.
void check_cors(const route_draft& route, report& out);

/// What a process that was started with `running` keeps until it ends must fit what it takes up of `config`: the time
/// limit of its store's commands the leases, and the addresses that it listens on the upstream.
void check_against_running(const draft& config, const snapshot& running, report& out);

/// Addresses that collide or would make the proxy call itself; what the store and the upstream cannot promise.
void check_environment(const draft& config, report& out);

}  // namespace idem::config
