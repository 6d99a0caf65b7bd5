// The table of docs/protocol.md, "Errors". Where a flag depends on the situation (the attempt, the guarantee, lapsed or
// declared) the row holds the careful value, so that forgetting to decide never invites a second execution.
#include <iterator>

#include "idem/idempotency/problem.hpp"

namespace idem::idempotency {
namespace {

constexpr problem_row rows[] = {
    {"missing-key", 400, "An idempotency key is required",
     "This operation is only accepted with an idempotency key. Send the request again with one, and use that same key "
     "for each retry of it.",
     false, true},
    {"malformed-key", 400, "The idempotency key is not acceptable",
     "Send exactly one key of printable ASCII characters, within the length and format that this operation asks for; "
     "a key that holds spaces, commas, semicolons or quotes must stand in double quotes.",
     false, true},
    {"missing-scope", 400, "The caller cannot be told apart from others",
     "Send a credential that stays the same on each retry, in Authorization or X-Api-Key. If this API identifies its "
     "callers in another way, ask its operator to name that in the scope of this route.",
     false, true},
    {"request-too-large", 413, "The request body is too large",
     "The body is larger than this operation accepts, and nothing was executed. Send a smaller one.", false, true},
    {"malformed-request", 400, "The request is not valid HTTP",
     "The request could not be read without ambiguity and was not forwarded. Correct how it is written before sending "
     "it again.",
     false, true},
    {"head-too-large", 431, "The request head is too large",
     "The request line or the header fields are larger than what is accepted, and nothing was executed. Send fewer or "
     "shorter ones.",
     false, true},
    {"request-timeout", 408, "The request did not arrive in time",
     "The request arrived too slowly and was not forwarded. Send it again, whole and without pauses.", true, true},
    {"key-reused", 422, "The idempotency key belongs to another request",
     "This key was first used with a different request. To repeat that request, send it unchanged; for a new "
     "operation, use a key of its own.",
     false, false},
    {"fingerprint-unknown", 409, "The requests cannot be compared",
     "The first request with this key was recorded under other comparison settings, so that it cannot be told whether "
     "this one is the same. Ask the application what became of the first one; do not use a new key before you know.",
     false, false},
    {"in-progress", 409, "The first request is still running",
     "A request with this key is being executed at this moment. Wait as long as Retry-After says and then send the "
     "same request with the same key.",
     true, false},
    {"outcome-unknown", 409, "The outcome of the first request is unknown",
     "The first request may have been executed, but its answer was lost. Ask the application whether it took effect; "
     "do not send it with a new key, since that could execute it a second time.",
     false, false},
    {"answer-not-kept", 409, "The request is done, its answer was not kept",
     "The first request with this key was executed, and its answer cannot be repeated. Read the result from the "
     "application; do not send the request with a new key.",
     false, false},
    {"busy", 503, "Too many requests are running",
     "Nothing was executed. Wait a moment and then send the same request with the same key.", true, true},
    {"store-unavailable", 503, "Idempotency cannot be assured at this moment",
     "The record of this key could not be read or written. Keep the key, wait as long as Retry-After says and then "
     "send the same request again.",
     true, false},
    {"upstream-unavailable", 502, "The application cannot be reached",
     "The application could not be reached, and nothing was sent to it this time. Send the same request with the same "
     "key again later.",
     true, false},
    {"upstream-failed", 502, "The application gave no whole answer",
     "The request was sent, but the connection ended before a whole answer came, and it may have been executed. Ask "
     "the application whether it took effect; do not send it with a new key.",
     false, false},
    {"upstream-timeout", 504, "The application has not answered in time",
     "The application is still at work on the request, and its answer is kept if it comes. Send the same request with "
     "the same key later to get it; do not use a new key.",
     true, false},
    {"bad-signature", 401, "The signature of the request does not verify",
     "This endpoint takes requests that are signed with its secret only. Check the secret and the clock; the request "
     "was "
     "not forwarded.",
     false, true},
};
static_assert(std::size(rows) == problem_code_count);

}  // namespace

const problem_row& row(problem_code code) { return rows[static_cast<std::size_t>(code)]; }

}  // namespace idem::idempotency
