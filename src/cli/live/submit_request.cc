#include "cli/live/submit_request.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/letters.h"
#include "base/text.h"
#include "cli/live/asked_gpus.h"
#include "cli/live/file_name.h"
#include "cli/live/service_address.h"
#include "cli/live/submit_environment.h"
#include "cli/live/submit_value.h"
#include "cli/when.h"
#include "model/job_request.h"

namespace rota::cli {
namespace {

// Two that exclude each other, as in Slurm.
constexpr std::array<std::array<std::string_view, 2>, 4> kEither{{{"memory", "memory_each"},
                                                                  {"memory", "memory_of_accelerator"},
                                                                  {"memory_each", "memory_of_accelerator"},
                                                                  {"each", "each_of_accelerator"}}};

class Request {
 public:
  Request(const SubmitValues& values, const Surroundings& here) : values_(values), here_(here) {}

  Result<Json> made(std::vector<std::string>& remarks) {
    for (const char* key : {"array", "partition", "folder", "checkpoint", "features", "required_nodes",
                            "excluded_nodes", "reservation", "account", "qos"}) {
      if (const SubmitValue* value = given(key); value != nullptr && value->text.empty())
        return fail(value->where + " is given without a value; give one, or leave it out.");
    }
    using Step = Result<void> (Request::*)();
    for (const Step step : {&Request::processors, &Request::accelerators, &Request::memory, &Request::licence,
                            &Request::times, &Request::files, &Request::others, &Request::signal}) {
      TRY((this->*step)());
    }
    if (too_many_nodes_ && given("nodes") != nullptr)
      remarks.push_back(given("nodes")->where + " is passed over, as by Slurm: there are fewer tasks than nodes.");
    if (too_many_on_node_)
      remarks.push_back(given("per_node")->where +
                        " is passed over, as by Slurm: -n tasks on -N nodes are more than that on each.");
    about_files(remarks);
    about_times(remarks);
    mail(remarks);
    out_["environment"] = job_environment(values_, here_, remarks);
    return std::move(out_);
  }

 private:
  const SubmitValue* given(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }

  static std::unexpected<Error> twice(const SubmitValue& one, const SubmitValue& other) {
    return fail("{} and {} say the same in two ways; give one of them.", one.where, other.where);
  }

  // The number under a key, else `otherwise`.
  Result<std::int64_t> count(std::string_view key, std::int64_t otherwise) const {
    const SubmitValue* value = given(key);
    return value == nullptr ? otherwise : counted(*value);
  }

  Result<void> processors() {
    if (auto read = tres_of_task(); !read) return read;
    if (auto read = gpu_wishes(); !read) return read;
    for (const auto& [one, other] : kEither) {
      if (given(one) != nullptr && given(other) != nullptr) return twice(*given(one), *given(other));
    }
    const auto each = tres_processors_ > 0 ? Result<std::int64_t>(tres_processors_) : count("each", 1);
    const auto nodes = node_count(), per_node = count("per_node", 1);
    const auto tasks = count("processors", nodes.value_or(1) * per_node.value_or(1)), said = count("tasks", 0);
    for (const auto* number : {&each, &nodes, &per_node, &tasks, &said}) {
      if (!*number) return std::unexpected(number->error());
    }
    JobShape shape{.nodes = *nodes,
                   .most_nodes = out_.value("most_nodes", *nodes),
                   .tasks = *tasks,
                   .says_nodes = given("nodes") != nullptr || given("required_nodes") != nullptr,
                   .says_tasks = given("processors") != nullptr || given("per_node") != nullptr};
    if (auto fits = shaped(*per_node, shape); !fits) return fits;
    if (shape.tasks > kMostCounted / *each) return too_many_processors();
    processors_ = shape.tasks * *each;
    nodes_ = shape.nodes;
    tasks_ = shape.tasks;
    if (*said > 0) tasks_ = *said;  // of PBS: processes, whatever their processors
    if (tasks_ != processors_) out_["tasks"] = tasks_;
    if (given("exclusive") != nullptr) out_["exclusive"] = true;
    if (shape.says_tasks || given("each") != nullptr || shape.says_nodes || tres_processors_ > 0)
      out_["processors"] = processors_;
    if (!shape.says_nodes) return {};
    out_["nodes"] = nodes_;
    if (given("processors") == nullptr && tasks_ % nodes_ == 0) out_["tasks_per_node"] = tasks_ / nodes_;
    return {};
  }

