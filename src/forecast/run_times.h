// How long a job will run, as a distribution: from the latest jobs of its user, those that asked for the same before
// others and late ones before early ones, and, for as much as these are few, from jobs of all users with about the same
// limit. For a job that runs already, only those count that ran for longer than it has. Where nothing is known, or all
// that is has been outlived, anything up to its limit is as likely. A job without a limit that has run for longer than
// all that is known runs twice as long as it has with one half, four times as long with a quarter, and so on; of one of
// which nothing is known at all half are over within ten minutes. Pure; thread-safe.
#pragma once

#include <span>
#include <vector>

#include "forecast/past_jobs.h"

namespace rota::forecast {

// A job of the same user that still runs, and for how long it has: it will be longer than that.
struct RunsYet {
  JobSpec spec;
  Duration elapsed{0};
};

class RunTimes {
 public:
  // `elapsed`: it has run for so long; 0: it waits. `run_yet`: by time elapsed.
  static RunTimes of(const PastJobs& past, std::span<const RunsYet> run_yet, const JobSpec& spec, Duration elapsed);

  // How long it will run yet where it is luckier than a share `lot` of all, from 0 to 1. At least 1 s; grows with the
  // lot.
  Duration left(double lot) const;

 private:
  struct Point {
    Duration run_time;
    double share = 0;  // until here, of all
  };
  bool count_longer(Duration than, double weight, Duration limit);
  void add_beyond(Duration all_known, double weight, Duration limit);

  std::vector<Point> points_;  // by run time
  Duration elapsed_{0};
};

}  // namespace rota::forecast
