#include "trace/attributes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace rota::trace {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20U;
constexpr std::size_t kMostLicences = 1'000'000;
constexpr std::int64_t kMostAccelerators = 64;  // of a node

enum Column : std::size_t {
  kJob,
  kLicences,
  kRestart,
  kRestartCost,
  kPriority,
  kTasks,
  kTaskAccelerator,
  kTaskCpu,
  kTaskTransfer,
  kStartUp,
  kInput,
  kSite,
  kAccelerators,
  kAcceleratorType,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kNames{
    "job",      "licences",      "restart",  "restart_cost", "priority", "tasks",        "task_accelerator",
    "task_cpu", "task_transfer", "start_up", "input",        "site",     "accelerators", "accelerator_type"};
constexpr std::int64_t kMostPriority = 1'000'000;
constexpr Duration kLongestTask = seconds(100 * 86'400);
constexpr std::int64_t kMostTransfer = std::int64_t{1} << 50U;

std::string all_names() {
  std::string all;
  for (std::size_t i = 0; i < kColumns; ++i) {
    all += (i == 0 ? "" : i + 1 == kColumns ? " and " : ", ") + std::string(kNames[i]);
  }
  return all;
}

}  // namespace

class AttributesReader {
 public:
  AttributesReader(std::string shown, const Machine* machine) : shown_(std::move(shown)), machine_(machine) {}

  Result<Attributes> read(std::string_view text) {
    for (std::string_view line : split(text, '\n')) {
      ++line_;
      line = trimmed(line);
      if (line.empty() || line.starts_with('#')) continue;
      auto done = columns_.empty() ? read_header(line) : read_row(line);
      if (!done) return std::unexpected(done.error());
    }
    if (columns_.empty()) {
      return fail(shown_ + ": there is no line with the names of the columns, such as job,restart,restart_cost.");
    }
    if (attributes_.tasks_.of_others) {
      for (const std::int64_t number : unnamed_tasks_) attributes_.tasks_.of_named.emplace(number, std::nullopt);
    }
    return std::move(attributes_);
  }

 private:
  std::unexpected<Error> wrong(const std::string& what) const {
    return fail(shown_ + ":" + std::to_string(line_) + ": " + what);
  }

  Result<void> read_header(std::string_view line) {
    for (const std::string_view cell : split(line, ',')) {
      const std::string_view name = trimmed(cell);
      const auto* found = std::find(kNames.begin(), kNames.end(), name);
      if (found == kNames.end()) {
        const auto near = nearest(name, {kNames.begin(), kNames.end()});
        return wrong("there is no column " + quoted(name) +
                     (near.empty() ? "; there are " + all_names() + "." : "; did you mean " + std::string(near) + "?"));
      }
      const auto column = static_cast<std::size_t>(found - kNames.begin());
      if (std::find(columns_.begin(), columns_.end(), column) != columns_.end()) {
        return wrong("column " + quoted(name) + " is there twice.");
      }
      columns_.push_back(column);
    }
    if (std::find(columns_.begin(), columns_.end(), kJob) == columns_.end()) {
      return wrong("no column is called job: it has the jobs' numbers, or * for all jobs that are not named.");
    }
    return {};
  }

  Result<void> read_row(std::string_view line) {
    const auto cells = split(line, ',');
    if (cells.size() != columns_.size()) {
      return wrong("there are " + std::to_string(cells.size()) + " cells under " + std::to_string(columns_.size()) +
                   " columns.");
    }
    std::array<std::string_view, kColumns> row{};
    for (std::size_t i = 0; i < cells.size(); ++i) row[columns_[i]] = trimmed(cells[i]);
    Attributes::Said said;
    if (auto done = read_licences(row[kLicences], said); !done) return done;
    if (auto done = read_restart(row[kRestart], row[kRestartCost], said); !done) return done;
    if (auto done = read_priority(row[kPriority], said); !done) return done;
    const auto tasks = read_tasks(row);
    if (!tasks) return std::unexpected(tasks.error());
    if (auto done = read_input(row[kInput], said); !done) return done;
    if (auto done = read_site(row[kSite], said); !done) return done;
    if (auto done = read_accelerators(row[kAccelerators], row[kAcceleratorType], said); !done) return done;
    return add(row[kJob], said, *tasks);
  }

