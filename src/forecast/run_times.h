// How long a job will run, as a distribution: from the latest jobs of its user, those that asked for the same before
// others and late ones before early ones, and, for as much as these are few, from jobs of all users with about the same
// limit: those that have ended and, as long as few have, those that run yet, for short ones end first. For a job that
// runs already, only those count that ran for longer than it has. Where nothing is known, or all that is has been
// outlived, anything up to its limit is as likely. A job without a limit that has run for longer than all that is known
// runs twice as long as it has with one half, four times as long with a quarter, and so on; of one of which nothing is
// known at all half are over within ten minutes. Pure; thread-safe.
#pragma once

#include <span>
#include <vector>

#include "forecast/past_jobs.h"

namespace rota::forecast {

// A job that still runs, and for how long it has: it will be longer than that.
struct RunsYet {
  JobSpec spec;
  Duration elapsed{0};
};

class RunTimes {
 public:
  struct Point {
    Duration run_time;
    double share = 0;  // of all, or until here
  };
  // What jobs of all users with about this limit show; `run_yet`: all that run. Empty: nothing. O(past jobs of the
  // class
  // + jobs that run)
  static std::vector<Point> of_all_users(const PastJobs& past, std::span<const RunsYet> run_yet, Duration limit);

  // `elapsed`: it has run for so long; 0: it waits. `run_yet`: of its user, by time elapsed. `others`: of_all_users()
  // with its limit.
  static RunTimes of(const PastJobs& past, std::span<const RunsYet> run_yet, const std::vector<Point>& others,
                     const JobSpec& spec, Duration elapsed);

  // How long it will run yet where it is luckier than a share `lot` of all, from 0 to 1. At least 1 s; grows with the
  // lot.
  Duration left(double lot) const;

 private:
  std::vector<Point> points_;  // by run time
  Duration elapsed_{0};
};

}  // namespace rota::forecast
