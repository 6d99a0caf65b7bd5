#include "store/redis/server_error.hpp"

#include <array>
#include <utility>

namespace idem::store::redis {
namespace {

constexpr std::array<std::pair<std::string_view, server_error>, 20> words{{
    {"OOM", server_error::full},
    {"MISCONF", server_error::refused},
    {"NOREPLICAS", server_error::refused},
    {"NOSCRIPT", server_error::no_script},
    {"WRONGTYPE", server_error::wrong_type},
    {"EXECABORT", server_error::aborted},
    {"READONLY", server_error::read_only},
    {"NOAUTH", server_error::no_auth},
    {"WRONGPASS", server_error::no_auth},
    {"NOPERM", server_error::denied},
    {"LOADING", server_error::not_serving},
    {"MASTERDOWN", server_error::not_serving},
    {"CLUSTERDOWN", server_error::not_serving},
    {"MOVED", server_error::not_serving},
    {"ASK", server_error::not_serving},
    {"TRYAGAIN", server_error::not_serving},
    {"CROSSSLOT", server_error::not_serving},
    {"BUSY", server_error::not_serving},
    {"DENIED", server_error::not_serving},
    {"NOPROTO", server_error::not_serving},
}};

/// Denied inside of a script, and by EXEC: no version has the word in front.
constexpr std::array<std::string_view, 3> denials{"The user executing the script", "ACL failure in script",
                                                  "EXECABORT Transaction discarded because of: NOPERM"};

}  // namespace

server_error classify(std::string_view error) {
  for (const auto& text : denials)
    if (error.find(text) != std::string_view::npos) return server_error::denied;
  const auto word = error.substr(0, error.find(' '));
  for (const auto& [text, kind] : words)
    if (word == text) return kind;
  return server_error::unknown;
}

bool surely_not_executed(server_error e) { return e != server_error::unknown; }

}  // namespace idem::store::redis
