#include <unordered_set>

#include "idem/store/names.hpp"
#include "store/redis/inquiry.hpp"
#include "store/redis/resp_writer.hpp"
#include "store/redis/server_error.hpp"

namespace idem::store {
namespace redis {
namespace {

/// A pattern of Redis that only `text` matches.
std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("*?[]^\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

class name_scan {
 public:
  explicit name_scan(const shared_parts& parts)
      : server_(parts), prefix_(parts.settings.key_prefix + "{"), pattern_(literal(prefix_) + "*}") {}

  /// The next names, of which there may be none. False: there are no more, or fault() says why they do not come.
  bool next(std::vector<std::string>& names);
  const std::string& fault() const { return fault_; }

 private:
  bool fail(std::string why);
  bool is_new_record(const std::string& name);

  inquiry server_;
  const std::string prefix_, pattern_;
  std::string cursor_ = "0", fault_;
  bool began_ = false;
  std::unordered_set<std::string> seen_;  ///< SCAN may tell a name again
};

bool name_scan::next(std::vector<std::string>& names) {
  names.clear();
  if (std::exchange(began_, true) && cursor_ == "0") return false;
  std::string question;
  append_command(question, {"SCAN", cursor_, "MATCH", pattern_, "COUNT", "100"});
  auto replies = server_.ask(std::move(question), 1);
  if (replies.empty()) return fail(server_.reason());
  auto& page = replies.front();
  if (page.is(resp_type::error)) {
    return fail(classify(page.text) == server_error::denied ? "the user may not SCAN" : "it refuses SCAN");
  }
  if (!page.is(resp_type::array) || page.items.size() != 2 || !page.items[1].is(resp_type::array)) {
    return fail("it does not answer to SCAN as Redis does");
  }
  cursor_ = std::move(page.items[0].text);
  for (auto& name : page.items[1].items) {
    if (is_new_record(name.text)) names.push_back(std::move(name.text));
  }
  return true;
}

bool name_scan::fail(std::string why) {
  fault_ = std::move(why);
  return false;
}

bool name_scan::is_new_record(const std::string& name) {
  constexpr std::size_t hash = 43;
  return name.size() == prefix_.size() + hash + 1 && seen_.insert(name).second;
}

}  // namespace
}  // namespace redis

std::string each_record_name(const config::redis_config& settings,
                             const std::function<bool(std::span<const std::string>)>& take) {
  redis::shared_parts parts(settings);
  parts.tls = redis::make_tls_context(settings);
  if (parts.tls && !parts.tls->fault.empty()) return parts.tls->fault;
  redis::name_scan scan(parts);
  std::vector<std::string> names;
  while (scan.next(names)) {
    if (!names.empty() && !take(names)) return {};
  }
  if (scan.fault().empty()) return {};
  return "the store at " + redis::shown_address(settings.address) + " does not tell its names: " + scan.fault();
}

}  // namespace idem::store
