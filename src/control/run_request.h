// What is executed for one dispatch of a job by an engine that starts processes itself, and what any engine has to tell
// that is for people. The scheduler's own state says nothing of programs: the engine asks a RunSource when a
// dispatch is about to begin.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/attach.h"
#include "control/ports.h"

namespace rota {

inline constexpr std::uint32_t kServiceUser = UINT32_MAX;

struct RunRequest {
  std::vector<std::string> command;      // the program, found by the PATH of its environment, and its arguments
  std::string script = {};               // not empty: written as a file and executed, with `command` as its arguments
  std::string node_file = {};            // not empty: written as a file, which PBS_NODEFILE names
  std::vector<std::string> environment;  // NAME=VALUE, complete; accelerators and ROTA_RUN are added
  bool slurms = false;                   // what is added is said in Slurm's words, too
  std::string folder = "/";              // working directory
  std::string input = {};                // paths, from the working directory on. Empty: /dev/null
  std::string output = {};               // empty: /dev/null
  std::string error = {};                // empty: the same open file as output
  bool append = false;                   // output and error are written behind what is there; else they are emptied
  std::uint32_t umask = 022;
  std::uint32_t uid =
      kServiceUser;  // the user that it runs as; kServiceUser: as the service, and nothing of this counts
  std::uint32_t gid = 0;
  std::string user = {};            // by whose name further groups are looked up; empty: there are none
  std::int64_t memory = 0;          // bytes that it may use where its place does not say; 0: as much as there is
  std::uint32_t processors = 1;     // where places do not say how many
  Duration limit{0};                // that it asked for: told again if it is queued again
  std::int32_t warning_signal = 0;  // sent so long before the limit; 0: none
  bool warning_to_script = false;   // not to the processes that its own process has begun
  Duration warning_lead = seconds(60);
  Duration kill_wait = seconds(30);        // from SIGTERM to SIGKILL
  Attach attach = {};                      // whose are input, output and error, where those are empty
  std::string left_output = {};            // of a job that goes on: where it writes once its terminal is gone
  std::string checkpoint = {};             // for /bin/sh: has the job write down how far it is; empty: none does
  std::int32_t checkpoint_signal = 0;      // the same by a signal
  Duration checkpoint_time = seconds(60);  // that this may take
};

// Hears what an engine has to say for people, and no fact says.
class EngineNotes {
 public:
  virtual ~EngineNotes() = default;
  // Why a launch failed, or what went wrong with the job.
  virtual void note_of_job(JobId job, std::string sentence) = 0;
  // What went wrong with the job, where an operator has to see to it.
  virtual void warn_of_job(JobId job, const std::string& sentence) = 0;
  // What went wrong with a node that is switched, with what its command wrote; no sentence: nothing is wrong with it
  // any more.
  virtual void note_of_node(NodeId /*node*/, std::string /*sentence*/, const std::string& /*output*/) {}
};

// For an engine that starts processes itself.
class RunSource : public EngineNotes {
 public:
  // What to execute for this start. Fails with a sentence if that is not known: the job cannot be launched.
  virtual Result<RunRequest> run_of(const Command& start) = 0;
};

}  // namespace rota
