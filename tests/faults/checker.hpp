// The judge of histories: the six invariants of docs/protocol.md, "Invariants that tests check on histories".
#pragma once

#include <string>
#include <vector>

#include "faults/history.hpp"

namespace idem::test {

struct violation {
  int invariant = 0;     ///< 1 … 6
  std::string identity;  ///< for story_of(); empty where a record's request is not known
  std::string what;
};

/// All violations, in order of the invariants; empty if the history is as promised.
std::vector<violation> check(const history& h);

/// One of this invariant is among them.
bool violates(const std::vector<violation>& found, int invariant);

/// The violations and the stories of the keys that they are about, the first few of each.
std::string report(const history& h, const std::vector<violation>& found);

}  // namespace idem::test
