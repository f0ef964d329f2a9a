// What an engine that starts processes itself is asked to execute for a job: its script or command, its environment,
// its files; and what it notes for people. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/run_request.h"
#include "serve/node_desk.h"
#include "serve/operators.h"
#include "serve/state_room.h"

namespace rota::serve {

class RunRequests final : public RunSource {
 public:
  struct Uses {
    const Desk& desk;
    const JobLookup& jobs;
    JobRecords& records;
    NodeDesk& nodes;
    StateRoom& room;
    const Operators& operators;
  };
  // `socket`: told to jobs, as ROTA_SOCKET. `slurms`: jobs have SLURM_* beside ROTA_*, also without #SBATCH lines.
  RunRequests(const Uses& uses, std::string socket, bool slurms)
      : use_(uses), socket_(std::move(socket)), slurms_(slurms) {}

  Result<RunRequest> run_of(const Command& start) override;
  void note_of_job(JobId job, std::string sentence) override { use_.records.note(job, std::move(sentence)); }
  void warn_of_job(JobId job, const std::string& sentence) override;
  void note_of_node(NodeId node, std::string sentence, const std::string& output) override {
    use_.nodes.note(node, std::move(sentence), output);
  }

 private:
  Result<void> has_room_to_run(const Command& start, const RunRequest& run, std::uint32_t uid);
  std::vector<std::string> environment_of(const Command& start, const KeptAbout& kept, bool slurms) const;
  std::vector<std::uint32_t> processors_by_node(JobId job) const;  // one number on a machine without nodes: all
  void say_as_slurm(JobId id, const KeptAbout& kept, std::uint32_t tasks, std::vector<std::string>& all) const;
  void say_as_pbs(JobId id, const KeptAbout& kept, std::vector<std::string>& all) const;
  std::string node_file_of(JobId id, std::uint32_t tasks) const;
  const View& view() const { return use_.desk.view(); }
  const Machine& machine() const { return *use_.desk.machine(); }

  Uses use_;
  std::string socket_;
  bool slurms_;
};

}  // namespace rota::serve