  // What follows from accelerators, from --ntasks-per-node, and from PBS's place=pack: all chunks on one node.
  Result<void> shaped(std::int64_t per_node, JobShape& shape) {
    if (auto fits = fit_to_gpus(wishes_, shape); !fits) return fits;
    if (given("per_node") != nullptr) {  // with -n it is the most on each, with -n and -N a wish
      const std::int64_t least = (shape.tasks + per_node - 1) / per_node;
      too_many_on_node_ = shape.says_nodes && least > std::max(shape.nodes, shape.most_nodes);
      if (!too_many_on_node_) shape.nodes = std::max(shape.nodes, least);
      shape.says_nodes = true;
    }
    too_many_nodes_ = given("processors") != nullptr && shape.tasks < shape.nodes;
    if (const SubmitValue* names = given("required_nodes"); too_many_nodes_ && names != nullptr)
      return fail("{} names {}, and {} asks for {}; ask for one on each at least, or name fewer nodes.", names->where,
                  amount(shape.nodes, "node"), given("processors")->where, amount(shape.tasks, "task"));
    if (too_many_nodes_) shape.nodes = shape.most_nodes = shape.tasks;
    if (given("packed") != nullptr) chunks_ = std::exchange(shape.nodes, 1);
    if (shape.nodes >= shape.most_nodes) out_.erase("most_nodes");
    return {};
  }

  Result<void> gpu_wishes() {
    const std::array<std::pair<const SubmitValue*, std::optional<AskedGpus>*>, 3> all{
        {{given("accelerators_all"), &wishes_.all},
         {given("accelerators"), &wishes_.on_node},
         {tres_accelerators_ ? &*tres_accelerators_ : given("accelerators_each"), &wishes_.each}}};
    for (const auto& [value, into] : all) {
      if (value == nullptr) continue;
      auto read = TRY(asked_gpus(*value));
      if (read.number > 0) *into = std::move(read);
    }
    return {};
  }

  // "4", or the least and the most: "2-4".
  Result<std::int64_t> node_count() {
    const SubmitValue* value = given("nodes");
    if (const SubmitValue* named = given("required_nodes"); value == nullptr && named != nullptr) {
      auto nodes = TRY(parse_host_list(named->text));
      std::ranges::sort(nodes);
      return std::max<std::int64_t>(1, std::ranges::unique(nodes).begin() - nodes.begin());
    }
    const std::size_t dash = value == nullptr ? std::string::npos : value->text.find('-', 1);
    if (dash == std::string::npos) return count("nodes", 1);
    const auto least = parse_integer(value->text.substr(0, dash)), most = parse_integer(value->text.substr(dash + 1));
    if (!least || !most || *least < 1 || *most < *least || *most > kMostCounted)
      return wrong_value(*value, "a number of nodes, or the least and the most, such as 2-4");
    if (*most > *least) out_["most_nodes"] = *most;
    return *least;
  }

  // "cpu=2,gres/gpu:a100=1": of Slurm, for each task.
  Result<void> tres_of_task() {
    const SubmitValue* value = given("tres_each");
    if (value == nullptr) return {};
    for (const std::string_view piece : split(value->text, ',')) {
      const std::size_t end = piece.find_last_of("=:");
      const auto number =
          end == std::string_view::npos ? Result<std::int64_t>(1) : parse_integer(piece.substr(end + 1));
      const std::string_view kind = piece.substr(0, end);
      if (!number || *number < 0 || *number > kMostCounted) return wrong_value(*value, "such as cpu=2,gres/gpu=1");
      const char* const also = kind == "cpu" ? "each" : "accelerators_each";
      if (given(also) != nullptr) return twice(*value, *given(also));
      if (kind == "cpu") {
        tres_processors_ = *number;
      } else if (kind == "gres/gpu" || kind.starts_with("gres/gpu:")) {
        tres_accelerators_ = *value;
        tres_accelerators_->text = fmt::format("{}:{}", kind.substr(5), *number);
      } else {
        return fail("{}: Rota has nothing like {}; cpu=2 and gres/gpu=1 it takes, memory is --mem-per-cpu.",
                    value->where, rota::quoted(piece));
      }
    }
    return {};
  }

