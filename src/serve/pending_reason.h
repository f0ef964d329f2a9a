// Why a job waits, in Slurm's words where there is one, and as a sentence. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/contenders.h"
#include "serve/job_lookup.h"
#include "serve/node_desk.h"
#include "serve/reservation_desk.h"

namespace rota::serve {

struct PendingReason {
  std::string_view word;  // that programs compare
  std::string sentence;
};
enum class Telling : std::uint8_t { word, sentence };

class FederationDesk;

class PendingReasons {
 public:
  PendingReasons(const Desk& desk, const JobLookup& jobs, const NodeDesk& nodes, const ReservationDesk& reservations,
                 const std::unique_ptr<FederationDesk>& federation)
      : desk_(desk), jobs_(jobs), nodes_(nodes), reservations_(reservations), federation_(federation) {}

  // Telling::word: without its sentence, and cheap.
  PendingReason reason_of(JobId job, Telling telling) const;
  // " job 3 to end, 998 of the 1,000 tasks of job 4 to end well.": those that it waits for still.
  std::string awaited_text(const std::vector<Dependency>& after, bool any = false) const;
  bool lacks_nodes(const JobSpec& spec) const;  // too many of those that it could use are out of use
  // Which nodes that it could use are out of use, which user took them out and why.
  std::string nodes_lacking(const JobSpec& spec) const;
  bool competes(const JobSpec& spec) const { return !lacks_licence(spec) && !lacks_nodes(spec); }  // for nodes
  bool share_nodes(PartitionId a, PartitionId b) const { return contenders_.share_nodes(*desk_.machine(), a, b); }
  // The cluster is another one.
  void forget() { contenders_ = {}; }

 private:
  PendingReason reason_of_barred(JobId id, const Job& job, Telling telling) const;
  PendingReason reason_of_limit(const Job& job, Telling telling) const;
  bool is_over_limit(const JobSpec& spec) const;
  PendingReason reason_of_waiting(JobId id, const Job& job, Telling telling) const;
  PendingReason reason_within(JobId id, const Job& job, const Reservation& own, Telling telling) const;
  PendingReason reason_among_others(JobId id, const Job& job, Telling telling) const;
  std::string asleep_beside(const JobSpec& spec) const;
  bool lacks_licence(const JobSpec& spec) const { return !desk_.view().nodes().has_licences(spec); }
  std::string licence_lacking(const JobSpec& spec) const;

  const Desk& desk_;
  const JobLookup& jobs_;
  const NodeDesk& nodes_;
  const ReservationDesk& reservations_;
  const std::unique_ptr<FederationDesk>& federation_;
  mutable Contenders contenders_;
};

}  // namespace rota::serve
