// How far a rehearsal can be trusted: its waits held against those that really happened, job by job.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"

namespace rota::report {

struct Summary;

// Compares the waits of jobs that ended in the rehearsal and whose waits were recorded.
struct Trust {
  std::int64_t jobs = 0;
  double mean = 0;                    // seconds that they waited in the rehearsal, on average,
  double recorded = 0;                // and really
  std::optional<double> correlation;  // of the waits (Pearson); absent where either side does not vary
  double run = 0;                     // seconds that they run in the rehearsal, on average

  std::optional<double> ratio() const { return recorded > 0 ? std::optional(mean / recorded) : std::nullopt; }
  // Neither mean is a second, nor a hundredth of the mean run time: what is left is how fast a scheduler is.
  bool hardly_waits() const;
};

// Adds jobs up one by one (Welford's sums, so that long logs lose no digits).
class WaitsBeside {
 public:
  void add(Duration rehearsed, Duration recorded, Duration run);
  std::optional<Trust> conclude() const;  // nullopt: there was no such job

 private:
  std::int64_t jobs_ = 0;
  double mean_ = 0;
  double recorded_ = 0;
  double squares_ = 0;
  double recorded_squares_ = 0;
  double products_ = 0;
  double run_ = 0;
};

// How well the rehearsal of what a site has meets what it recorded.
enum class Likeness : std::uint8_t {
  close,  // mean wait within 5 %, and a correlation of at least 0.9
  rough,  // within 10 %, and at least 0.8
  poor,
  unknown,  // too little waiting: none to speak of, or all jobs waited alike and the means are within 5 %
};
Likeness likeness(const Trust& trust);

// The rehearsal of what the site has now that comes nearest to what was recorded, in whatever order the rows stand;
// nullptr: none has it, or nothing was recorded.
const Summary* row_of_site(std::span<const Summary> summaries);

// That one does not meet what really happened: then no other row is worth more, and none is to be recommended.
bool cannot_be_trusted(std::span<const Summary> summaries);
// Then in place of a recommendation: that, by how much, and what is known to be missing.
std::vector<std::string> distrust_sentences(std::span<const Summary> summaries);

// How far each rehearsal is from what was recorded, as a sentence; "" where that is not known.
std::string beside_text(std::span<const Summary> summaries);

// Sentences for people about the rehearsals of one workload; "" where nothing was recorded to hold them against.
std::string trust_text(std::span<const Summary> summaries);

}  // namespace rota::report
