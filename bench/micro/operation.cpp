#include "operation.hpp"

#include <algorithm>
#include <utility>

namespace idem::bench {
namespace {

std::vector<operation>& list() {
  static std::vector<operation> all;
  return all;
}

}  // namespace

listed::listed(std::string name, std::function<action()> make) { list().push_back({std::move(name), std::move(make)}); }

std::vector<operation> operations() {
  auto all = list();
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

}  // namespace idem::bench