  Result<void> memory() {
    const SubmitValue* const whole_node = given("memory");
    if (whole_node != nullptr && whole_node->dialect == Dialect::slurm &&
        parse_size(whole_node->text).value_or(1) == 0) {
      out_["all_memory"] = true;  // as Slurm has it
    } else if (const SubmitValue* value = given("memory")) {
      const auto bytes = TRY(size_of(*value));
      if (bytes > INT64_MAX / chunks_) return wrong_value(*value, "less");
      out_["memory"] = bytes * chunks_;
      if (const SubmitValue* also = given("memory_all")) {  // of LSF, what it may use beside what is kept for it
        const auto most = TRY(size_of(*also));
        out_["memory"] = std::max(bytes * chunks_, share_of(most));
      }
    } else if (const SubmitValue* of_accelerator = given("memory_of_accelerator")) {
      const auto bytes = TRY(size_of(*of_accelerator));
      if (accelerators_ == 0) return goes_with_accelerators(*of_accelerator);
      if (bytes > INT64_MAX / accelerators_) return wrong_value(*of_accelerator, "less");
      out_["memory"] = bytes * accelerators_;
    } else if (const SubmitValue* whole = given("memory_all")) {  // of PBS: shared by the nodes
      const auto bytes = TRY(size_of(*whole));
      out_["memory"] = share_of(bytes);
    } else if (const SubmitValue* each = given("memory_each")) {
      const auto bytes = TRY(size_of(*each));
      // A process of several processors is not split.
      const std::int64_t of_one = processors_ % tasks_ == 0 && tasks_ >= nodes_ ? processors_ / tasks_ : 1;
      const std::int64_t on_each = (processors_ / of_one + nodes_ - 1) / nodes_ * of_one;
      if (bytes > INT64_MAX / on_each) return wrong_value(*each, "less");
      out_["memory"] = bytes * on_each;
    }
    return {};
  }

  // What each node has of it.
  std::int64_t share_of(std::int64_t all) const { return all / nodes_ + (all % nodes_ != 0 ? 1 : 0); }

  static std::unexpected<Error> goes_with_accelerators(const SubmitValue& value) {
    return fail(value.where + " goes with --gpus-per-node, --gpus or --gpus-per-task, which says how many; name both.");
  }

  Result<void> accelerators() {
    if (auto read = read_accelerators(); !read) return read;
    const SubmitValue* value = given("each_of_accelerator");
    if (value == nullptr) return {};
    const auto each = TRY(counted(*value));
    if (accelerators_ == 0) return goes_with_accelerators(*value);
    if (each > kMostCounted / (accelerators_ * nodes_)) return too_many_processors();
    processors_ = std::max(processors_, each * accelerators_ * nodes_);
    out_["processors"] = processors_;
    if (tasks_ != processors_) out_["tasks"] = tasks_;
    return {};
  }

  Result<void> read_accelerators() {
    const auto& [all, on_node, each] = wishes_;
    const std::optional<AskedGpus>& one = on_node ? on_node : all ? all : each;
    if (!one) return {};
    std::int64_t number = one->number * chunks_;
    if (!on_node) {
      const SubmitValue* value = given("accelerators_all") != nullptr    ? given("accelerators_all")
                                 : given("accelerators_each") != nullptr ? given("accelerators_each")
                                                                         : given("tres_each");
      if (!all && number > kMostCounted / tasks_) return wrong_value(*value, "fewer");
      if (!all) number *= tasks_;
      if (number % nodes_ != 0)
        return wrong_value(*value, fmt::format("a number that {} nodes can share evenly", nodes_));
      number /= nodes_;
    }
    accelerators_ = number;
    if (accelerators_ == 0) return {};
    out_["accelerators"] = accelerators_;
    for (const auto* each_type : {&on_node, &all, &each}) {
      if (*each_type && !(*each_type)->type.empty()) out_["accelerator_type"] = (*each_type)->type;
    }
    return {};
  }

  Result<void> licence() {
    const SubmitValue* value = given("licence");
    if (value == nullptr) return {};
    const auto licences = parse_named_licences(value->text);
    if (!licences) return fail("{}: {}", value->where, licences.error().message);
    put_licences(*licences, out_);
    return {};
  }

  static std::string where_limit(const SubmitValue& limit) {
    return limit.where == "--limit" ? "-t (--limit)" : limit.where;
  }

  Result<void> times() {
    if (const SubmitValue* value = given("limit")) {
      const auto limit = limit_seconds(value->text, value->dialect);
      if (!limit) return fail("{}: {}", where_limit(*value), limit.error().message);
      out_["limit"] = *limit;
    }
    for (const char* key : {"kill_wait", "checkpoint_time"}) {
      const SubmitValue* value = given(key);
      if (value == nullptr) continue;
      const auto wait = parse_duration(value->text);
      if (!wait) return fail("{}: {}", value->where, wait.error().message);
      out_[key] = to_seconds(*wait);
    }
    if (const SubmitValue* value = given("begin")) {
      const auto begin = parse_when(value->text, here_.now);
      if (!begin) return fail("{}: {}", value->where, begin.error().message);
      out_["begin"] = *begin;
    }
    return {};
  }

