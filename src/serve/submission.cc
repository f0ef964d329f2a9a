#include "serve/submission.h"

#include <fmt/core.h>

#include <pwd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <set>
#include <utility>

#include "base/letters.h"
#include "base/text.h"
#include "model/licence_names.h"
#include "model/never_fits.h"
#include "serve/mail.h"

namespace rota::serve {
namespace {

constexpr std::size_t kLongestName = 200;

std::unexpected<Error> bad_array(std::string_view text) {
  return fail(
      "the array {} makes no sense; write indexes as in 1-100, 1,3,7 or 0-20:5, with %10 behind them for ten at a "
      "time.",
      rota::quoted(text));
}

struct Stretch {
  std::int64_t from;
  std::int64_t to;
  std::int64_t step;
};

std::optional<Stretch> parse_stretch(std::string_view piece) {
  std::int64_t step = 1;
  if (const auto colon = piece.find(':'); colon != std::string_view::npos) {
    const auto parsed = parse_integer(piece.substr(colon + 1));
    if (!parsed || *parsed < 1 || *parsed > INT32_MAX) return std::nullopt;
    step = *parsed;
    piece = piece.substr(0, colon);
  }
  const auto dash = piece.find('-');
  const auto from = parse_integer(piece.substr(0, dash));
  const auto to = dash == std::string_view::npos ? from : parse_integer(piece.substr(dash + 1));
  if (!from || !to || *from < 0 || *to < *from || *to > INT32_MAX) return std::nullopt;
  return Stretch{*from, *to, step};
}

template <class Row>
std::unexpected<Error> unknown(const std::vector<Row>& rows, std::string_view name, const std::string& what) {
  std::vector<std::string_view> names;
  for (const Row& row : rows) names.push_back(row.name);
  std::string message = fmt::format("there is no {} {}", what, rota::quoted(name));
  const std::string_view near = nearest(name, names);
  if (!near.empty()) return fail("{}; did you mean {}?", message, near);
  if (names.empty()) return fail(message + "; this cluster has none.");
  message += "; there is";
  for (const std::string_view each : names) message += (each == names.front() ? " " : ", ") + std::string(each);
  return fail(message + ".");
}

template <class Id, class Row>
Result<Id> find_by_name(const std::vector<Row>& rows, std::string_view name, const std::string& what) {
  const auto found = std::ranges::find(rows, name, &Row::name);
  if (found == rows.end()) return unknown(rows, name, what);
  return Id{static_cast<decltype(Id::value)>(found - rows.begin())};
}

}  // namespace

Result<void> look_up_licences(const LicencesAsked& asked_for, const Machine& machine, JobSpec& spec) {
  std::vector<NamedLicences> asked;
  if (asked_for.licence.empty() && asked_for.licences > 0)
    return fail("`licences` says how many of `licence` there are to be; name that, too.");
  if (!asked_for.licence.empty()) asked.push_back({asked_for.licence, std::max(1U, asked_for.licences)});
  for (const std::string& more : asked_for.more_licences) {
    auto named = TRY(parse_named_licences(more));
    asked.insert(asked.end(), named.begin(), named.end());
  }
  std::vector<LicenceUse> kinds;
  for (const NamedLicences& each : asked) {
    const auto found = TRY(find_by_name<LicenceId>(machine.licences, each.name, "licence"));
    if (std::ranges::find(kinds, found, &LicenceUse::licence) != kinds.end())
      return fail("the licence {} is asked for twice; say once how many.", rota::quoted(each.name));
    kinds.push_back({found, each.count});
  }
  if (set_licences(spec, std::move(kinds))) return {};
  return fail("a job may hold licences of {} kinds at most, and {} of each where there are several.", kMostLicenceKinds,
              grouped(MoreLicences::kMostCount));
}

Result<void> look_up_qos(const std::string& name, const Machine& machine, JobSpec& spec) {
  spec.qos = {};
  if (name.empty() || machine.qos.empty()) return {};  // a cluster that describes none gives the word no meaning
  spec.qos = TRY(find_by_name<QosId>(machine.qos, name, "QOS"));
  return {};
}

namespace {

// What the job asks of the machine by name.
Result<void> look_up(const JobRequest& submission, const Machine& machine, JobSpec& spec) {
  spec.partition = machine.default_partition;
  if (!submission.partition.empty()) {
    spec.partition = TRY(find_by_name<PartitionId>(machine.partitions, submission.partition, "partition"));
  }
  const LicencesAsked licences{submission.licence, submission.licences, submission.more_licences};
  if (auto done = look_up_licences(licences, machine, spec); !done) return done;
  if (auto done = look_up_qos(submission.qos, machine, spec); !done) return done;
  spec.node_wish =
      TRY(node_wish_of({submission.features, submission.required_nodes, submission.excluded_nodes}, machine));
  if (submission.accelerator_type.empty()) return {};
  const auto& types = machine.accelerator_types;
  const auto found = std::ranges::find(types, submission.accelerator_type);
  if (found == types.end())
    return fail("no node has accelerators of type {}.", rota::quoted(submission.accelerator_type));
  spec.accelerator_type = AcceleratorTypeId{static_cast<std::uint8_t>(found - types.begin())};
  return {};
}

}  // namespace

Result<ArrayRange> parse_array(std::string_view text, std::int64_t most) {
  ArrayRange range;
  std::string_view indexes = text;
  if (const auto percent = text.find('%'); percent != std::string_view::npos) {
    const auto throttle = parse_integer(text.substr(percent + 1));
    if (!throttle || *throttle < 1 || *throttle > INT32_MAX) return bad_array(text);
    range.throttle = static_cast<std::uint32_t>(*throttle);
    indexes = text.substr(0, percent);
  }
  std::set<std::int64_t> all;
  std::int64_t looked_at = 0;
  for (const std::string_view piece : split(indexes, ',')) {
    const auto stretch = parse_stretch(piece);
    if (!stretch) return bad_array(text);
    looked_at += (stretch->to - stretch->from) / stretch->step + 1;
    if (looked_at > most)
      return fail("the array {} has more than {} tasks, the most here.", rota::quoted(text), grouped(most));
    for (std::int64_t i = stretch->from; i <= stretch->to; i += stretch->step) all.insert(i);
  }
  if (static_cast<std::int64_t>(all.size()) > most)
    return fail("the array {} has more than {} tasks, the most here.", rota::quoted(text), grouped(most));
  range.indexes.assign(all.begin(), all.end());
  return range;
}

std::string zero_ended(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += text;
    all += '\0';
  }
  return all;
}

