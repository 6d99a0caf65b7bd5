// Standard error as spdlog writes to it here: without stdio, whose lock a write would hold for as long as nobody reads,
// and which the end of a process takes. So exit() ends one whose log is stuck, and all that is done at an exit is done.
#pragma once

#include <spdlog/sinks/base_sink.h>

#include <mutex>

namespace idem::telemetry {

/// Any thread may log; one waits for another, and for standard error. What that does not take, because nobody can read
/// it any more, is lost.
class stderr_sink final : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}  // nothing is kept
};

}  // namespace idem::telemetry
