// The story of one job out of a journal: submitted, what it waited for, promises given and moved, which jobs passed it
// and why that did no harm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace rota::cli {

struct JobStory {
  struct Line {
    Instant at = kEpoch;
    std::string event;  // "submitted", "waits", "promise", "passed", "started", "ended", ...: for programs
    std::string text;
  };
  std::int64_t job = 0;
  std::int64_t unix_start = 0;  // Unix time of second 0; 0: not known
  std::vector<Line> lines;
  std::string conclusion;  // whether the jobs that passed it did it any harm; empty: nothing was promised
};

// `journal` is a file that `rota simulate --journal` wrote, or the state folder of a service. Fails with a sentence
// where it cannot be read or has no such job.
Result<JobStory> story_of(std::int64_t job, const std::string& journal);

std::string story_text(const JobStory& story);  // lines for people
std::string story_json(const JobStory& story);

}  // namespace rota::cli