std::vector<std::string> texts_of(std::string_view zero_ended) {
  std::vector<std::string> texts;
  for (std::size_t from = 0; from < zero_ended.size();) {
    const std::size_t to = std::min(zero_ended.find('\0', from), zero_ended.size());
    texts.emplace_back(zero_ended.substr(from, to - from));
    from = to + 1;
  }
  return texts;
}

std::optional<std::uint32_t> user_number(std::string_view word) {
  const auto uid = parse_integer(word);
  if (!uid || *uid < 0 || *uid >= UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*uid);
}

std::string user_called(const Caller& caller, std::string_view word) {
  if (word == "me") return caller.user;
  const auto uid = user_number(word);
  if (!uid) return std::string(word);
  const passwd* const user = ::getpwuid(*uid);
  return user == nullptr ? std::string(word) : user->pw_name;
}

Result<void> check_name(std::string_view name) {
  if (name.empty()) return fail("a job's name has one byte at least; give it one.");
  if (name.size() > kLongestName) return fail("a job's name has {} bytes at most.", grouped(kLongestName));
  return {};
}

Result<std::int32_t> parse_signal(std::string_view text) {
  std::string name = upper(text);
  if (name.starts_with("SIG")) name.erase(0, 3);
  for (std::int32_t number = 1; number < NSIG; ++number) {
    const char* const known = ::sigabbrev_np(number);
    if (known != nullptr && name == known) return number;
  }
  const auto number = parse_integer(text);
  if (number && *number >= 1 && *number <= SIGRTMAX) return static_cast<std::int32_t>(*number);
  return fail("there is no signal {}; name one as USR1, TERM or 10.", rota::quoted(text));
}

namespace {

// visit(Node) for each node that the job may be on.
void for_each_node(const Machine& machine, const JobSpec& spec, const auto& visit) {
  const Partition* partition = spec.partition.valid() ? &machine.partitions[spec.partition.value] : nullptr;
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    const Node& node = machine.nodes[n];
    const bool in = partition == nullptr || std::ranges::binary_search(partition->nodes, NodeId{n});
    if (in && !node.has_gone() && (!spec.node_wish || spec.node_wish->admits(NodeId{n}, node.features))) visit(node);
  }
}

// Whole nodes are those whose processors are all its own. Where nodes differ, how many processors that are depends on
// which it gets, and that is not known before it starts.
Result<void> take_whole_nodes(const Machine& machine, JobSpec& spec) {
  const Partition* partition = spec.partition.valid() ? &machine.partitions[spec.partition.value] : nullptr;
  if (machine.nodes.empty()) {
    if (spec.nodes > 1) return fail("this machine is one node; ask for one with `exclusive`.");
    spec.processors = static_cast<std::uint32_t>(machine.processors);
    return {};
  }
  std::uint32_t each = 0;
  bool differ = false;
  for_each_node(machine, spec, [&](const Node& node) {
    differ = differ || (each != 0 && each != node.processors);
    each = node.processors;
  });
  if (differ)
    return fail(
        "`exclusive` takes whole nodes, and the nodes of {} differ in size; name a partition of equal ones, or ask "
        "for the processors of a whole node.",
        partition != nullptr ? "partition " + partition->name : std::string("this cluster"));
  if (each == 0) return fail("`exclusive` takes whole nodes, and there are none to take.");
  if (spec.nodes == 0) spec.nodes = spec.processors / each + (spec.processors % each != 0 ? 1 : 0);
  if (spec.nodes > UINT32_MAX / each) return fail("no machine has so many nodes.");
  spec.processors = std::max(spec.processors, spec.nodes * each);  // too many for its nodes: it never fits
  return {};
}

