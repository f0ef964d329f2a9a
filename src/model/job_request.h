// What a user asks of a job when it is submitted, in the terms of people: nothing of it is looked up yet. One table
// describes it, Fields<JobRequest>, a row for each wish. From it come the members of POST /v1/jobs (api), what
// docs/api.md and docs/openapi.json say of them, and the options of `rota submit` and lines of scripts whose text is
// the wish as it stands (cli/live). A wish that is kept as a text (`kept`) is also stored with the job and its history,
// shown and updated without more code: a new one is a row here, and the place that uses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/attach.h"
#include "model/fields.h"
#include "model/job_terms.h"
#include "model/node_wish.h"

namespace rota {

// What was not asked for has its default.
struct JobRequest {
  std::string name;
  std::string script;
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::string folder;
  std::string output;
  std::string error;
  std::string input;
  std::optional<bool> append;
  std::uint32_t umask = 022;
  std::uint32_t processors = 1;
  std::uint32_t nodes = 0;
  std::uint32_t most_nodes = 0;
  std::int64_t memory = 0;
  bool all_memory = false;
  std::uint8_t accelerators = 0;
  std::string accelerator_type;
  std::string accel_tasks;
  std::string licence;
  std::uint32_t licences = 0;
  std::vector<std::string> more_licences;
  std::string partition;
  std::string features;
  std::string required_nodes;
  std::string excluded_nodes;
  std::string reservation;
  std::string account;
  std::string qos;
  std::string sites;
  std::string stage_in;
  std::string stage_out;
  std::int64_t stage_bytes = 0;
  std::optional<Duration> limit;
  std::int32_t priority = 0;
  std::optional<Instant> begin;
  bool held = false;
  std::vector<std::string> after;
  std::string array;
  std::optional<bool> requeue;
  std::string warning_signal;
  bool warning_to_script = false;
  Duration warning_time = seconds(60);
  std::optional<Duration> kill_wait;
  std::string checkpoint;
  std::string checkpoint_signal;
  Duration checkpoint_time = seconds(60);
  std::string comment;
  std::uint32_t tasks = 0;
  std::uint32_t tasks_per_node = 0;
  bool exclusive = false;
  std::vector<std::string> mail;
  std::string mail_user;
  std::string submit_folder;
  bool dry_run = false;
  Attach attach;  // but for `user`, which is the caller
};

// An option of `rota submit`, and of the same name in lines of scripts, whose text is the wish as it stands.
struct WishOption {
  std::string_view names;    // "-A,--account"; empty: none, or other options make up the wish (cli/live)
  std::string_view value;    // "NAME"
  std::string_view meaning;  // in the help
};

enum class KeptAs : std::uint8_t {
  nothing,  // or in a member of its own
  text,     // with the job and its history, by its name
  label,    // likewise, and it decides nothing: `update` may change it while the job waits
};

template <class T>
struct Wish {
  std::string_view name;  // in JSON
  T JobRequest::* member;
  std::string_view takes;    // in a refusal: "`nodes` takes a whole number."
  std::string_view meaning;  // as documented
  std::int64_t least = 0;    // of a number
  std::int64_t most = 0;
  WishOption option = {};
  KeptAs kept = KeptAs::nothing;
};

inline constexpr std::int64_t kLongestText = 4096;          // bytes of what is neither a script nor an argument
inline constexpr std::int64_t kMostAsked = UINT32_MAX - 1;  // of what is counted

template <>
struct Fields<JobRequest> {
  using R = JobRequest;
  static constexpr const char* kText = "a text of at most 4,096 bytes";
  static constexpr const char* kTexts = "an array of texts";
  static constexpr const char* kNumber = "a whole number";
  static constexpr const char* kSeconds = "a number of seconds";
  static constexpr const char* kSwitch = "true or false";

