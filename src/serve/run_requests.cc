#include "serve/run_requests.h"

#include <fmt/core.h>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include "base/text.h"
#include "serve/node_list.h"
#include "serve/output_pattern.h"
#include "serve/this_host.h"
#include "store/fact_codec.h"

namespace rota::serve {
namespace {

// How many of a job's processes each of its nodes has, by the processors that it gave.
std::vector<std::uint32_t> tasks_on(const std::vector<std::uint32_t>& processors, std::uint32_t tasks) {
  const auto all = std::accumulate(processors.begin(), processors.end(), std::uint64_t{0});
  const std::uint64_t each = std::max<std::uint64_t>(1, all / std::max(tasks, 1U));
  std::vector<std::uint32_t> there;
  std::uint32_t left = tasks;
  for (const std::uint32_t given : processors) {
    there.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(left, given / each)));
    left -= there.back();
  }
  const auto nodes = static_cast<std::uint32_t>(there.size());
  for (std::uint32_t i = 0; i < nodes; ++i) there[i] += left / nodes + (i < left % nodes ? 1 : 0);  // of several nodes
  return there;
}

// As Slurm has it: "2,1(x2)".
std::string in_runs(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t from = 0, to = 0; from < numbers.size(); from = to) {
    while (to < numbers.size() && numbers[to] == numbers[from]) ++to;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[from]);
    if (to - from > 1) text += fmt::format("(x{})", to - from);
  }
  return text;
}

// Whether only a scheduler says it, about the job itself: one may be submitted from within another job, of Rota or of
// another system, and is not that one.
bool of_a_job(std::string_view text) {
  constexpr std::array<std::string_view, 5> kSites{
      "SLURM_CONF=", "SLURM_TIME_FORMAT=", "PBS_CONF_FILE=", "PBS_SERVER=", "PBS_EXEC="};
  if (std::ranges::any_of(kSites, [&](std::string_view name) { return text.starts_with(name); })) return false;
  constexpr std::array<std::string_view, 4> kJobs{"ROTA_", "SLURM_", "SLURMD_", "PBS_"};
  return std::ranges::any_of(kJobs, [&](std::string_view name) { return text.starts_with(name); });
}

// What its submission asked for in Slurm's words, "NTASKS_PER_NODE=2 MEM_PER_CPU=20". Slurm sets only that
// variable of memory that was asked for.
void say_what_was_asked(const std::vector<std::string>& given, std::vector<std::string>& all) {
  static constexpr std::string_view kAsked = "ROTA_SBATCH_ASKED=";
  const auto found = std::ranges::find_if(given, [](const std::string& text) { return text.starts_with(kAsked); });
  if (found == given.end()) return;
  for (const std::string_view each : split(std::string_view(*found).substr(kAsked.size()), ' ')) {
    all.push_back("SLURM_" + std::string(each));
    if (!each.starts_with("MEM_PER_")) continue;
    std::erase_if(all, [](const std::string& text) { return text.starts_with("SLURM_MEM_PER_NODE="); });
  }
}

// A task that came from another site has the number that its array has at its home.
std::string array_of(const About& about) {
  const std::string home = rota::text_of(about.texts, "home_array");
  return home.empty() ? std::to_string(about.array) : home;
}

// Which task it is, and of how many.
template <class Say>
void say_array(const KeptAbout& kept, const Say& say) {
  say("ARRAY_JOB_ID", array_of(kept.about), std::string());
  say("ARRAY_TASK_ID", std::to_string(kept.index), std::string());
  const About::Indexes& all = kept.about.indexes;
  if (all.count == 0) return;  // it was submitted before that was kept
  say("ARRAY_TASK_COUNT", std::to_string(all.count), std::string());
  say("ARRAY_TASK_MIN", std::to_string(all.least), std::string());
  say("ARRAY_TASK_MAX", std::to_string(all.most), std::string());
  say("ARRAY_TASK_STEP", std::to_string(all.step), std::string());
}

}  // namespace

std::vector<std::uint32_t> RunRequests::processors_by_node(JobId job) const {
  if (machine().nodes.empty()) return {view().job(job).spec.processors};
  std::vector<std::uint32_t> given;
  for (const Share& share : view().placement(job).shares) given.push_back(share.processors);
  return given;
}

