// Boost.Asio's own functions, compiled here once (cmake/options.cmake).
#include <boost/asio/impl/src.hpp>
