// Boost.Asio's own functions for TLS, compiled here once (cmake/options.cmake).
#include <boost/asio/ssl/impl/src.hpp>
