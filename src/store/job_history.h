// Jobs that have left, as the store of a live service keeps them, and what can be asked of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "model/job_request.h"
#include "model/job_use.h"

namespace rota::store {

// A job was let run beyond its limit.
struct Grace {
  Duration over{0};       // for so long; 0: it was not
  std::string rule = {};  // of the policy, as the knob is written: "grace", "run-on", "10:00"
  std::string why = {};   // why no other job was harmed, as half a sentence

  bool operator==(const Grace&) const = default;
};

// What few jobs ask for, and what happens to few.
struct RareRequest {
  std::int32_t priority = 0;  // beside that of its partition
  std::uint32_t accelerators = 0;
  std::string accelerator_type = {};
  std::string licence = {};
  std::uint32_t licences = 0;
  std::vector<std::string> more_licences = {};  // of further kinds, "simulink:1"
  bool requeue = false;
  bool checkpoint = false;              // it goes on where it was
  bool once = false;                    // it must not begin a second time
  std::vector<std::string> after = {};  // "afterok:12", as it was submitted
  std::uint32_t throttle = 0;           // so many of its array at one time; 0: no limit
  KeptTexts texts = {};                 // wishes that are kept as texts, by their names
  Instant not_before = kEpoch;          // its begin time, or when it was released
  Duration suspended{0};                // of its latest dispatch: from start to end it ran so much less
  Duration earlier{0};                  // for so long earlier dispatches held its processors
  Duration waited_again{0};  // queued again after its latest dispatch, it left while it waited: so long after that
  Grace grace = {};          // of its latest dispatch

  bool operator==(const RareRequest&) const = default;
};

// What is known of a job that has left. Instants are on the clock of the facts; kNever: that never was.
struct HistoryRow {
  JobId job;
  std::int64_t number = 0;  // the name that people use
  std::string name = {};
  std::string user = {};
  std::string group = {};
  std::string partition = {};
  std::string state = {};   // as people call it: COMPLETED, FAILED, CANCELLED, TIMEOUT, ...
  std::string reason = {};  // in words
  std::string nodes = {};   // as a host list
  std::int64_t array = 0;   // number of its array; 0: none
  std::int64_t array_index = 0;
  std::uint32_t processors = 0;
  std::uint32_t node_count = 0;
  std::int64_t memory = 0;  // bytes on each node
  Instant submit = kEpoch;
  Instant start = kNever;
  Instant end = kNever;  // when it left, also where it never started
  Duration limit{0};
  Duration waited{0};
  int exit_code = 0;
  int signal = 0;
  std::int64_t restarts = 0;
  std::uint32_t uid = 0;
  std::int64_t backfills = 0;    // dispatches
  std::int64_t preemptions = 0;  // the same
  RareRequest asked = {};
  JobUse used = {};

  // "12", or "12_3" of an array.
  std::string shown() const {
    return array > 0 ? std::to_string(array) + "_" + std::to_string(array_index) : std::to_string(number);
  }
  bool operator==(const HistoryRow&) const = default;
};

// A place among jobs by their ends: of those with the same end the later job is behind the earlier one.
struct HistoryPlace {
  Instant end = kNever;
  JobId job = JobId{UINT32_MAX};
};

// Which jobs: those that suit all that is said.
struct HistoryQuery {
  std::vector<std::string> users = {};       // one of these; none: any
  std::vector<std::string> partitions = {};  // the same
  std::vector<std::string> names = {};
  std::vector<std::string> states = {};
  std::vector<std::int64_t> numbers = {};            // none: all
  std::optional<std::pair<JobId, JobId>> jobs = {};  // with ids from the first to the second
  std::string own = {};                              // beside those numbers all of this user
  std::int64_t array = 0;                            // its tasks, whose numbers are in a row from this one on; 0: any
  bool ran = false;                                  // only those that started
  Instant from = kEpoch;                             // left then or later,
  Instant until = kNever;                            // and before that
  // A page: the jobs with smaller numbers than this one, so many of them.
  std::int64_t before_number = INT64_MAX;
  std::optional<std::int64_t> after_number = {};  // the other way round: from behind this one on, oldest first
  std::optional<HistoryPlace> before = {};        // by when they left, the last first: those before this place
  std::int64_t limit = 0;                         // 0: all

  bool has_window() const { return from != kEpoch || until != kNever; }
};

enum class SumBy : std::uint8_t {
  user,
  partition,
  month,  // in which it left, "2026-11", by UTC
};

struct HistorySum {
  std::string key;  // the user, the partition or the month
  std::int64_t jobs = 0;
  double processor_seconds = 0;  // of all dispatches
  Duration waited{0};            // mean of those that started
  std::int64_t failed = 0;       // ended otherwise than COMPLETED or CANCELLED

  bool operator==(const HistorySum&) const = default;
};

}  // namespace rota::store
