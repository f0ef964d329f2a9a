// What an earlier life of the service has left in the engine's folder: the latest dispatch of each job, as its record
// and its supervisor have it. Runs without a supervisor are ended, and so are those of which the service's state knows
// nothing. All of it waits, a few seconds at most, however many runs there are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/local/record.h"
#include "engine/local/run_folder.h"
#include "engine/local/spawner_link.h"
#include "process/descriptor.h"

namespace rota::local {

struct FoundRun {
  enum class Supervisor : std::uint8_t {
    none,         // the run is over
    answered,     // at `connection`
    to_be_asked,  // the same, and its answer is yet to come
    crowded,      // it is there, and takes no connection just now
    unclear,      // it is gone, and what is left could not be ended just now
  };
  std::string name;
  RunRecord record;
  Supervisor supervisor = Supervisor::none;
  process::Descriptor connection = {};
};

class FoundRuns {
 public:
  // Both must outlive it. What is not to be kept is removed by the spawner.
  FoundRuns(const RunFolder& folder, SpawnerLink& spawner) : folder_(folder), spawner_(spawner) {}

  // Fails where not all can be read. latest_key: of what the service's state knows; later ones are ended.
  Result<void> find(std::uint64_t latest_key);
  std::map<std::uint32_t, FoundRun>& by_job() { return runs_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Result<void> find_run(const std::string& name, std::vector<FoundRun>& into) const;
  Result<void> connect_to(std::vector<FoundRun>& found) const;
  void keep_latest(FoundRun& found);
  void greet_all();
  bool take_answer(FoundRun& found, std::int64_t until) const;
  void leave_out_withdrawn();
  void end_later_than(std::uint64_t latest_key);
  void forget(FoundRun& found);
  void bury(const std::vector<FoundRun*>& all) const;

  const RunFolder& folder_;
  SpawnerLink& spawner_;
  std::map<std::uint32_t, FoundRun> runs_;
  std::vector<std::string> warnings_;
};

// Whether a supervisor is at the name of a run's socket. Any user can take the name of one that is gone, and crowd one
// that is there: then it counts whether the supervisor lives.
process::Reached reach_supervisor(const RunFolder& folder, const std::string& name, const std::string& socket);

}  // namespace rota::local
