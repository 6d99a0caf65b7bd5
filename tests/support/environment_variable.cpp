#include "support/environment_variable.hpp"

#include <cstdlib>
#include <utility>

namespace idem::test {
namespace {

std::optional<std::string> value_of(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace

environment_variable::environment_variable(std::string name) : name_(std::move(name)), before_(value_of(name_)) {
  ::unsetenv(name_.c_str());
}

environment_variable::environment_variable(std::string name, const std::string& value)
    : environment_variable(std::move(name)) {
  set(value);
}

environment_variable::~environment_variable() {
  if (before_)
    set(*before_);
  else
    ::unsetenv(name_.c_str());
}

void environment_variable::set(const std::string& value) const { ::setenv(name_.c_str(), value.c_str(), 1); }

}  // namespace idem::test
