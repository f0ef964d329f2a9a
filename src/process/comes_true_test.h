// How a test waits for what an event loop brings.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>

namespace rota {

// Lets events come until it is so; minutes without are a failure of the test.
inline bool comes_true(boost::asio::io_context& io, const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(4);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    io.restart();
    io.run_one_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace rota