  Result<void> files() {
    const SubmitValue* folder = given("folder");
    out_["folder"] = folder == nullptr
                         ? here_.folder
                         : (std::filesystem::path(here_.folder) / folder->text).lexically_normal().string();
    for (const char* key : {"output", "error", "input"}) {
      if (auto taken = file(key); !taken) return taken;
    }
    if (const SubmitValue* value = given("open_mode")) {
      const bool append = value->text == "append" || value->text == "a";
      if (!append && value->text != "truncate" && value->text != "t") return wrong_value(*value, "append or truncate");
      out_["append"] = append;
    }
    if (out_["folder"] != here_.folder) out_["submit_folder"] = here_.folder;
    out_["umask"] = here_.umask;
    return {};
  }

  Result<void> file(const char* key) {
    const SubmitValue* value = given(key);
    if (value == nullptr) return {};
    out_[key] = TRY(file_name(*value, out_["folder"].get<std::string>(), given("array") != nullptr));
    return {};
  }

  Result<void> others() {
    if (const SubmitValue* value = given("partition"); value != nullptr && value->text.contains(','))
      return wrong_value(*value, "one partition; write the one");
    each_wish([&](const auto& wish) {
      if (wish.option.names.empty()) return;
      if (const SubmitValue* value = given(wish.name)) out_[std::string(wish.name)] = value->text;
    });
    if (const SubmitValue* array = given("array")) {
      const SubmitValue* most = given("throttle");
      out_["array"] = array->text + (most == nullptr || array->text.contains('%') ? "" : "%" + most->text);
    }
    if (const SubmitValue* value = given("accel_tasks")) out_["accel_tasks"] = value->text;
    if (given("hold") != nullptr) out_["held"] = true;
    if (const SubmitValue* value = given("requeue")) out_["requeue"] = value->text == "yes";
    std::int64_t priority = 0;
    for (const char* key : {"priority", "nice"}) {
      const SubmitValue* value = given(key);
      if (value == nullptr) continue;
      const auto number = TRY(counted(*value, -kMostCounted));
      priority += std::string_view(key) == "nice" ? -number : number;
      out_["priority"] = priority;
    }
    return dependencies();
  }

  // "afterok:12:13,singleton" as one text for each job.
  Result<void> dependencies() {
    const SubmitValue* value = given("after");
    if (value == nullptr) return {};
    Json after = Json::array();
    const bool any = value->text.contains('?');  // one of them will do
    if (any && value->text.contains(',')) return wrong_value(*value, "commas, or ? between those of which one will do");
    if (any) after.push_back("any");
    for (const std::string_view part : split(value->text, any ? '?' : ',')) {
      auto pieces = split(trimmed(part), ':');
      constexpr std::array<std::string_view, 5> kKinds{"afterok", "afterany", "afternotok", "after", "aftercorr"};
      const bool kind = std::ranges::find(kKinds, pieces[0]) != kKinds.end();
      if (pieces.size() == 1 ? pieces[0] != "singleton" : !kind)
        return wrong_value(*value, "what it waits for, such as afterok:12:13,singleton");
      if (pieces.size() == 1) after.push_back("singleton");
      for (std::size_t i = 1; i < pieces.size(); ++i) {
        if (pieces[i].ends_with("_*")) pieces[i].remove_suffix(2);  // all tasks of an array
        const bool last = pieces[i] == "last";
        if ((!last && pieces[i].find_first_not_of("0123456789_+") != std::string_view::npos) || pieces[i].empty())
          return wrong_value(*value, "ids of jobs behind afterok: and its kin, such as afterok:12:13");
        after.push_back(fmt::format("{}:{}", pieces[0], pieces[i]));
      }
    }
    out_["after"] = std::move(after);
    return {};
  }

  // What the user may have meant otherwise.
  void about_files(std::vector<std::string>& remarks) const {
    const SubmitValue *output = given("output"), *mode = given("open_mode"), *folder = given("folder");
    if (mode != nullptr && given("array") != nullptr && !out_["append"] && output && !output->text.contains('%'))
      remarks.push_back(fmt::format(
          "The tasks write over each other's output: with {} {} each begins the one file anew; write %a into its name.",
          mode->where, mode->text));
    std::error_code ignored;
    if (folder != nullptr && !std::filesystem::is_directory(out_["folder"].get<std::string>(), ignored))
      remarks.push_back(
          fmt::format("{}: there is no folder {} here, and a job fails whose folder is not there when it starts.",
                      folder->where, rota::quoted(out_["folder"].get<std::string>())));
  }