  Result<void> add(std::string_view job, const Attributes::Said& said, const std::optional<TaskSpec>& tasks) {
    if (job == "*") {
      if (std::exchange(others_named_, true)) return wrong("* is there twice.");
      attributes_.of_others_ = said;
      attributes_.tasks_.of_others = tasks;
      return {};
    }
    const auto number = parse_integer(job);
    if (!number) return wrong("a job is a number, or * for all jobs that are not named, not " + quoted(job) + ".");
    if (!attributes_.of_.emplace(*number, said).second) return wrong("job " + std::string(job) + " is there twice.");
    if (tasks)
      attributes_.tasks_.of_named.emplace(*number, tasks);
    else
      unnamed_tasks_.push_back(*number);
    return {};
  }

  Result<void> read_priority(std::string_view text, Attributes::Said& said) const {
    if (text.empty()) return {};
    const auto priority = parse_integer(text);
    if (!priority || *priority < -kMostPriority || *priority > kMostPriority) {
      return wrong("priority is a whole number from -1000000 to 1000000, not " + quoted(text) + ".");
    }
    said.priority = static_cast<std::int32_t>(*priority);
    return {};
  }

  Result<std::optional<TaskSpec>> read_tasks(const std::array<std::string_view, kColumns>& row) const {
    if (row[kTasks].empty() || row[kTasks] == "0") {
      for (const Column column : {kTaskAccelerator, kTaskCpu, kTaskTransfer, kStartUp}) {
        if (!row[column].empty()) return wrong("there is a " + std::string(kNames[column]) + ", but no tasks.");
      }
      return std::optional<TaskSpec>{};
    }
    const auto count = parse_integer(row[kTasks]);
    if (!count || *count < 1 || *count > kMostTasksOfJob) {
      return wrong("tasks are a whole number up to " + grouped(kMostTasksOfJob) + ", not " + quoted(row[kTasks]) + ".");
    }
    if (machine_ == nullptr || machine_->nodes.empty()) {
      return wrong("jobs have tasks, and processors are only counted. Give a --cluster file with [[nodes]].");
    }
    if (row[kTaskAccelerator].empty()) {
      return wrong("the job has tasks, and task_accelerator does not say what one takes on an accelerator.");
    }
    TaskSpec spec;
    spec.count = static_cast<std::uint32_t>(*count);
    if (auto done = read_time(row, kTaskAccelerator, Duration{1}, spec.accelerator); !done) {
      return std::unexpected(done.error());
    }
    if (auto done = read_time(row, kTaskCpu, Duration{1}, spec.cpu); !done) return std::unexpected(done.error());
    if (auto done = read_time(row, kStartUp, Duration{0}, spec.start_up); !done) return std::unexpected(done.error());
    if (row[kTaskTransfer].empty()) return spec;
    const auto transfer = parse_size(row[kTaskTransfer]);
    if (!transfer || *transfer < 0 || *transfer > kMostTransfer) {
      return wrong("task_transfer is a size such as 50MB, not " + quoted(row[kTaskTransfer]) + ".");
    }
    spec.transfer = *transfer;
    return spec;
  }

  Result<void> read_time(const std::array<std::string_view, kColumns>& row, Column column, Duration least,
                         Duration& into) const {
    if (row[column].empty()) return {};
    const auto time = parse_duration(row[column]);
    if (!time || *time < least || *time > kLongestTask) {
      return wrong(std::string(kNames[column]) + " is a duration such as 2.5s, not " + quoted(row[column]) + ".");
    }
    into = *time;
    return {};
  }

