// How evenly users, or groups, are served: Jain's index of their mean bounded slowdowns (Jain, Chiu, Hawe 1984).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace rota::report {

struct Fairness {
  std::int64_t parties = 0;     // users, or groups, whose jobs ended
  std::optional<double> index;  // 1: all are served alike; 1 / parties: one bears it all. Absent for fewer than two
  std::optional<double> worst;  // the highest mean bounded slowdown of one
};

// Adds jobs up by user or group; UINT32_MAX is no known party and counts for nothing.
class FairnessTally {
 public:
  // One job, or so many with their slowdowns added up.
  void add(std::uint32_t party, double slowdown, std::int64_t jobs = 1) {
    if (party < low_.size()) {
      low_[party].add(slowdown, jobs);
    } else if (party != UINT32_MAX) {
      add_beyond(party, slowdown, jobs);
    }
  }
  Fairness conclude() const;

 private:
  struct Sum {
    std::int64_t jobs = 0;
    double slowdown = 0;

    void add(double of_jobs, std::int64_t more) {
      jobs += more;
      slowdown += of_jobs;
    }
  };
  void add_beyond(std::uint32_t party, double slowdown, std::int64_t jobs);

  std::vector<Sum> low_;               // by number, as most are small
  std::map<std::uint32_t, Sum> high_;  // and the others
};

}  // namespace rota::report
