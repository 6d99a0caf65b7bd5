// The program: command line, start, signals, reload, drain.
#pragma once

namespace idem::app {

/// Exit codes of the program; the `key` commands have their own (src/app/key_command.hpp).
enum exit_code : int { ok = 0, invalid_configuration = 1, usage = 2, cannot_start = 3 };

/// Runs the command that the arguments name; returns the exit code.
int main(int argc, char** argv);

}  // namespace idem::app