// What a job finds in its environment beside its own.
std::vector<std::string> RunRequests::environment_of(const Command& start, const KeptAbout& kept, bool slurms) const {
  const Job& job = view().job(start.job);
  const JobSpec& spec = job.spec;
  std::vector<std::string> all;
  const auto say = [&](const std::string& name, const std::string& value, const std::string& slurm = {}) {
    all.push_back(fmt::format("ROTA_{}={}", name, value));
    if (slurms && slurm != "-") all.push_back(fmt::format("SLURM_{}={}", slurm.empty() ? name : slurm, value));
  };
  const auto unix_seconds = [&](Instant at) { return std::to_string(use_.desk.loop().unix_milliseconds(at) / 1000); };
  say("JOB_ID", std::to_string(spec.number));
  say("JOB_NAME", kept.about.name);
  say("JOB_USER", kept.about.user);
  if (kept.about.array > 0) say_array(kept, say);
  const std::string nodes = use_.jobs.nodes_of(start.job);
  const std::size_t count = machine().nodes.empty() ? 1 : view().placement(start.job).shares.size();
  say("JOB_NODELIST", nodes.empty() ? machine().name : nodes);
  say("JOB_NUM_NODES", std::to_string(count), "JOB_NUM_NODES");
  say("PROCESSORS", std::to_string(spec.processors), "-");
  say("CPUS_ON_NODE", std::to_string((spec.processors + count - 1) / count));
  const Size asked = size_asked(kept.about, spec);  // whole nodes do not make it more processes, nor these larger
  const std::uint32_t tasks = asked.all_tasks();
  say("NTASKS", std::to_string(tasks));
  say("CPUS_PER_TASK", std::to_string(std::max(1U, asked.processors / tasks)));
  if (spec.memory > 0) say("MEM_PER_NODE", std::to_string(spec.memory / (1 << 20)));
  if (spec.partition.valid()) say("JOB_PARTITION", machine().partitions[spec.partition.value].name);
  say("SUBMIT_DIR", kept.about.submit_folder.empty() ? kept.about.folder : kept.about.submit_folder);
  say("RESTART_COUNT", std::to_string(restarts_of(job)));
  if (restarts_of(job) > 0) say("RESTART", "1", "-");
  say("JOB_START_TIME", unix_seconds(job.start));
  if (spec.limit < kLongest) say("JOB_END_TIME", unix_seconds(job.limit_end()));
  say("CLUSTER_NAME", machine().name);
  say("SOCKET", socket_, "-");
  if (const std::string way = rota::text_of(kept.about.texts, "accel_tasks");
      !way.empty() && !machine().nodes.empty()) {
    // Which container that is may change while the job runs: its processes ask here by the name of their node.
    const Node& first = machine().nodes[view().placement(start.job).shares.front().node.value];
    const std::string how = way == "late" ? "late:" : way == "slot" ? fmt::format("slot:{}.0:", spec.number) : "";
    say("ACCEL", fmt::format("{}{}@{}", how, first.name, socket_), "-");
  }
  if (slurms) say_as_slurm(start.job, kept, tasks, all);
  return all;
}

// What Slurm says in words that Rota has not.
void RunRequests::say_as_slurm(JobId id, const KeptAbout& kept, std::uint32_t tasks,
                               std::vector<std::string>& all) const {
  const JobSpec& spec = view().job(id).spec;
  const std::string nodes = use_.jobs.nodes_of(id);
  const std::vector<std::uint32_t> processors = processors_by_node(id);
  for (const auto& [name, value] : {std::pair{"JOBID", std::to_string(spec.number)},
                                    {"NODELIST", nodes.empty() ? machine().name : nodes},
                                    {"NNODES", std::to_string(processors.size())},
                                    {"NPROCS", std::to_string(tasks)},
                                    {"TASKS_PER_NODE", in_runs(tasks_on(processors, tasks))},
                                    {"JOB_CPUS_PER_NODE", in_runs(processors)},
                                    {"JOB_UID", std::to_string(kept.about.uid)},
                                    {"JOB_GID", std::to_string(kept.about.gid)},
                                    {"SUBMIT_HOST", this_host()},
                                    {"PROCID", std::string("0")},
                                    {"LOCALID", std::string("0")},
                                    {"NODEID", std::string("0")},
                                    {"GTIDS", std::string("0")},
                                    {"PRIO_PROCESS", std::string("0")}})
    all.push_back(fmt::format("SLURM_{}={}", name, value));
  const auto hosts = parse_host_list(nodes.empty() ? machine().name : nodes);
  if (hosts && !hosts->empty()) all.push_back("SLURMD_NODENAME=" + hosts->front());
  if (spec.accelerators > 0) all.push_back("SLURM_GPUS_ON_NODE=" + std::to_string(spec.accelerators));  // on each
}

// A line for each process, as PBS has it: the name of its node. None of a job that is larger than any that starts
// processes by such a list.
std::string RunRequests::node_file_of(JobId id, std::uint32_t tasks) const {
  constexpr std::uint32_t kMostLines = 1'000'000;
  std::string text;
  const std::uint32_t processors = view().job(id).spec.processors;
  if (processors > kMostLines) return text;
  const auto add = [&](const std::string& name, std::uint32_t lines) {
    for (; lines > 0; --lines) text += name + "\n";
  };
  if (machine().nodes.empty()) {
    add(this_host(), tasks);
    return text;
  }
  const auto& shares = view().placement(id).shares;
  const std::vector<std::uint32_t> lines = tasks_on(processors_by_node(id), tasks);
  for (std::size_t i = 0; i < shares.size(); ++i) add(machine().nodes[shares[i].node.value].name, lines[i]);
  return text;
}

