// What a user submits, in the terms of people, and what of it the scheduler gets to know.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/controller.h"
#include "model/job_request.h"
#include "model/machine.h"

namespace rota::serve {

// Why one is not taken.
struct NotTaken : Error {
  NotTaken(Error why, bool lacks_room = false) : Error(std::move(why)), no_room(lacks_room) {}
  bool no_room;  // on the service's disk
};

// Before what is wrong with one of several of a request: "submission 3: "; empty for one alone.
std::string which_of(const std::vector<JobRequest>& submissions, const JobRequest& one);

// The licences that a job asks for, by name; none where the first has none.
struct LicencesAsked {
  std::string licence;
  std::uint32_t licences = 0;
  std::vector<std::string> more_licences;  // of further kinds, "simulink:2"
};
Result<void> look_up_qos(const std::string& name, const Machine& machine, JobSpec& spec);  // "": none
Result<void> look_up_licences(const LicencesAsked& asked_for, const Machine& machine, JobSpec& spec);

// How large a job is to be, as it was asked for.
struct Size {
  std::uint32_t processors = 1;      // in all
  std::uint32_t nodes = 0;           // to spread them over evenly; 0: not said
  std::uint32_t tasks = 0;           // processes that it is made of; 0: one for each processor
  std::uint32_t tasks_per_node = 0;  // so many for each of `nodes`: with other nodes, other tasks; 0: not said
  bool exclusive = false;            // whole nodes

  std::uint32_t all_tasks() const { return tasks > 0 ? tasks : processors; }
  bool operator==(const Size&) const = default;
};
Size size_of(const JobRequest& submission);
// Processors and nodes of a job of this size in its partition: all those of whole nodes where it is to have these, one
// node for a single process, and as many processors on each node as keep a process of several on one.
Result<void> give_size(const Size& size, const Machine& machine, JobSpec& spec);

// The user who asks.
struct Caller {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string user;  // its name, or its number where it has none
  bool operates = false;

  // Into a job of this user: what it runs, what it wrote.
  bool may_see_inside(std::uint32_t owner) const { return operates || uid == owner; }
};

// Texts as one, each with a zero byte behind it, and back: an environment is kept like that.
std::string zero_ended(const std::vector<std::string>& texts);
std::vector<std::string> texts_of(std::string_view zero_ended);

// A user as a caller names them: "me" is the caller, a number is that of the user, also of one whose name is "me"; else
// the word is the name.
std::optional<std::uint32_t> user_number(std::string_view word);
// The name. For a number it is looked up, which may take long.
std::string user_called(const Caller& caller, std::string_view word);

// What is kept of a job beside its facts: what people call it and what its run needs. Tasks of an array share one.
struct About {
  std::string name;
  std::string user;
  std::string comment;
  std::string folder;
  std::string output;
  std::string error;
  std::string input;
  std::vector<std::string> command;
  std::vector<std::string> after;
  std::optional<bool> append;
  std::uint32_t umask = 022;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int64_t array = 0;  // number of the array; 0: it is none
  std::int32_t warning_signal = 0;
  bool warning_to_script = false;
  Duration warning_time{0};
  Duration kill_wait{0};
  std::string checkpoint;
  std::int32_t checkpoint_signal = 0;
  Duration checkpoint_time{0};
  bool scripted = false;
  bool never = false;     // it was said that it must not start over
  std::uint8_t mail = 0;  // when its user wants mail, as serve/mail.h has it
  std::string mail_user;
  std::uint32_t tasks = 0;           // as submitted, and so are the others:
  std::uint32_t tasks_per_node = 0;  // 0: not said
  bool exclusive = false;
  std::uint32_t processors = 0;             // 0: those that it is to have
  std::optional<std::uint32_t> nodes = {};  // nothing: as its processes and the nodes that it is to have tell
  std::string submit_folder;
  struct Indexes {
    std::int64_t count = 0;
    std::int64_t least = 0;
    std::int64_t most = 0;
    std::int64_t step = 1;  // from the first to the second
    bool operator==(const Indexes&) const = default;
  } indexes;  // of its array
  Attach attach;
  KeptTexts texts;  // wishes that are kept as texts, by their names

  // Whether what it writes goes to the client that waits for it, and to no file.
  bool writes_to_terminal() const { return !attach.socket.empty() && output.empty(); }

  bool operator==(const About&) const = default;
};

// A task of an array whose others may be at other sites.
struct ArrayTask {
  std::int64_t array = 0;  // its number at home
  std::int64_t index = 0;
  About::Indexes of;
};

// What was asked for, of one that is to have what the spec says.
Size size_asked(const About& about, const JobSpec& spec);
// Keeps it; what the spec tells is not kept twice.
void keep_size(const Size& size, const JobSpec& spec, About& about);

// An array's indexes, "1-100", "1,3,7", "0-20:5", each with "%10" behind it or not.
struct ArrayRange {
  std::vector<std::int64_t> indexes;  // ascending, each once
  std::uint32_t throttle = 0;         // 0: none
};
Result<ArrayRange> parse_array(std::string_view text, std::int64_t most);

// Whether a job may have this name, which is not empty.
Result<void> check_name(std::string_view name);

// The number of a signal by its name, "USR1", "SIGUSR1" or "10".
Result<std::int32_t> parse_signal(std::string_view text);

// The scheduler's part of a submission; everything that names something of the machine is looked up there. Not yet: the
// job's number, its user, the instant.
Result<JobSpec> spec_of(const JobRequest& submission, const Machine& machine);

// What people call a job: by its submission, or by what it runs.
std::string name_of(const JobRequest& submission);
// What is kept of a submission that was found good; not yet: what its array is.
std::shared_ptr<About> about_of(const Caller& caller, const JobRequest& submission, const JobSpec& spec,
                                Duration kill_wait);

// What a submission comes to, found good.
struct Prepared {
  JobSpec spec = {};
  ArrayRange range{{-1}, 0};                        // of a whole job one index that is none
  std::vector<std::vector<Dependency>> after = {};  // of each task, by number
  bool any = false;                                 // of these one will do
  bool singleton = false;
  Instant begins = kEpoch;          // not before: so long after the start of one
  std::size_t looked_at = 0;        // jobs, for what it waits for
  std::size_t awaited = 0;          // by all tasks
  std::string only_elsewhere = {};  // why a job for several sites cannot run at this one; empty: it can
  std::shared_ptr<About> about = {};
  std::string text = {};  // about that, but for what its array is
  std::uint64_t bytes_of_tasks = 0;
};

// About as it is kept, in JSON, with the index of one task (-1: none), and back. What the tasks of an array share is
// made once: the text without an index, to which that of each is added.
std::string about_text(const About& about, std::int64_t index = -1);
std::string with_index(std::string_view about, std::int64_t index);
struct KeptAbout {
  About about;
  std::int64_t index = -1;
};
Result<KeptAbout> read_about(const std::string& text);

// Reads many in turn: what one shares with the one before is not read again, and not kept twice.
class AboutReader {
 public:
  struct Task {
    std::shared_ptr<const About> about;
    std::int64_t index = -1;
  };
  Result<Task> read(std::string_view text);

 private:
  std::string before_;  // without the index
  std::shared_ptr<const About> about_;
};

}  // namespace rota::serve