// All of whose processors are on one node, as those of any process are.
bool is_one_process(std::uint32_t tasks, std::uint32_t processors) { return tasks == 1 && processors > 1; }

}  // namespace

Size size_of(const JobRequest& submission) {
  return {submission.processors, submission.nodes, submission.tasks, submission.tasks_per_node, submission.exclusive};
}

namespace {

// A job that names nodes is on all of them, with a processor on each.
void count_named_nodes(const JobSpec& spec, Size& size) {
  const auto named = static_cast<std::uint32_t>(spec.node_wish ? spec.node_wish->among.size() : 0);
  if (size.nodes == 0) size.nodes = named;
  if (size.nodes >= named && size.processors == 1 && size.tasks == 0) size.processors = std::max(1U, named);
}

// Rounded up where processes have several processors each and are not as many on each node, so that none is split.
std::uint32_t processors_of(const Size& size) {
  const bool even = size.nodes == 0 || size.tasks < size.nodes || size.tasks % size.nodes == 0;
  if (even || size.processors % size.tasks != 0) return size.processors;
  const std::uint64_t each = size.processors / size.tasks;
  const std::uint64_t rounded = (std::uint64_t{size.tasks} / size.nodes + 1) * size.nodes * each;
  return each == 1 || rounded > std::uint64_t{kMostProcessors} ? size.processors : static_cast<std::uint32_t>(rounded);
}

}  // namespace

Result<void> give_size(const Size& asked, const Machine& machine, JobSpec& spec) {
  Size size = asked;
  count_named_nodes(spec, size);
  if (size.tasks > size.processors)
    return fail(
        "a job has at most as many `tasks` as processors, and {} is more; ask for more of these or fewer of those.",
        grouped(size.tasks));
  if (size.tasks_per_node > 0 && std::uint64_t{size.tasks_per_node} * size.nodes != size.all_tasks())
    return fail("`tasks_per_node` times `nodes` is not the number of processes; say `nodes`, and as many `tasks`.");
  spec.processors = processors_of(size);
  spec.nodes = size.nodes == 0 && is_one_process(size.tasks, size.processors) ? 1 : size.nodes;
  spec.nodes = nodes_of(machine, spec);
  if (size.exclusive) {
    if (auto taken = take_whole_nodes(machine, spec); !taken) return taken;
  }
  spec.nodes = std::min(spec.nodes, spec.processors);  // each has one at least
  return set_node_wish(spec, spec.node_wish, machine);
}

Size size_asked(const About& about, const JobSpec& spec) {
  Size size{.processors = about.processors > 0 ? about.processors : spec.processors,
            .nodes = about.nodes.value_or(spec.nodes),
            .tasks = about.tasks,
            .tasks_per_node = about.tasks_per_node,
            .exclusive = about.exclusive};
  if (!about.nodes && spec.nodes == 1 && is_one_process(size.tasks, size.processors)) size.nodes = 0;
  return size;
}

void keep_size(const Size& size, const JobSpec& spec, About& about) {
  about.tasks = size.tasks;
  about.tasks_per_node = size.tasks_per_node;
  about.exclusive = size.exclusive;
  about.processors = size.processors == spec.processors ? 0 : size.processors;
  about.nodes.reset();
  if (size_asked(about, spec).nodes != size.nodes) about.nodes = size.nodes;
}

namespace {

// Where nodes differ it is the least, which all of them have.
std::int64_t memory_of_each(const Machine& machine, const JobSpec& spec) {
  if (machine.nodes.empty()) return machine.memory;
  std::int64_t least = INT64_MAX;
  for_each_node(machine, spec, [&](const Node& node) { least = std::min(least, node.memory); });
  return least == INT64_MAX ? 0 : least;
}

// The fewest within what is asked for that have all its processors.
std::uint32_t fewest_nodes(const JobRequest& submission, const Machine& machine, const JobSpec& spec) {
  const auto named = static_cast<std::uint32_t>(spec.node_wish ? spec.node_wish->among.size() : 0);
  if (named > 0) return std::clamp(named, submission.nodes, submission.most_nodes);
  std::uint32_t largest = 0;
  for_each_node(machine, spec, [&](const Node& node) { largest = std::max(largest, node.processors); });
  if (largest == 0 || submission.tasks_per_node > 0) return submission.nodes;
  const std::uint32_t wanted = submission.processors / largest + (submission.processors % largest != 0 ? 1 : 0);
  return std::clamp(wanted, submission.nodes, submission.most_nodes);
}

}  // namespace