  static constexpr std::tuple all{
      Wish{"name",
           &R::name,
           kText,
           "of the job; without: of the script, or of the command",
           0,
           kLongestText,
           {"-J,--name,--job-name", "NAME", "name; without: the script's or the command's"}},
      Wish{"script", &R::script, "the text of a script", "the whole text of a script with its `#!` line; or"},
      Wish{"command", &R::command, kTexts, "a program and its arguments; with a script: the script's arguments"},
      Wish{"environment", &R::environment, "an array of texts NAME=VALUE",
           "`NAME=VALUE`, complete; with `ROTA_SBATCH=1` the job finds the `SLURM_*` variables, too, and with "
           "`ROTA_SBATCH_ASKED=NTASKS_PER_NODE=2 MEM_PER_CPU=20` also these of Slurm's (names without `SLURM_`, blanks "
           "between them). What else begins with `ROTA_`, `SLURM_`, `SLURMD_` or `PBS_` is left out: it would be "
           "another "
           "job's"},
      Wish{"folder", &R::folder, "an absolute path", "working directory, absolute", 0, kLongestText},
      Wish{"output", &R::output, "a path",
           "a file, relative to the folder; patterns as in [output files](#output-files); without: `rota-%j.out`, of "
           "arrays `rota-%A_%a.out`",
           0, kLongestText},
      Wish{"error", &R::error, "a path", "likewise; without: where output goes", 0, kLongestText},
      Wish{"input", &R::input, "a path", "likewise; without: `/dev/null`", 0, kLongestText},
      Wish{"append", &R::append, kSwitch,
           "output goes on at the end of a file that is there; without: true only when a job runs again"},
      Wish{"umask", &R::umask, "a number from 0 to 511", "of the process; without: 022", 0, 0777},
      Wish{"processors", &R::processors, "a whole number from 1", "in all; without: 1", 1, kMostAsked},
      Wish{"nodes", &R::nodes, kNumber, "to spread them over evenly", 0, kMostAsked},
      Wish{"most_nodes", &R::most_nodes, kNumber,
           "`nodes` is the least then, and the job gets the fewest nodes on which the largest ones have all its "
           "processors",
           0, kMostAsked},
      Wish{"memory", &R::memory, "a number of bytes", "bytes on each node", 0, INT64_MAX / 2},
      Wish{"all_memory", &R::all_memory, kSwitch,
           "all memory of each of its nodes, in place of `memory`; of nodes that differ the least"},
      Wish{"accelerators", &R::accelerators, "a whole number up to 255", "on each node", 0, 255},
      Wish{"accelerator_type", &R::accelerator_type, kText, "of each of them", 0, kLongestText},
      Wish{"accel_tasks",
           &R::accel_tasks,
           "`node`, `slot` or `late`",
           "it has tasks for accelerator containers, and finds in `ROTA_ACCEL` the one that its first node is bound to "
           "(`node`), one for each of its processors (`slot`), or all of the rack, each of which takes the tasks that "
           "it will have done first (`late`)",
           0,
           kLongestText,
           {},
           KeptAs::text},
      Wish{"licence", &R::licence, kText, "a licence that the job holds while it runs", 0, kLongestText},
      Wish{"licences", &R::licences, kNumber, "how many of it", 0, kMostAsked},
      Wish{"more_licences", &R::more_licences, "an array of texts such as simulink:2",
           "licences of further kinds, `\"simulink\"` or `\"simulink:2\"`: the job starts once all are free, and holds "
           "all"},
      Wish{"partition",
           &R::partition,
           kText,
           "without: the default partition",
           0,
           kLongestText,
           {"-p,--partition", "NAME", "partition; without: the default one"}},
      Wish{"features",
           &R::features,
           kText,
           "features that each of its nodes has: `avx512`, `avx512&ib`, `(a|b)&c`",
           0,
           kLongestText,
           {"-C,--constraint", "FEATURES", "features that each of its nodes has, as avx512, avx512&ib or (a|b)&c"},
           KeptAs::text},
      Wish{"required_nodes",
           &R::required_nodes,
           "a host list such as n[1-3]",
           "the nodes that the job gets: all of these, and no others; `nodes`, where it is given, is their number",
           0,
           kLongestText,
           {"-w,--nodelist", "NODES", "the nodes that it gets, all of them and no others, as n[1-3]"},
           KeptAs::text},
      Wish{"excluded_nodes",
           &R::excluded_nodes,
           "a host list such as n[1-3]",
           "nodes that it does not get",
           0,
           kLongestText,
           {"-x,--exclude", "NODES", "nodes that it does not get, as n[1-3]"},
           KeptAs::text},
      Wish{"reservation",
           &R::reservation,
           "the name of a reservation, or its id",
           "the reservation that it runs in, and nowhere else while that lasts; see [reservations](reservations.md)",
           0,
           kLongestText,
           {"--reservation", "NAME", "the reservation that it runs in, as `rota reservations` lists them"},
           KeptAs::text},
      Wish{"account",
           &R::account,
           kText,
           "the account that its use is charged to; kept with the job and its history",
           0,
           kLongestText,
           {"-A,--account", "NAME", "account that its use is charged to"},
           KeptAs::label},
      Wish{"qos",
           &R::qos,
           kText,
           "quality of service: one of the `[[qos]]` of the cluster file; where there are none, it is kept and decides "
           "nothing",
           0,
           kLongestText,
           {"-q,--qos", "NAME", "quality of service"},
           KeptAs::text},
      Wish{"sites",
           &R::sites,
           "`any`, or names with commas",
           "sites of the federation that may run it; without: this one alone",
           0,
           kLongestText,
           {"--sites", "NAMES", "sites of the federation that may run it, as lyon,graz; any: all of them"},
           KeptAs::text},
      Wish{"stage_in",
           &R::stage_in,
           "paths within the folder, with commas",
           "with `sites`: files, directories and patterns (`*`, `?`) within `folder` that are brought to the site that "
           "runs the job, before it starts; it runs in a folder of its own there",
           0,
           kLongestText,
           {"--stage-in", "PATHS",
            "with --sites: what of the folder is brought to the site that runs it, as mesh/,*.inp"},
           KeptAs::text},
      Wish{
          "stage_out",
          &R::stage_out,
          "paths within the folder, with commas",
          "likewise: what is brought back into `folder` when the job has ended; what it writes to `output` and `error` "
          "always is",
          0,
          kLongestText,
          {"--stage-out", "PATHS", "with --sites: what is brought back when it has ended, as results/,*.log"},
          KeptAs::text},
      Wish{"stage_bytes", &R::stage_bytes, "a number of bytes",
           "that `stage_in` comes to, by which sites reckon how long it takes to bring; `rota submit` counts them", 0,
           INT64_MAX / 2},
      Wish{"limit", &R::limit, kSeconds, "time limit; without: the partition's `default_time`, else the service's"},
      Wish{"priority", &R::priority, "a whole number from -1000000 to 1000000",
           "higher goes first; only an operator may ask for more than 0", -kMostPriority, kMostPriority},
      Wish{"begin", &R::begin, "a Unix time", "not before"},
      Wish{"held", &R::held, kSwitch, "submitted, but not to be started before it is released"},
      Wish{
          "after", &R::after, "an array of texts such as afterok:12",
          "`afterok:12`, `afterany:12`, `afternotok:12`, `after:12` (has started), `after:12+5` (so many minutes after "
          "its start; at once where it has ended), `aftercorr:12` (of arrays: the same index), `singleton` (all "
          "earlier "
          "jobs of this name and user, and of an array the task before); with `any` among them one of them, each a job "
          "or a task by its id, will do"},
      Wish{"array", &R::array, "a text such as 1-100%10",
           "indexes, as `1-100`, `1,3,7`, `0-20:5`; with `%10` behind: ten at a time", 0, kLongestText},
      Wish{
          "requeue", &R::requeue, kSwitch,
          "may be run again from its start if it is lost with its node; `false` does not go with a checkpoint, and not "
          "with a policy that has `preempt=requeue`: under it any job that is outranked starts over"},
      Wish{"warning_signal", &R::warning_signal, "the name of a signal",
           "`USR1` is sent before the limit, to all of its processes", 0, kLongestText},
      Wish{"warning_to_script", &R::warning_to_script, kSwitch, "to the process of its script or command alone"},
      Wish{"warning_time", &R::warning_time, kSeconds, "so long before the limit; without: 60"},
      Wish{"kill_wait", &R::kill_wait, kSeconds, "from SIGTERM to SIGKILL; without: 30, at most 3600"},
      Wish{"checkpoint",
           &R::checkpoint,
           kText,
           "a command by which it writes a checkpoint before it gives way or moves",
           0,
           kLongestText,
           {"--checkpoint", "COMMAND",
            "has it write down how far it is, before it gives way or moves; ROTA_JOB_PID is its process"}},
      Wish{"checkpoint_signal",
           &R::checkpoint_signal,
           "the name of a signal",
           "the same by a signal",
           0,
           kLongestText,
           {"--checkpoint-signal", "NAME", "the same by a signal to its processes, in place of a command"}},
      Wish{"checkpoint_time", &R::checkpoint_time, kSeconds,
           "what that may take; without: 60, at most 3600, and never beyond its limit"},
      Wish{"comment",
           &R::comment,
           kText,
           "kept with the job",
           0,
           kLongestText,
           {"--comment", "TEXT", "kept with the job"}},
      Wish{"tasks", &R::tasks, kNumber,
           "processes that it is made of, where that is not one for each processor: the job finds it in its "
           "environment. "
           "A single one has all its processors on one node, unless `nodes` says otherwise; several of more processors "
           "each, that are not as many on each of `nodes`, get so many processors more that none is split",
           0, kMostAsked},
      Wish{"tasks_per_node", &R::tasks_per_node, kNumber,
           "so many of these were asked for each of `nodes`, of which there are as many processes in all: other nodes "
           "by "
           "`update` are then other processes",
           0, kMostAsked},
      Wish{"mail", &R::mail, "an array of texts such as BEGIN, END and FAIL",
           "when mail is sent: `BEGIN`, `END`, `FAIL`, `REQUEUE`, `ALL`, `NONE`, and `ARRAY_TASKS` for each task of an "
           "array"},
      Wish{"mail_user",
           &R::mail_user,
           "an address",
           "addresses with commas; without: its user",
           0,
           kLongestText,
           {"--mail-user", "ADDRESS", "where mail goes; without: to its user"}},
      Wish{"exclusive", &R::exclusive, kSwitch,
           "whole nodes: all processors of each, where the nodes of the partition are of one size"},
      Wish{"submit_folder", &R::submit_folder, "an absolute path",
           "from where it was submitted, where that is not its folder: the job finds it in its environment", 0,
           kLongestText},
      Wish{"attach", &R::attach, "an object with the name of a socket, `socket`",
           "the job's input, output and error go to a process that waits for it, where they are no files: `rota run` "
           "does "
           "that. `socket`: the abstract name at which that process listens, as the same user; `terminal`: the job "
           "gets a "
           "terminal of its own, of `rows` and `columns`, else pipes; `error_apart`: errors go through a pipe all the "
           "same; `keep`: the job goes on when that process ends, else it is ended as by SIGHUP. The job's supervisor "
           "connects when the job starts, and hands the open files over. Refused of a user that comes with a token"},
      Wish{"dry_run", &R::dry_run, kSwitch,
           "nothing is submitted; the answer says what would be, and whether it ever could run"}};
};

// visit(const Wish<T>&) for each.
template <class Visit>
constexpr void each_wish(const Visit& visit) {
  std::apply([&](const auto&... wish) { (visit(wish), ...); }, Fields<JobRequest>::all);
}

// The texts that are kept of a job by the names of their wishes; what was not asked for is not there.
using KeptTexts = std::vector<std::pair<std::string, std::string>>;
KeptTexts kept_texts(const JobRequest& request);
// That of one wish; empty: it was not asked for.
std::string text_of(const KeptTexts& kept, std::string_view name);
// What is kept of which nodes the job may use.
NodeWishTexts node_wish_texts(const KeptTexts& kept);
// Puts it there, or in place of the one before; an empty one goes.
void set_text(KeptTexts& kept, std::string_view name, const std::string& text);
std::vector<std::string_view> labels();  // the names of all

}  // namespace rota
