// Where a service listens on TCP: "host:port" as addresses.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace rota::api {

// "127.0.0.1:8443", "[::1]:8443", "box.example:8443", "localhost:0"; all that a name stands for, each once. Fails with
// a sentence.
Result<std::vector<boost::asio::ip::tcp::endpoint>> endpoints_of(boost::asio::io_context& io,
                                                                 const std::string& listen);

// The peer that is at an address, of which there is a limited number: the address itself, and for IPv6 the network of
// 2^64 of them that one machine has as its own.
std::string peer_at(const boost::asio::ip::address& address);

std::string shown_endpoint(const boost::asio::ip::tcp::endpoint& endpoint);  // "[::1]:8443"

// The address for a browser of a service that listens at `listen`, of which the first is `address`:
// "https://box.example:8443". Where that is any address of this computer, its name stands there.
std::string browser_address(const std::string& listen, const std::string& address);

// The sentence where any computer on the way could read tokens and scripts.
std::string needs_tls(const std::string& listen);

}  // namespace rota::api
