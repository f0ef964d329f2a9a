// Figures over blocks of a log, its weeks: blocks are drawn anew, with some of them twice and others not at all, as
// another such stretch of time might have been. Policies are compared over the same draws, so that what all weeks have
// in common does not blur their difference.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"

namespace rota::report {

// What became of the jobs of one block.
struct Block {
  struct Served {
    std::int64_t jobs = 0;
    double slowdown = 0;  // of all together
    double wait = 0;      // seconds, likewise
  };
  std::vector<std::int64_t> waits = {};  // milliseconds, of each job that ended
  double wait = 0;                       // seconds, of all together
  double slowdown = 0;                   // likewise
  std::int64_t late = 0;                 // started later than first promised
  bool promises = false;                 // some job was promised a start
  std::map<std::uint32_t, Served> users = {};
  std::map<std::uint32_t, Served> groups = {};
  double kilowatt_hours = std::numeric_limits<double>::quiet_NaN();  // that all nodes drew; NaN: not metered
  double cost = std::numeric_limits<double>::quiet_NaN();            // of these
  // Jobs whose real waits are known, and how long they wait in the rehearsal and waited really.
  std::int64_t recorded_jobs = 0;
  double wait_of_recorded = 0;
  double recorded_wait = 0;

  void add(const Job& job);
  void add_recorded(const Job& job, Duration really_waited);
};
using Blocks = std::vector<Block>;

// What a policy is judged by.
struct Rule {
  const char* name;     // on the command line
  const char* heading;  // of a column
  const char* what;     // "the mean wait"
  const char* means;
  bool higher;                                     // is better
  double (*value)(std::span<const Block* const>);  // NaN: not known
  std::string (*text)(double);
};
std::span<const Rule> rules();
const Rule* rule_named(std::string_view name);  // nullptr: there is none

double value_of(const Rule& rule, const Blocks& blocks);

// A figure, and between what it lies in 95 of 100 draws; these are widened as Student's t is wider than the normal
// distribution, since few blocks differ less than many. NaN where there is none.
struct Drawn {
  double value = 0;
  double low = 0;
  double high = 0;

  bool holds_nothing() const { return !(low > 0 || high < 0); }  // it may as well be none
};
inline constexpr std::size_t kFewestBlocks = 4;  // of which anything can be said

Drawn drawn(const Rule& rule, const Blocks& blocks);
// By how much `b` is better than `a`, draw by draw; both have the same blocks.
Drawn drawn_gain(const Rule& rule, const Blocks& a, const Blocks& b);

}  // namespace rota::report
