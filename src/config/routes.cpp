// The blocks `routes` and `defaults`.
#include <algorithm>

#include "config/draft.hpp"
#include "config/source.hpp"
#include "idem/text/ascii.hpp"

namespace idem::config {
namespace {

idempotency_draft built_in() {
  idempotency_draft draft;
  draft.config.key.from = {{source{source::kind::header, "Idempotency-Key", "header:Idempotency-Key"}}};
  draft.config.scope = {source{source::kind::credential, "", "credential"}};
  return draft;
}

void read_name(const section& block, route_draft& to) {
  to.name_at = block.where("name");
  if (!block.find("name")) {
    if (block.refused("name")) return;
    block.out().error(to.name_at, "is missing, expected a name of letters a-z, digits and -");
    return;
  }
  const auto value = block.text("name", "a name of letters a-z, digits and -");
  if (!value) return;
  const bool fine = !value->text.empty() && value->text.size() <= 64 &&
                    std::all_of(value->text.begin(), value->text.end(),
                                [](char c) { return (c >= 'a' && c <= 'z') || text::is_digit(c) || c == '-'; });
  if (!fine)
    block.out().error(value->at, value->shown + " is no name of a route, expected 1 to 64 letters a-z, digits and -");
  // kept although faulty, so that other messages can name the route
  to.route.name = value->text;
}

/// What routes begin with.
struct inherited {
  idempotency_draft defaults = built_in();
  idempotency_draft without_preset = built_in();  ///< for routes that say `preset: ""`
};

inherited read_defaults(const section& block) {
  inherited read;
  read_idempotency(block, read.defaults);
  read_settings(block, read.without_preset);
  return read;
}

bool undoes_preset(const section& idempotency) {
  const auto value = idempotency.text("preset", "the name of a sender, such as stripe");
  return value && value->text.empty();
}

route_draft read_route(const section& block, const inherited& from, milliseconds response_timeout) {
  route_draft to;
  to.at = block.at();
  const section own = block.child("idempotency", schema::idempotency);
  to.idempotency = undoes_preset(own) ? from.without_preset : from.defaults;
  read_name(block, to);
  const std::size_t errors = block.out().errors();
  read_match(block.child("match", schema::match), to.route.match);
  to.match_usable = errors == block.out().errors();
  read_idempotency(own, to.idempotency);
  to.route.response_timeout = response_timeout;
  if (block.duration("response_timeout", to.route.response_timeout, {1ms, 24h})) {
    to.response_timeout = block.where("response_timeout");
  }
  idempotency_config& config = to.idempotency.config;
  if (!to.idempotency.hold_given) config.hold = config.retention;
  if (!to.idempotency.name_space_given) config.name_space = to.route.name;
  to.route.idempotency = config;
  return to;
}

}  // namespace

void read_routes(const section& file, draft& out) {
  const inherited from = read_defaults(file.child("defaults", schema::idempotency));
  out.routes_at = file.where("routes");
  const tree_node* list = file.find("routes");
  if (!list || list->type == tree_node::kind::null) return;
  list = file.list("routes", "routes, each with at least a name");
  if (!list) return;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const tree_node& node = list->items[i];
    const section block(file.out(), &node, {node.line, node.column, "routes[" + std::to_string(i) + "]"},
                        schema::route);
    // what is wrong with it was said, and there is nothing to read
    if (node.type == tree_node::kind::scalar || node.type == tree_node::kind::list) continue;
    out.routes.push_back(read_route(block, from, out.config.upstream.response_timeout));
  }
}

}  // namespace idem::config
