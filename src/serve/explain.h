// Why a job waits and what would let it start sooner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "serve/remedies.h"

namespace rota::serve {

struct Explanation {
  struct Ahead {
    JobId job;
    Instant promise = kNever;  // kNever: none that could be told
  };
  std::string reason;
  std::string why;
  std::vector<Ahead> ahead;        // the first few that go before it and want the same nodes
  std::int64_t more_ahead = 0;     // so many beside these
  Instant promise = kNever;        // the start that the policy announces
  Instant at_the_latest = kNever;  // if every job takes its whole limit and no other job comes before it
  std::string start_unknown;       // why neither can be told: "job 1 has no time limit; ..."; empty: they can
  std::vector<Remedy> remedies;
  std::vector<std::string> facts;  // about what is free and what is wanted
};

// What would become of a job that is not there yet.
struct Trial {
  Instant expected = kNever;       // its start as things stand; kNever: the policy promises none
  Instant latest = kNever;         // then: if every job takes its whole limit and no other job comes before it
  std::string start_unknown = {};  // why neither can be told; empty: they can, or the reason is not known
  std::string_view reason = {};    // what would keep it from being queued; empty: nothing
  std::string why = {};            // as a sentence
};

}  // namespace rota::serve
