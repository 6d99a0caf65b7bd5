// The engine: what happens next to one key for one request (docs/protocol.md, "Transitions" and "What a duplicate
// gets").
//
// A small resumable machine. It performs nothing: it says what to do next, and is told what came of it. Unit tests
// drive it without a socket, a clock or a store. One object for each request; used by one thread at a time.
//
//   start() → submit → resume(reply) → submit … → execute | replay | refuse | wait | bypass
//   execute: get a connection to the backend, then may_send() until it says yes (renewing when it says so), then send
//   then exactly one of complete(), release(), declare() → submit → resume(reply) → settled
//   while the call runs: renew_command() every third of the lease, its reply to renewed()
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/idempotency/execution_times.hpp"
#include "idem/idempotency/problem.hpp"
#include "idem/idempotency/record.hpp"
#include "idem/idempotency/transition.hpp"
#include "idem/net/lease_clock.hpp"

namespace idem::idempotency {

/// Computes the request's fingerprint under other settings than its route's, for records that were made under those.
class fingerprint_source {
 public:
  virtual ~fingerprint_source() = default;
  /// Nothing if this process does not know those settings.
  virtual std::optional<fingerprint> under(std::uint16_t version, std::uint32_t settings) = 0;
};

enum class next : std::uint8_t {
  submit,       ///< run pending(), give its reply to resume()
  execute,      ///< the key is owned
  replay,       ///< answer with found()
  status_only,  ///< answer with found()'s status and header lines, without its body
  refuse,       ///< answer with refusal()
  wait,         ///< another attempt runs, and the route lets duplicates wait: refuse with refusal() at the deadline
  bypass,       ///< no record could be read, and the route allows to go on without
  settled       ///< see settlement_result()
};

/// Whether there is a place for one more call (max_in_flight). Without one nothing is claimed and nothing taken over: a
/// record is looked at and answered from, and what would execute is refused as busy.
enum class room : std::uint8_t { yes, no };

enum class settled_as : std::uint8_t {
  stored,     ///< the record says what was asked for
  recreated,  ///< the same, but the record had vanished meanwhile: the store lost it
  /// Another final record of this very attempt stood there (an operator resolved it): found() is the answer.
  already,
  superseded,  ///< another attempt's record stands there: found() if it can be read
  not_stored   ///< the store did not take it in time; the same command can be tried again later
};

/// An answer to be stored.
struct answer {
  unsigned status = 0;
  std::string_view header_block;  ///< reason CRLF, header lines; hop-by-hop and dropped names removed
  std::string_view body;
};

class engine {
 public:
  using clock = net::lease_clock;

  struct setup {
    const config::idempotency_config* route = nullptr;  ///< must outlive the engine
    std::string name;                                   ///< of the record
    fingerprint print;
    fingerprint_source* others = nullptr;  ///< may be null; asked within resume() and answer_found() only
    /// Of the route, for Retry-After; may be null, else must outlive the engine.
    const execution_times* times = nullptr;
    bool notify = false;       ///< the route lets duplicates wait
    milliseconds lifetime{0};  ///< not 0: retention and hold in place of the route's
  };

  explicit engine(setup s);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// First step, and again after next::wait: a new claim with a new token.
  /// @param unix_ms the wall clock, only for `created` and Retry-After
  next start(clock::time_point now, std::int64_t unix_ms, room place = room::yes);
  /// Leases could not be renewed, `last` at the latest: for one lease from then, the route's or the found record's,
  /// nothing is taken over, and a lapsed P is answered as in progress. Told before each resume(): a claim that waited
  /// for a connection is answered after that was made, and trouble ends no earlier.
  void store_was_troubled(clock::time_point last) { troubled_ = std::max(troubled_, last); }

  next resume(reply r, clock::time_point now, std::int64_t unix_ms);

  const command& pending() const { return command_; }
  const decoded_record& found() const { return found_; }
  /// It is not needed any more: what goes on with this engine must not hold an answer of megabytes.
  void forget_found();
  const problem& refusal() const { return *refusal_; }

  // -- while owned ------------------------------------------------------------------------------------------------

  const owner& own() const { return owner_; }
  bool taken_over() const { return owner_.attempt > 1; }

  /// Before the first byte is sent. False: submit renew_before_send() first, feed resume(), ask again.
  bool may_send(clock::time_point now) const;
  next renew_before_send(clock::time_point now);

  /// What is gone of the lease for certain: since the first try of the claim, or the last acknowledged renewal. All of
  /// it once a renewal has found another's record.
  milliseconds lease_used(clock::time_point now) const { return now - clock_; }
  /// The periodic renewal, one at a time. The command stays valid until the next call. `renewed` tells whether to go on
  /// renewing.
  const command& renew_command(clock::time_point now);
  bool renewed(const reply& r, clock::time_point now);