Result<JobSpec> spec_of(const JobRequest& submission, const Machine& machine) {
  JobSpec spec;
  TRY(look_up(submission, machine, spec));
  if (submission.most_nodes > 0 && submission.nodes == 0)
    return fail("`most_nodes` goes with `nodes`, which says the fewest; give both.");
  if (submission.all_memory && submission.memory > 0)
    return fail("`all_memory` and `memory` exclude each other; give one of them.");
  if (submission.warning_signal.empty() && submission.warning_to_script)
    return fail("`warning_to_script` goes with `warning_signal`; name the signal.");
  if (const std::string& way = submission.accel_tasks; !way.empty() && way != "node" && way != "slot" && way != "late")
    return fail("`accel_tasks` is `node`, `slot` or `late`, not {}.", rota::quoted(way));
  Size size = size_of(submission);
  if (submission.most_nodes > submission.nodes) size.nodes = fewest_nodes(submission, machine, spec);
  count_named_nodes(spec, size);
  if (size.nodes > size.processors && !size.exclusive)
    return fail(
        "a job has at most as many `nodes` as `processors`, and {} is more; ask for more of these or fewer of those.",
        grouped(size.nodes));
  TRY(give_size(size, machine, spec));
  spec.memory = submission.all_memory ? memory_of_each(machine, spec) : submission.memory;
  spec.accelerators = submission.accelerators;
  spec.priority = submission.priority;
  const bool keeps = !submission.checkpoint.empty() || !submission.checkpoint_signal.empty();
  if (keeps && !submission.requeue.value_or(true))
    return fail("a job that writes a checkpoint is run again from it; leave out the checkpoint or `--no-requeue`.");
  spec.restart = keeps                 ? Restart::checkpoint
                 : !submission.requeue ? Restart::never
                 : *submission.requeue ? Restart::from_start
                                       : Restart::once;
  spec.limit = submission.limit.value_or(spec.partition.valid() ? machine.partitions[spec.partition.value].default_time
                                                                : kLongest);
  if (spec.partition.valid()) spec.priority += machine.partitions[spec.partition.value].priority;
  if (spec.limit <= Duration{0}) return fail("a job needs a time limit that is longer than nothing.");
  return spec;
}

std::string name_of(const JobRequest& submission) {
  if (!submission.name.empty()) return submission.name;
  if (submission.command.empty()) return "job";
  const std::string& program = submission.command.front();
  return program.substr(program.rfind('/') + 1, kLongestName);
}

namespace {

struct Signals {
  std::int32_t warning = 0;  // 0: none, as is
  std::int32_t checkpoint = 0;
};

// As they were found good.
Signals signals_of(const JobRequest& submission) {
  return {parse_signal(submission.warning_signal).value_or(0), parse_signal(submission.checkpoint_signal).value_or(0)};
}

}  // namespace

std::shared_ptr<About> about_of(const Caller& caller, const JobRequest& submission, const JobSpec& spec,
                                Duration kill_wait) {
  const Signals signals = signals_of(submission);
  auto about = std::make_shared<About>();
  about->name = name_of(submission);
  about->user = caller.user;
  about->uid = caller.uid;
  about->gid = caller.gid;
  about->comment = submission.comment;
  about->folder = submission.folder;
  about->output = submission.output;
  about->error = submission.error;
  about->input = submission.input;
  about->command = submission.command;
  about->after = submission.after;
  about->append = submission.append;
  about->umask = submission.umask;
  about->warning_signal = signals.warning;
  about->warning_to_script = submission.warning_to_script;
  if (signals.warning > 0) about->warning_time = submission.warning_time;
  about->kill_wait = submission.kill_wait.value_or(kill_wait);
  about->checkpoint = submission.checkpoint;
  about->checkpoint_signal = signals.checkpoint;
  if (!about->checkpoint.empty() || signals.checkpoint > 0) about->checkpoint_time = submission.checkpoint_time;
  about->scripted = !submission.script.empty();
  about->never = !submission.requeue.value_or(true);
  keep_size(size_of(submission), spec, *about);
  about->mail = parse_mail_types(submission.mail).value_or(0);
  if (about->mail > 0) about->mail_user = submission.mail_user;
  if (submission.submit_folder != submission.folder) about->submit_folder = submission.submit_folder;
  about->texts = kept_texts(submission);
  about->attach = submission.attach;
  if (!about->attach.socket.empty()) about->attach.user = caller.uid;
  return about;
}

}  // namespace rota::serve
