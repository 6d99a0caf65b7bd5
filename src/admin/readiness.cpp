#include "idem/admin/admin.hpp"

namespace idem::admin {

std::string readiness::text() const {
  std::string out = ready() ? "ready" : "not ready:";
  if (!listening)
    out += " not listening";
  else if (draining)
    out += " draining";
  else if (!ready())
    out += " the store is down";
  out += "\nstore: ";
  out += store_up ? "up" : "down";
  if (!requires_store) out += " (not required)";
  out += '\n';
  return out;
}

}  // namespace idem::admin
