// Boost.JSON's bodies, for this test program alone: the module itself does not link the library.
#include <boost/json/src.hpp>
