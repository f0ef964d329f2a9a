// On which nodes the jobs of a log ran: host lists such as "n[1-3,7]", of which each text is kept once and has a
// number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rota::log {

class NodeLists {
 public:
  // From 1; the same text has the same number. 0: it is no host list (base/text.h), or there are too many. O(text)
  std::uint32_t number_of(std::string_view list);
  // The list with a number from 1 to size(), as it was told; valid until the next number_of().
  std::string_view text(std::uint32_t number) const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }

 private:
  std::size_t slot_of(std::string_view list) const;
  void grow();

  std::string texts_;                 // one behind the other
  std::vector<std::size_t> ends_;     // of each
  std::vector<std::uint32_t> slots_;  // numbers by hash, at most half of them taken; 0: free
};

}  // namespace rota::log