  /// Exactly one of these once the outcome is known; X may be followed by declare() if the route is at_least_once.
  next complete(record_state state, const answer& a);
  next release();
  next declare();
  /// The same command again, after settled_as::not_stored.
  next settle_again();
  /// The same for a caller who has nobody to answer any more: the record of others is not read, found() stays empty.
  next settle_unheard();
  /// The same for an answer that does not get through to the store: X in its place, done and without a body.
  next settle_without_body();
  settled_as settlement_result() const { return settled_; }
  /// Of not_stored: the command was sent and had no reply. False where the store was away, or refused.
  bool settlement_unanswered() const { return settlement_unanswered_; }
  /// After settled_as::already or superseded, when the client has no answer yet: what the record that stands there
  /// means for it. Never submit, never execute.
  next answer_found();
  /// settled_as::already or superseded: others had the key meanwhile.
  bool lost_its_key() const { return settled_ == settled_as::already || settled_ == settled_as::superseded; }
  /// Whether the record that stands there then is an answer, with its body or without.
  bool found_answer() const;

  // -- afterwards -------------------------------------------------------------------------------------------------

  /// A token that is given up while a command of it had no reply: that command may still land, so the token is
  /// released again and again until a lease has passed since then.
  struct abandoned {
    owner token;
    clock::time_point until;
  };
  /// The current token will not be used any more: refused, replayed, released. Adds it to abandoned_tokens() if needed.
  void give_up();
  const std::vector<abandoned>& abandoned_tokens() const { return abandoned_; }
  /// The same, for a caller that sees to them from now on: the list is empty afterwards.
  std::vector<abandoned> take_abandoned_tokens() { return std::exchange(abandoned_, {}); }
  /// The release of such a token; valid until the next call. Its reply needs no look.
  const command& repeated_release(const owner& token);

  const std::string& name() const { return setup_.name; }
  const config::idempotency_config& route() const { return *setup_.route; }
  milliseconds retention() const { return setup_.lifetime > milliseconds(0) ? setup_.lifetime : route().retention; }
  milliseconds hold() const { return setup_.lifetime > milliseconds(0) ? setup_.lifetime : route().hold; }
  bool store_was_read() const { return read_; }    ///< a record was found at least once
  bool found_foreign() const { return foreign_; }  ///< what stands there is no record of ours, and is left alone
  bool record_vanished() const { return vanished_; }

 private:
  enum class phase : std::uint8_t { idle, claiming, looking, taking_over, owned, renewing, settling, ended };

  next on_reply(reply& r, clock::time_point now);
  next submit_claim(clock::time_point now);
  next on_claim(reply& r, clock::time_point now);
  next on_found(reply& r, bool confirmed, clock::time_point now);
  next on_look(reply& r, clock::time_point now);
  next on_take_over(reply& r, clock::time_point now);
  next on_renewed_before_send(reply& r, clock::time_point now);
  next on_settled(reply& r, clock::time_point now);
  bool landed_before(const reply& r) const;
  next look(clock::time_point now);
  next decide_processing(std::int64_t ttl, bool confirmed, clock::time_point now);
  next by_state(std::int64_t ttl, bool confirmed, clock::time_point now);
  bool repeatable() const;
  next decide_unknown(bool lapsed, clock::time_point now);
  next take_over(clock::time_point now);
  next claim_again(clock::time_point now);
  next start_over(clock::time_point now);
  next store_gone(bool may_bypass);
  next leave_foreign();
  clock::time_point grace_until() const;
  next in_progress(std::optional<milliseconds> left);
  next outcome_unknown(bool lapsed);
  next refuse(problem p);
  next settle(op what, milliseconds ttl);
  std::optional<next> compare_fingerprint();
  void own(owner o);
  void unanswered(const reply& r, clock::time_point now);
  void make(std::string& into, record_state state, const owner& o, const answer& a = {}) const;
  next submit(const command& c, phase waiting_for, clock::time_point now);
  /// A command for the owner whose text stands in `record`, which is what it writes.
  command own_command(op what, std::string_view record, milliseconds ttl) const;
  /// How long a P lives: its lease, and the time that it is held when that has lapsed.
  milliseconds life_of_claim() const { return setup_.route->lease + hold(); }

  setup setup_;
  phase phase_ = phase::idle;
  command command_, renew_, repeat_;
  owner owner_;
  std::vector<abandoned> abandoned_;
  std::string value_, expect_, renew_value_, repeat_value_;  ///< a record's own text holds its owner's
  decoded_record found_;
  std::string found_text_;
  std::optional<problem> refusal_;
  settled_as settled_ = settled_as::not_stored;
  /// From when the lease may be trusted: the first try of the claim, or an acknowledged renewal.
  clock::time_point clock_{};
  clock::time_point sent_at_{};  ///< when the pending command was made
  clock::time_point renew_sent_{};
  clock::time_point troubled_{};                      ///< when leases last could not be renewed; its epoch if never
  std::optional<clock::time_point> last_unanswered_;  ///< no later than then was such a command of the token sent
  std::int64_t unix_ms_ = 0;
  std::int64_t created_ = 0;
  unsigned tries_ = 0;             ///< claims that found nothing
  unsigned unanswered_tries_ = 0;  ///< claims without a reply
  unsigned rounds_ = 0;            ///< steps in all
  room place_ = room::yes;
  bool read_ = false;
  bool foreign_ = false;
  bool vanished_ = false;
  bool renewal_under_way_ = false;
  bool releasing_ = false;  ///< the last settling command was a release
  bool settlement_unanswered_ = false;
};

}  // namespace idem::idempotency
