// The outcome table with one lie in it: a call that brought no whole answer is taken for one that never happened, as
// proxies do that drop their lock on a timeout or a reset. Only the program idempotency-proxy-planted is made of it.
#ifndef IDEM_PLANT_RELEASE_ON_FAILURE
#error "this is no part of the product"
#endif

#include "idem/idempotency/outcome.hpp"

#define settle_without_answer settle_without_answer_as_specified
namespace idem::idempotency {
settlement settle_without_answer(bool bytes_written);
}
#include "idempotency/outcome.cpp"
#undef settle_without_answer

namespace idem::idempotency {

settlement settle_without_answer(bool) { return settlement::release; }

}  // namespace idem::idempotency
