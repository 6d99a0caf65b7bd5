// The answer that an operator gives a key: made of the command line, and judged before anything is stored, since every
// retry gets it as it stands.
#pragma once

#include <string>

#include "app/key_command.hpp"

namespace idem::app {

struct key_answer {
  std::string block;  ///< reason CRLF, then `Name: value` CRLF for each line
  std::string body;
};

/// Empty, or why the answer cannot be stored: which option, which header, and what is wrong with it.
std::string make_answer(const key_request& q, key_answer& out);

}  // namespace idem::app
