// What an operator does to one record: a compare-and-set on the state that was shown, never on what stands there by
// now.
#pragma once

#include <string>
#include <string_view>

#include "app/key_answer.hpp"
#include "app/key_command.hpp"
#include "app/key_record.hpp"

namespace idem::app {

class key_change {
 public:
  /// All of them must outlive the change; `seen` becomes what stands there after a step.
  key_change(key_store& store, const key_request& q, const config::idempotency_config& route, const std::string& name,
             seen_record& seen);

  /// P → R, U → free. The exit code, after a message.
  int release();
  /// U or a lapsed P → the answer. The exit code, after a message.
  int resolve(const key_answer& answer);

 private:
  int try_release();
  int try_resolve(const key_answer& answer);
  int revoke();
  int make_unknown();
  /// @param state_after the letter of the record that the step leaves, for the log
  int run(store::command c, std::string state_after);
  void audit(std::string_view what) const;

  key_store& store_;
  const key_request& q_;
  const config::idempotency_config& route_;
  const std::string& name_;
  seen_record& seen_;
  const std::string before_;
  std::string after_;       ///< what the last step left that was surely taken; empty: none was
  bool uncertain_ = false;  ///< whether the last step was taken is not known
};

}  // namespace idem::app
