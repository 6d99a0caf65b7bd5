// An environment variable for the time of a test: afterwards it is as it was before.
#pragma once

#include <optional>
#include <string>

namespace idem::test {

/// Nobody else may read or change the environment meanwhile: setenv() is not safe beside other threads.
class environment_variable {
 public:
  explicit environment_variable(std::string name);  ///< not set
  environment_variable(std::string name, const std::string& value);
  ~environment_variable();
  environment_variable(const environment_variable&) = delete;
  environment_variable& operator=(const environment_variable&) = delete;

  void set(const std::string& value) const;

 private:
  const std::string name_;
  const std::optional<std::string> before_;
};

}  // namespace idem::test