// A script with #PBS lines finds the folder that it was submitted in, and goes there; it asks for these, too.
void RunRequests::say_as_pbs(JobId id, const KeptAbout& kept, std::vector<std::string>& all) const {
  const JobSpec& spec = view().job(id).spec;
  const auto say = [&](const char* name, const std::string& value) {
    all.push_back(fmt::format("PBS_{}={}", name, value));
  };
  say("JOBID", use_.jobs.book().shown(id));
  say("JOBNAME", kept.about.name);
  say("ENVIRONMENT", "PBS_BATCH");
  const std::size_t nodes = machine().nodes.empty() ? 1 : view().placement(id).shares.size();
  say("NP", std::to_string(spec.processors));
  say("NUM_NODES", std::to_string(nodes));
  say("NODENUM", "0");
  say("TASKNUM", "1");
  all.push_back("NCPUS=" + std::to_string((spec.processors + nodes - 1) / nodes));
  say("NUM_PPN", std::to_string((spec.processors + nodes - 1) / nodes));
  if (spec.partition.valid()) say("QUEUE", machine().partitions[spec.partition.value].name);
  if (spec.limit < kLongest) say("WALLTIME", std::to_string(spec.limit.count() / 1000));
  if (kept.index < 0) return;
  say("ARRAY_ID", array_of(kept.about));
  say("ARRAY_INDEX", std::to_string(kept.index));
  say("ARRAYID", std::to_string(kept.index));
}

// Its script is put on the disk. One that moves gives up as much.
Result<void> RunRequests::has_room_to_run(const Command& start, const RunRequest& run, std::uint32_t uid) {
  constexpr std::size_t kMuch = 64 << 10;  // of an operator, who needs no bounds
  const std::size_t bytes = run.script.size() + run.node_file.size();
  const bool of_operator = use_.operators.include(uid);
  if (start.kind == Command::Kind::migrate || bytes <= (of_operator ? kMuch : 0)) return {};
  return use_.room.takes_script({start.job, uid, bytes}, of_operator);
}

void RunRequests::warn_of_job(JobId job, const std::string& sentence) {
  use_.desk.log().say(fmt::format("warning: job {}: {}", use_.jobs.book().shown(job), sentence));
}

Result<RunRequest> RunRequests::run_of(const Command& start) {
  const auto payload = TRY(use_.desk.store().payload(start.job));
  if (!payload || !view().knows(start.job)) return fail("it is not known what this job runs.");
  const auto kept = TRY(read_about(payload->about));
  const About& about = kept.about;
  const Job& job = view().job(start.job);
  const int restarts = restarts_of(job);
  const std::string nodes = use_.jobs.nodes_of(start.job);
  RunRequest run;
  run.script = payload->script;
  run.command = about.command;
  const std::vector<std::string> given = texts_of(payload->environment);
  const bool sbatch = std::ranges::find(given, "ROTA_SBATCH=1") != given.end();  // its script has #SBATCH lines
  run.slurms = slurms_ || sbatch;
  const std::vector<std::string> own = environment_of(start, kept, run.slurms);
  for (const std::string& text : given)
    if (!of_a_job(text)) run.environment.push_back(text);
  if (std::ranges::any_of(given, [](const std::string& text) { return text.starts_with("PBS_O_WORKDIR="); })) {
    std::ranges::copy_if(given, std::back_inserter(run.environment),
                         [](const std::string& text) { return text.starts_with("PBS_O_"); });
    say_as_pbs(start.job, kept, run.environment);
    run.node_file = node_file_of(start.job, size_asked(about, job.spec).all_tasks());
  }
  TRY(has_room_to_run(start, run, about.uid));
  run.environment.insert(run.environment.end(), own.begin(), own.end());
  if (run.slurms) say_what_was_asked(given, run.environment);
  run.folder = about.folder;
  if (!about.input.empty()) run.input = fill_in(about.input, use_.jobs.pattern_words(start.job, kept, nodes, restarts));
  (about.writes_to_terminal() ? run.left_output : run.output) =
      use_.jobs.output_path(start.job, kept, false, restarts, nodes);
  run.attach = about.attach;
  if (!about.error.empty()) run.error = use_.jobs.output_path(start.job, kept, true, restarts, nodes);
  const auto shared = [&](const std::string& name) { return !name.empty() && !tells_tasks_apart(name); };
  const bool tasks_share =
      about.array > 0 && (shared(about.output) || shared(about.error));  // and keep what others wrote
  run.append = about.append.value_or(restarts > 0 || tasks_share);
  run.umask = about.umask;
  if (::geteuid() == 0) {
    run.uid = about.uid;
    run.gid = about.gid;
    run.user = about.user;
  }
  run.memory = job.spec.memory;
  run.processors = job.spec.processors;
  run.limit = job.spec.limit;
  run.warning_signal = about.warning_signal;
  run.warning_to_script = about.warning_to_script;
  run.warning_lead = about.warning_time;
  run.kill_wait = about.kill_wait;
  run.checkpoint = about.checkpoint;
  run.checkpoint_signal = about.checkpoint_signal;
  run.checkpoint_time = about.checkpoint_time;
  return run;
}

}  // namespace rota::serve
