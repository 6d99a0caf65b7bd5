// Noticing peers that are gone without a word: a machine that lost its power, a connection that a router forgot.
#pragma once

#include <chrono>

namespace idem::net {

/// After `silence` without a byte the kernel asks the peer whether it is still there (RFC 9293 §3.8.4), three times,
/// five seconds apart; without an answer the connection fails as if it had been reset. Does nothing on unix sockets,
/// whose peers cannot vanish.
void probe_when_silent(int descriptor, std::chrono::seconds silence);

}  // namespace idem::net
