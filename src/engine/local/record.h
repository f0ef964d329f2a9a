// What is known of one dispatch on this machine: the lines of its record on disk, and what its supervisor says of it.
// On disk each line adds to those before it (claimed, begun, and how it ended), and a line without its newline was cut
// off and counts as not written.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/run_request.h"

namespace rota::local {

struct RunRecord {
  std::uint32_t job = UINT32_MAX;
  std::uint32_t dispatch = kAnyDispatch;  // the latest one, where it was suspended
  std::uint32_t move = 0;                 // so many times this dispatch went on elsewhere before
  std::uint64_t key = 0;                  // of the latest command about it that was carried out
  std::uint32_t epoch = 0;
  RunPhase phase = RunPhase::claimed;
  std::string socket;                  // where its supervisor listens: a name that cannot be guessed
  std::string boot;                    // id of the system's start under which it was claimed
  std::int64_t limit = 0;              // milliseconds that its job asked for
  std::int64_t deadline = INT64_MAX;   // when its limit ends it, by boot_milliseconds(); INT64_MAX: it does not run
  std::uint32_t processors = 0;        // that it was given, where places do not say it
  std::vector<std::uint32_t> nodes;    // ids of those that it was given; none where processors are counted
  std::vector<std::uint32_t> cores;    // that it is pinned to, as the system numbers them
  std::vector<std::uint32_t> devices;  // accelerators
  std::vector<std::string> cgroups;    // folders of its own
  pid_t pid = 0;                       // of its first process; 0: was never made
  std::uint64_t began = 0;       // of that process, in the kernel's ticks: which tells it from another of that number
  std::int64_t owner = -1;       // the user that it runs as; -1: not known
  Asked asked = Asked::nothing;  // and that is what ended it
  bool out_of_memory = false;
  bool lost = false;  // with its supervisor, so that how it ended is not known; or it failed while the system went down
  bool again = true;  // failed: another try can help
  bool stood = false;          // it ended while it was suspended, and what it was told to leave it had left before
  int status = 0;              // as waitpid says
  std::int64_t ran = 0;        // milliseconds, without those in which it was suspended
  std::int64_t ended = 0;      // when its own process did, in milliseconds of Unix time; 0: not said
  std::int64_t kept = -1;      // of it, the part that a checkpoint holds; -1: none was written
  std::int64_t elsewhere = 0;  // milliseconds that this dispatch ran before its moves
  std::int64_t user = 0;       // with those before
  std::int64_t system = 0;     // the same
  std::int64_t memory = 0;     // bytes; the most
  std::int64_t used_in = 0;    // milliseconds for which its processes ran, with those before, also before suspensions
  int paused = -1;             // 1: a user has it suspended; 0: none has; -1: its supervisor does not say
  bool spare = false;          // as told, and on no disk: it is over, and its supervisor waits for another order
  std::string sentence;        // failed, or something else to tell people

