// Why a job waits, in Slurm's words where there is one, and as a sentence.
#include <algorithm>
#include <string>

#include "base/text.h"
#include "serve/service.h"

namespace rota::serve {
namespace {

using Dep = Dependency::When;

const char* words_of(Dep when) {
  switch (when) {
    case Dep::started:
      return "to start";
    case Dep::ended:
      return "to end";
    case Dep::succeeded:
      return "to end well";
    case Dep::failed:
      return "to fail";
  }
  return "to end";
}

// Processors on nodes where something may start, at present or once they are awake.
std::int64_t usable_processors(const View& view, const Machine& machine, PartitionId partition) {
  if (view.nodes().counted()) return machine.processors;
  std::int64_t sum = 0;
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    const auto& in = machine.nodes[n].partitions;
    if (partition.valid() && std::ranges::find(in, partition) == in.end()) continue;
    if (view.power().health(NodeId{n}) == Health::up) sum += machine.nodes[n].processors;
  }
  return sum;
}

}  // namespace

PendingReason Service::reason_of_barred(JobId id, const Job& job) const {
  if ((job.bars & kHeldByOperator) != 0)
    return {"JobHeldAdmin", "An operator holds it; an operator has to release it."};
  if ((job.bars & kHeldByUser) != 0)
    return {"JobHeldUser", "Its user holds it; `rota release " + book_.shown(id) + "` lets it go."};
  if ((job.bars & kNeverAgain) != 0)
    return {"DependencyNeverSatisfied",
            "A job that it waits for has ended otherwise than it needs; it will never run."};
  const JobTerms* terms = view().eligibility().terms(id);
  if ((job.bars & kDependency) != 0) {
    std::string sentence = "It waits for";
    for (std::size_t i = 0; terms != nullptr && i < terms->after.size(); ++i) {
      const Dependency& on = terms->after[i];
      sentence += (i == 0 ? " job " : ", job ") + book_.shown(on.on) + " " + words_of(on.when);
    }
    return {"Dependency", sentence + "."};
  }
  if ((job.bars & kBeginTime) != 0) return {"BeginTime", "Its begin time has not come yet."};
  if ((job.bars & kArrayThrottle) != 0) {
    const std::uint32_t most = terms ? view().eligibility().throttle(terms->array) : 0;
    return {"JobArrayTaskLimit", "So many tasks of its array are queued or run already as it allows at one time (" +
                                     std::to_string(most) + ")."};
  }
  return {"Priority", "It is just being looked at."};
}

PendingReason Service::reason_of_waiting(JobId id, const Job& job) const {
  const JobSpec& spec = job.spec;
  if (usable_processors(view(), *machine_, spec.partition) < spec.processors)
    return {"ReqNodeNotAvail", "Too many of the nodes that it could use are down or drain."};
  if (spec.licence.valid() && view().nodes().licences_free(spec.licence) < spec.licences) {
    const Licence& licence = machine_->licences[spec.licence.value];
    const std::int64_t free = std::max<std::int64_t>(0, view().nodes().licences_free(spec.licence));
    const std::string holders = licence_holders(spec.licence);
    return {"Licenses", "It needs " + std::to_string(spec.licences) + " of the licence " + licence.name +
                            ", of which " + std::to_string(free) + (free == 1 ? " is free" : " are free") +
                            (holders.empty() ? "." : ": " + holders + ".")};
  }
  if (view().plain()) {
    return {"Priority", "A plan was refused, and until an operator has looked jobs start in order of the queue alone."};
  }
  const WaitingEntry* head = view().waiting().head();
  const std::string needs = "It needs " + amount(spec.processors, "processor");
  if (view().power().count(PowerState::booting) > 0 && view().free() < spec.processors)
    return {"PowerUp", needs + "; " + amount(view().power().count(PowerState::booting), "node") + " are being woken."};
  if (std::string reserved = reserved_before(id, job); !reserved.empty()) return {"Reservation", std::move(reserved)};
  if (head != nullptr && head->job == id) {
    return {"Resources", needs + ", it is first in the queue, and " +
                             std::to_string(std::max<std::int64_t>(0, view().free())) + " are free now."};
  }
  const std::string first = head ? "job " + book_.shown(head->job) : std::string("others");
  if (view().free() >= spec.processors) {
    return {"Priority", needs + ", which are free, but if it started now " + first +
                            " or another with an earlier claim would start later."};
  }
  return {"Priority", needs + ", and others go first: " + first + " is first in the queue."};
}

PendingReason Service::reason_of(JobId id) const {
  const Job& job = view().job(id);
  return job.state == JobState::barred ? reason_of_barred(id, job) : reason_of_waiting(id, job);
}

}  // namespace rota::serve
