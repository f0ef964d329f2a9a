// What happened, as facts with a time: the only thing that changes a Cluster. A journal of these is the whole state.
#pragma once

#include <variant>
#include <vector>

#include "model/job.h"
#include "model/node_power.h"
#include "model/node_space.h"

namespace rota {

struct Submitted {
  JobSpec spec;
  Duration expected;  // what the estimator counts on
};
struct Rejected {  // submitted, but can never run here
  JobSpec spec;
};
struct Started {
  JobId job;
  bool backfilled;       // ahead of a waiting job that has a promise
  Placement where = {};  // empty where processors are only counted
};
struct Finished {
  JobId job;
  bool timed_out;  // ended by its limit, not by itself
};
struct Requeued {  // killed while it ran, and back at the tail of the queue
  JobId job;
  Duration limit;  // its new limit
};
struct Preempted {  // told to give way to a job of higher priority; runs on until it is Vacated
  JobId job;
  JobId beneficiary = {};
  Instant until = kNever;  // when it is expected to have left, where planning counts on that
};
struct Vacated {  // has left its processors after it was preempted, and is back at its place in the queue
  JobId job;
  Duration kept;  // of the run time of this dispatch: need not be done again
};
struct Migrated {  // moved to other nodes while it ran
  JobId job;
  Placement where;
  bool kept;  // its progress; else it starts over
};
struct Cancelled {  // taken back, waiting or running: it is done, or being done, elsewhere
  JobId job;
};
struct Overdue {  // has used up the time that was counted on and still runs
  JobId job;
};
struct Expected {  // the run time counted on was corrected
  JobId job;
  Duration expected;
};
struct Extended {  // let go on although its time was up
  JobId job;
  Instant until;
};
struct Promised {
  JobId job;
  Instant start;         // kNever: the promise is withdrawn
  Placement where = {};  // set aside for it from then on; empty where counts decide
};

struct PowerChanged {
  NodeId node;
  PowerState state;
  Instant until = kNever;  // booting, shutting down: when that is expected to be over
};
struct Serving {  // the accelerators of a node may from now on be used, or no longer be used, by a job on other nodes
  NodeId node;
  bool serves;
};
struct PowerReviewed {  // a power rule has looked at everything
  Instant next;         // wants to look again then although nothing happens
};

struct Event {
  Instant at;
  std::variant<Submitted, Rejected, Started, Finished, Requeued, Preempted, Vacated, Migrated, Cancelled, Overdue,
               Expected, Extended, Promised, PowerChanged, Serving, PowerReviewed>
      what;
};

}  // namespace rota
