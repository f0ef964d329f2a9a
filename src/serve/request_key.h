// What a client calls a request, so that it is done once if it comes twice.
#pragma once

#include <cstdint>
#include <string>

namespace rota::serve {

struct RequestKey {
  std::string text;    // no line breaks; empty: nothing
  std::string digest;  // of the whole request
};
enum class Keyed : std::uint8_t { jobs, reservation };

// Before a key: it stands for a reservation, by its id, and for no job.
inline constexpr const char* kKeyOfReservation = "reservation\n";

}  // namespace rota::serve