  void about_times(std::vector<std::string>& remarks) const {
    if (const SubmitValue* signal = given("signal"); signal != nullptr && given("limit") == nullptr)
      remarks.push_back(
          fmt::format("{} is sent before a time limit, and none is given: it counts from the one that the partition or "
                      "the service gives, if any.",
                      signal->where));
    constexpr std::int64_t kMinutesMaybe = 120;
    const SubmitValue* const limit = given("limit");
    if (limit != nullptr && limit->dialect == Dialect::rota && only_digits(limit->text) &&
        parse_integer(limit->text).value_or(kMinutesMaybe + 1) <= kMinutesMaybe)
      remarks.push_back(fmt::format("{} {} is {} seconds; with a letter behind it, as in {}m, it is minutes.",
                                    where_limit(*limit), limit->text, limit->text, limit->text));
    if (const SubmitValue* begin = given("begin"); begin != nullptr && out_.value("begin", here_.now) < here_.now)
      remarks.push_back(fmt::format("{} {} has passed, so that it holds nothing back.", begin->where, begin->text));
  }

  // Slurm has more occasions than Rota; no job runs otherwise for a mail that does not come.
  void mail(std::vector<std::string>& remarks) {
    const SubmitValue* value = given("mail");
    if (value == nullptr) return;
    constexpr std::array<std::string_view, 6> kSlurms{"TIME_LIMIT",    "TIME_LIMIT_90",  "TIME_LIMIT_80",
                                                      "TIME_LIMIT_50", "INVALID_DEPEND", "STAGE_OUT"};
    Json types = Json::array();
    for (const std::string_view each : split(value->text, ',')) {
      const std::string type = upper(trimmed(each));
      if (std::ranges::find(kSlurms, type) == kSlurms.end()) {
        types.push_back(type);
      } else {
        remarks.push_back(fmt::format("{}: Rota sends no mail of {}.", value->where, type));
      }
    }
    out_["mail"] = std::move(types);
  }

  // "[R][B:]USR1[@300]": R is about reservations; after B: the script's own process alone gets it.
  Result<void> signal() {
    const SubmitValue* value = given("signal");
    if (value == nullptr) return {};
    const std::size_t colon = value->text.find(':');
    const std::string text = value->text.substr(colon == std::string::npos ? 0 : colon + 1);
    const std::string before = value->text.substr(0, colon == std::string::npos ? 0 : colon);
    if (before.find_first_not_of("RB") != std::string::npos)
      return wrong_value(*value, "a signal and how long before the limit, such as USR1@300 or B:USR1@300");
    if (before.contains('B')) out_["warning_to_script"] = true;
    const std::size_t at = text.find('@');
    std::string name = text.substr(0, at);
    if (only_digits(name) && name.size() <= 2) {
      const char* known = ::sigabbrev_np(static_cast<int>(parse_integer(name).value_or(0)));
      name = known == nullptr ? "" : known;
    }
    if (name.starts_with("SIG")) name.erase(0, 3);
    const auto time = at == std::string::npos ? Result<Duration>(seconds(60)) : parse_duration(text.substr(at + 1));
    if (name.empty() || !time) return wrong_value(*value, "a signal and how long before the limit, such as USR1@300");
    out_["warning_signal"] = name;
    out_["warning_time"] = to_seconds(*time);
    return {};
  }

  const SubmitValues& values_;
  const Surroundings& here_;
  Json out_ = Json::object();
  std::int64_t processors_ = 1;
  std::int64_t nodes_ = 1;
  std::int64_t tasks_ = 1;
  std::int64_t accelerators_ = 0;  // on each node
  std::int64_t tres_processors_ = 0;
  std::int64_t chunks_ = 1;  // of PBS, on the one node
  bool too_many_on_node_ = false;
  bool too_many_nodes_ = false;
  GpuWishes wishes_;
  std::optional<SubmitValue> tres_accelerators_;
};

}  // namespace

Result<Json> job_request(const SubmitValues& values, const Surroundings& here, std::vector<std::string>& remarks) {
  return Request(values, here).made(remarks);
}

void put_licences(const std::vector<NamedLicences>& licences, Json& into) {
  into["licence"] = licences.front().name;
  into["licences"] = licences.front().count;
  for (std::size_t i = 1; i < licences.size(); ++i)
    into["more_licences"].push_back(fmt::format("{}:{}", licences[i].name, licences[i].count));
}

}  // namespace rota::cli