  bool over() const { return phase == RunPhase::ended || phase == RunPhase::failed; }
};

template <class Visit, class Record>
  requires std::is_same_v<std::remove_const_t<Record>, RunRecord>
void fields(Visit&& visit, Record& record) {
  visit("phase", record.phase);
  visit("job", record.job);
  visit("dispatch", record.dispatch);
  visit("move", record.move);
  visit("key", record.key);
  visit("epoch", record.epoch);
  visit("socket", record.socket);
  visit("boot", record.boot);
  visit("limit", record.limit);
  visit("deadline", record.deadline);
  visit("processors", record.processors);
  visit("nodes", record.nodes);
  visit("cores", record.cores);
  visit("devices", record.devices);
  visit("cgroups", record.cgroups);
  visit("pid", record.pid);
  visit("began", record.began);
  visit("owner", record.owner);
  visit("asked", record.asked);
  visit("out_of_memory", record.out_of_memory);
  visit("lost", record.lost);
  visit("again", record.again);
  visit("stood", record.stood);
  visit("status", record.status);
  visit("ran", record.ran);
  visit("ended", record.ended);
  visit("kept", record.kept);
  visit("elsewhere", record.elsewhere);
  visit("user", record.user);
  visit("system", record.system);
  visit("memory", record.memory);
  visit("used_in", record.used_in);
  visit("paused", record.paused);
  visit("spare", record.spare);
  visit("sentence", record.sentence);
}

// What is to be done, with all that it takes: from the service to the spawner, and handed on to the supervisor.
struct Order {
  enum class Kind : std::uint8_t {
    start,
    bury,    // its supervisor was killed: end what is left of it
    remove,  // no service will ask for it any more
    read,    // give a piece of a file (file_readings.h)
  };
  Kind kind = Kind::start;
  std::string name;           // of the record in the engine's folder
  std::string engine_folder;  // absolute
  RunRecord claim;            // whose words and those of the order stand in one line
  RunRequest run;
  std::int64_t most_memory = 0;              // bytes; 0: no limit
  std::int64_t launch_wait = INT64_MAX / 2;  // milliseconds within which its program has to be executed
  std::int64_t since = INT64_MAX;            // since when it counts as running, by boot_milliseconds(); at most now
  std::vector<std::string> environment;      // beside that of the run
  std::int64_t from = 0;                     // read: the first byte that is wanted of the run's input
  std::string replaces = {};                 // start: a record that goes once this one is kept; empty: none
};
constexpr std::array<std::string_view, 4> names_of(Order::Kind) { return {"start", "bury", "remove", "read"}; }

// A field that is a duration is written in milliseconds.
template <class Visit, class Value>
void duration_field(Visit& visit, std::string_view name, Value& value) {
  auto milliseconds = value.count();
  visit(name, milliseconds);
  if constexpr (!std::is_const_v<Value>) value = Duration{milliseconds};
}

template <class Visit, class Record>
  requires std::is_same_v<std::remove_const_t<Record>, Order>
void fields(Visit&& visit, Record& order) {
  auto& run = order.run;
  visit("kind", order.kind);
  visit("name", order.name);
  visit("engine_folder", order.engine_folder);
  visit("most_memory", order.most_memory);
  visit("launch_wait", order.launch_wait);
  visit("since", order.since);
  visit("environment", order.environment);
  visit("from", order.from);
  visit("replaces", order.replaces);
  visit("run.command", run.command);
  visit("run.script", run.script);
  visit("run.node_file", run.node_file);
  visit("run.environment", run.environment);
  visit("run.slurms", run.slurms);
  visit("run.folder", run.folder);
  visit("run.input", run.input);
  visit("run.output", run.output);
  visit("run.error", run.error);
  visit("run.append", run.append);
  visit("run.umask", run.umask);
  visit("run.uid", run.uid);
  visit("run.gid", run.gid);
  visit("run.user", run.user);
  visit("run.warning_signal", run.warning_signal);
  visit("run.warning_to_script", run.warning_to_script);
  duration_field(visit, "run.warning_lead", run.warning_lead);
  duration_field(visit, "run.kill_wait", run.kill_wait);
  visit("run.attach.socket", run.attach.socket);
  visit("run.attach.user", run.attach.user);
  visit("run.attach.terminal", run.attach.terminal);
  visit("run.attach.error_apart", run.attach.error_apart);
  visit("run.attach.keep", run.attach.keep);
  visit("run.attach.rows", run.attach.rows);
  visit("run.attach.columns", run.attach.columns);
  visit("run.left_output", run.left_output);
  visit("run.checkpoint", run.checkpoint);
  visit("run.checkpoint_signal", run.checkpoint_signal);
  duration_field(visit, "run.checkpoint_time", run.checkpoint_time);
  fields(visit, order.claim);
}

// What a supervisor is told.
struct Tell {
  enum class Kind : std::uint8_t {
    hello,  // say how things are
    stop,   // end it, as `asked` says
    kill,   // at once, and no answer is needed
    suspend,
    go_on,  // after it was suspended: as this dispatch, on these cores, until this deadline
    limit,  // another deadline
    signal,
  };
  Kind kind = Kind::hello;
  std::uint32_t epoch = 0;
  std::uint64_t key = 0;
  std::uint32_t dispatch = kAnyDispatch;
  Asked asked = Asked::nothing;
  std::int64_t deadline = INT64_MAX;
  std::int64_t since = INT64_MAX;  // go_on: as in Order
  std::vector<std::uint32_t> cores = {};
  int number = 0;           // of the signal
  std::int64_t limit = 0;   // limit: milliseconds that its job asks for now; 0: as before
  bool checkpoint = false;  // stop: once it has written down how far it is, if it can
};
constexpr std::array<std::string_view, 7> names_of(Tell::Kind) {
  return {"hello", "stop", "kill", "suspend", "go_on", "limit", "signal"};
}

template <class Visit, class Record>
  requires std::is_same_v<std::remove_const_t<Record>, Tell>
void fields(Visit&& visit, Record& tell) {
  visit("kind", tell.kind);
  visit("epoch", tell.epoch);
  visit("key", tell.key);
  visit("dispatch", tell.dispatch);
  visit("asked", tell.asked);
  visit("deadline", tell.deadline);
  visit("since", tell.since);
  visit("cores", tell.cores);
  visit("number", tell.number);
  visit("limit", tell.limit);
  visit("checkpoint", tell.checkpoint);
}

// In the environment of each of its processes.
inline std::string mark_of(const std::string& engine_folder, const std::string& name) {
  return fmt::format("ROTA_RUN={}/{}", engine_folder, name);
}

// Beside its record, the script of a run that has one, and the list of its nodes.
inline std::string script_name(const std::string& name) { return name + ".script"; }
inline std::string node_file_name(const std::string& name) { return name + ".nodes"; }

// What a record's file says, all its lines together; nullopt: there is none, or not one whole line.
std::optional<RunRecord> read_record(int folder, const std::string& name);

}  // namespace rota::local