  // "matlab" is one of it, "matlab:4" are four.
  Result<void> read_licences(std::string_view text, Attributes::Said& said) {
    if (text.empty()) return {};
    const auto colon = text.find(':');
    const std::string_view name = trimmed(text.substr(0, colon));
    const auto count =
        colon == std::string_view::npos ? Result<std::int64_t>(1) : parse_integer(text.substr(colon + 1));
    if (!count || *count < 1 || *count > static_cast<std::int64_t>(kMostLicences)) {
      return wrong("licences are a name, or a name and how many such as matlab:4, not " + quoted(text) + ".");
    }
    if (machine_ == nullptr || machine_->licences.empty()) {
      return wrong("jobs ask for licences, and the cluster has none. Give a --cluster file with `licences`.");
    }
    const auto& all = machine_->licences;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Licence& l) { return l.name == name; });
    if (found == all.end()) {
      std::vector<std::string_view> names;
      for (const Licence& l : all) names.push_back(l.name);
      const auto near = nearest(name, names);
      return wrong("the cluster has no licence " + quoted(name) +
                   (near.empty() ? "." : "; did you mean " + quoted(near) + "?"));
    }
    said.licence = LicenceId{static_cast<std::uint32_t>(found - all.begin())};
    said.licences = static_cast<std::uint32_t>(*count);
    return {};
  }

  Result<void> read_restart(std::string_view how, std::string_view cost, Attributes::Said& said) {
    if (how == "checkpoint") {
      said.restart = Restart::checkpoint;
    } else if (how == "from-start") {
      said.restart = Restart::from_start;
    } else if (!how.empty() && how != "never") {
      return wrong("restart is checkpoint, from-start or never, not " + quoted(how) + ".");
    }
    if (cost.empty()) return {};
    if (said.restart == Restart::never) return wrong("there is a restart_cost, but the job is never restarted.");
    const auto time = parse_duration(cost);
    if (!time) return wrong("restart_cost is a duration such as 90s, not " + quoted(cost) + ".");
    said.restart_cost = *time;
    return {};
  }

  Result<void> read_input(std::string_view text, Attributes::Said& said) {
    if (text.empty()) return {};
    const auto bytes = parse_size(text);
    if (!bytes) return wrong("input is a number of bytes such as 4096 or 20G, not " + quoted(text) + ".");
    said.input = *bytes;
    return {};
  }

  Result<void> read_site(std::string_view text, Attributes::Said& said) {
    if (text.empty()) return {};
    if (machine_ == nullptr || machine_->sites.empty()) {
      return wrong("jobs name a site, and the cluster has none. Give a --cluster file with [[sites]].");
    }
    const auto& all = machine_->sites;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Machine& site) { return site.name == text; });
    if (found == all.end()) {
      std::vector<std::string_view> names;
      for (const Machine& site : all) names.push_back(site.name);
      const auto near = nearest(text, names);
      return wrong("the cluster has no site " + quoted(text) +
                   (near.empty() ? "." : "; did you mean " + quoted(near) + "?"));
    }
    said.site = SiteId{static_cast<std::uint32_t>(found - all.begin())};
    return {};
  }

  // On each node, and of which type: none said, any will do.
  Result<void> read_accelerators(std::string_view count, std::string_view type, Attributes::Said& said) {
    if (count.empty() || count == "0") {
      return type.empty() ? Result<void>{} : wrong("there is an accelerator_type, but no accelerators.");
    }
    const auto asked = parse_integer(count);
    if (!asked || *asked < 1 || *asked > kMostAccelerators) {
      return wrong("accelerators are how many the job needs on each of its nodes, up to " +
                   std::to_string(kMostAccelerators) + ", not " + quoted(count) + ".");
    }
    if (machine_ == nullptr || !machine_->has_accelerators()) {
      return wrong("jobs ask for accelerators, and the cluster has none. Give a --cluster file with `accelerators`.");
    }
    said.accelerators = static_cast<std::uint8_t>(*asked);
    attributes_.asks_for_accelerators_ = true;
    if (type.empty()) return {};
    const auto& all = machine_->accelerator_types;
    const auto found = std::ranges::find(all, type);
    if (found == all.end()) {
      const auto near = nearest(type, {all.begin(), all.end()});
      return wrong("the cluster has no accelerators of type " + quoted(type) +
                   (near.empty() ? "." : "; did you mean " + quoted(near) + "?"));
    }
    said.accelerator_type = AcceleratorTypeId{static_cast<std::uint8_t>(found - all.begin())};
    return {};
  }

  std::string shown_;
  const Machine* machine_;
  std::int64_t line_ = 0;
  std::vector<std::size_t> columns_;  // which each cell is
  bool others_named_ = false;
  std::vector<std::int64_t> unnamed_tasks_;  // jobs that are named and have no tasks
  Attributes attributes_;
};

Result<Attributes> Attributes::parse(std::string_view text, const std::string& shown, const Machine* machine) {
  return AttributesReader(shown, machine).read(text);
}

Result<Attributes> Attributes::read(const std::string& path, const Machine* machine) {
  const auto text = read_file(path, kMostBytes);
  if (!text) return std::unexpected(text.error());
  return parse(*text, path == "-" ? "standard input" : path, machine);
}

const Attributes::Said& Attributes::said_of(std::int64_t job) const {
  const auto found = of_.find(job);
  return found == of_.end() ? of_others_ : found->second;
}

void Attributes::give(JobSpec& spec) const {
  const Said& said = said_of(spec.number);
  spec.licence = said.licence;
  spec.licences = said.licences;
  spec.accelerators = said.accelerators;
  spec.accelerator_type = said.accelerator_type;
  spec.restart = said.restart;
  spec.restart_cost = said.restart_cost;
  spec.priority += said.priority;
}

}  // namespace rota::trace
