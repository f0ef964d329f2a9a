// What Rota may do to a cluster that another resource manager runs: each mechanism has a mode on each partition. A face
// of live engines (LiveEngine::mandates). All calls come from the thread of the event loop, and none waits.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota {

enum class Mode : std::uint8_t {
  off,      // nothing is worked out
  observe,  // it is counted what would be changed
  advise,   // it is shown
  act,      // it is done
};
inline constexpr std::array<std::string_view, 4> kModeNames{"off", "observe", "advise", "act"};
constexpr const auto& names_of(Mode) { return kModeNames; }
constexpr std::string_view name_of(Mode mode) { return kModeNames[static_cast<std::size_t>(mode)]; }

// One mechanism on one partition. Times are Unix seconds.
struct Mandate {
  std::string mechanism;  // "order"
  std::string partition;
  Mode mode = Mode::off;
  std::string rule = {};   // of "order": the order of a policy, as "sjf"
  std::int64_t until = 0;  // acts no longer than that; 0: has no end
  std::uint32_t by = 0;    // the user who set it,
  std::int64_t since = 0;  // and when
  std::string grant = {};  // drawn anew for each time that it is to act, and named by all that is written; else empty
  std::string fell = {};   // why it stopped acting by itself, as a sentence; empty: it did not

  bool operator==(const Mandate&) const = default;
};

class Mandates {
 public:
  struct Wish {
    std::string mechanism;
    std::vector<std::string> partitions;
    Mode mode = Mode::off;
    std::string rule = {};
    std::int64_t until = 0;
    std::uint32_t by = 0;
  };
  // A job that would be given another place.
  struct Advice {
    std::string job;  // as the manager names it
    std::string partition;
    std::int64_t place = 0, wanted = 0;  // in the partition, from 1 on
    std::int64_t factor = 0, to = 0;     // what is added to its priority, now and then
  };
  struct Report {
    std::vector<Mandate> mandates;
    std::vector<Advice> advice;  // by partition and wanted place, of those that observe, advise or act
    std::int64_t looked = 0;     // Unix seconds of when that was worked out; 0: not yet
    std::int64_t written = 0;    // factors, in this life of the service
    std::string trouble = {};    // why nothing could be worked out or written the last time; empty: it could
  };
  using Call = std::function<void(const Result<void>&)>;

  virtual ~Mandates() = default;
  // Fails with a sentence, and nothing has changed; answered once it is durable, later. One at a time.
  virtual void set(Wish wish, Call call) = 0;
  virtual Report report() const = 0;
};

}  // namespace rota
