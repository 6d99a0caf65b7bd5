// What stands in the store under a name of ours and is no record of this version is left alone, and somebody must know.
#pragma once

#include "idem/config/config.hpp"
#include "proxy/claim.hpp"

namespace idem::proxy {

/// Logs the route and the name of a foreign record that the claim found; at most one in ten seconds, however many
/// requests come upon it, since after a change of versions there may be many.
void warn_if_foreign(const claim& c, const config::route& route);

}  // namespace idem::proxy
