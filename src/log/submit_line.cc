#include "log/submit_line.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace rota::log {
namespace {

// sbatch(1) of Slurm 22.05, and what newer releases have in addition.
constexpr std::string_view kShortWithValue = "aAbBcCdDeFGiJLmMnNopqStwx";
constexpr std::string_view kShortWithOwnValue = "k";  // which may stand behind it in the same word only
constexpr std::string_view kLongWithValue =
    "account acctg-freq array batch bb bbf begin chdir cluster cluster-constraint clusters comment constraint "
    "container container-id core-spec cores-per-socket cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot "
    "dependency distribution error exclude export export-file extra extra-node-info gid gpu-bind gpu-freq gpus "
    "gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint input job-name kill-on-invalid-dep "
    "licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus network nodefile "
    "nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode output "
    "partition power prefer priority profile qos reservation segment signal sockets-per-node switches "
    "tasks-per-node thread-spec threads-per-core time time-min tmp tres-bind tres-per-task uid wait-all-nodes wckey "
    "wrap";
// Some take a value, but only behind "=".
constexpr std::string_view kLongAlone =
    "contiguous exclusive get-user-env help hold ignore-pbs nice no-kill no-requeue oom-kill-step overcommit "
    "oversubscribe parsable propagate quiet reboot requeue resv-ports share spread-job stepmgr test-only usage "
    "use-min-nodes verbose version wait";

class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {  // empty at the end
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }

 private:
  std::string_view rest_;
};

struct LongOption {
  std::string_view name;  // empty: there is none of that name, or several are meant
  bool takes_value = false;
};

// The option that is meant, which may be cut off where that is clear.
LongOption long_option(std::string_view given) {
  static const std::vector<std::string_view> kValued = split(kLongWithValue, ' '), kAlone = split(kLongAlone, ' ');
  std::vector<LongOption> meant;
  for (const auto* names : {&kValued, &kAlone}) {
    for (const std::string_view name : *names) {
      if (name == given) return {name, names == &kValued};
      if (name.starts_with(given)) meant.push_back({name, names == &kValued});
    }
  }
  return meant.size() == 1 ? meant.front() : LongOption{};
}

// Options whose values are kept, with their letters.
enum class Kept : std::uint8_t {
  array,
  nodes,
  tasks,
  each,
  memory,
  gpus,
  of_node,
  of_task,
  gres,
  licences,
  constraint,
  among,
  without,
  wrap
};
constexpr std::array<std::pair<std::string_view, char>, 14> kKeptOptions{{{"array", 'a'},
                                                                          {"nodes", 'N'},
                                                                          {"ntasks", 'n'},
                                                                          {"cpus-per-task", 'c'},
                                                                          {"mem", ' '},
                                                                          {"gpus", 'G'},
                                                                          {"gpus-per-node", ' '},
                                                                          {"gpus-per-task", ' '},
                                                                          {"gres", ' '},
                                                                          {"licenses", 'L'},
                                                                          {"constraint", 'C'},
                                                                          {"nodelist", 'w'},
                                                                          {"exclude", 'x'},
                                                                          {"wrap", ' '}}};

// The values of options as they come, the last of which counts.
class Given {
 public:
  void take_long(std::string_view word, Words& words) {  // without its dashes
    const std::size_t equals = word.find('=');
    const LongOption option = long_option(word.substr(0, equals));
    if (equals == std::string_view::npos && !option.takes_value) return;
    const std::string_view value = equals == std::string_view::npos ? words.next() : word.substr(equals + 1);
    for (std::size_t i = 0; i < kKeptOptions.size(); ++i)
      if (kKeptOptions[i].first == option.name) values_[i] = value;
  }
  void take_short(std::string_view word, Words& words) {  // several may stand in one word
    for (; !word.empty(); word.remove_prefix(1)) {
      if (kShortWithOwnValue.contains(word.front())) return;
      if (!kShortWithValue.contains(word.front())) continue;
      const std::string_view value = word.size() > 1 ? word.substr(1) : words.next();
      for (std::size_t i = 0; i < kKeptOptions.size(); ++i)
        if (kKeptOptions[i].second == word.front()) values_[i] = value;
      return;
    }
  }
  std::uint32_t throttle() const {
    const std::size_t percent = of(Kept::array).find('%');
    if (percent == std::string_view::npos || of(Kept::array).find_first_not_of("0123456789,-:") != percent) return 0;
    const auto most = parse_integer(of(Kept::array).substr(percent + 1));
    return most && *most > 0 && *most <= INT32_MAX ? static_cast<std::uint32_t>(*most) : 0;
  }

  bool needs_its_nodes() const {
    return !of(Kept::nodes).empty() || of(Kept::tasks) == "1" || (!of(Kept::each).empty() && of(Kept::each) != "1");
  }

  bool goes_anywhere() const {
    const auto tasks = parse_integer(of(Kept::tasks));
    return !of(Kept::wrap).empty() && tasks && *tasks > 1 && !needs_its_nodes();
  }

  SubmitLineNodes on_nodes() const { return {of(Kept::constraint), of(Kept::among), of(Kept::without)}; }

  SubmitLineAsks asks() const {
    SubmitLineAsks asks;
    asks.all_memory =
        !of(Kept::memory).empty() && of(Kept::memory).find_first_not_of("0KMGT") == std::string_view::npos;
    asks.tasks = number_in(of(Kept::tasks));
    asks.gpus = gpus_in(of(Kept::gpus), asks);
    asks.gpus_of_node = gpus_in(of(Kept::of_node), asks);
    asks.gpus_of_task = gpus_in(of(Kept::of_task), asks);
    for (std::string_view item : split(of(Kept::gres), ',')) {
      if (item.starts_with("gres:") || item.starts_with("gres/")) item.remove_prefix(5);
      if (item != "gpu" && !item.starts_with("gpu:")) continue;
      item.remove_prefix(std::min<std::size_t>(item.size(), 4));
      asks.gpus_of_node += gpus_in(item.empty() ? "1" : item, asks);
    }
    for (const std::string_view item : split(of(Kept::licences), ',')) {
      if (item.contains('|')) continue;  // any of several, which one is not told
      const std::size_t colon = std::min(item.find_first_of(":="), item.size());
      const std::int64_t count = colon == item.size() ? 1 : number_in(item.substr(colon + 1));
      if (colon > 0 && count > 0)
        asks.licences.push_back({std::string(item.substr(0, colon)), static_cast<std::uint32_t>(count)});
    }
    return asks;
  }

 private:
  static std::int64_t number_in(std::string_view text) {
    const auto number = parse_integer(text);
    return number && *number > 0 && *number <= INT32_MAX ? *number : 0;
  }
  // "a100:2", "2" or "a100"; of several types the first is named.
  static std::int64_t gpus_in(std::string_view text, SubmitLineAsks& asks) {
    std::int64_t all = 0;
    for (const std::string_view item : split(text, ',')) {
      const std::size_t colon = item.rfind(':');
      const std::string_view last = item.substr(colon == std::string_view::npos ? 0 : colon + 1);
      const bool counted = !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
      const std::string_view type = !counted ? item : item.substr(0, colon == std::string_view::npos ? 0 : colon);
      if (asks.gpu_type.empty()) asks.gpu_type = type;
      all += counted ? number_in(last) : item.empty() ? 0 : 1;
    }
    return all;
  }

  std::string_view of(Kept kept) const { return values_[static_cast<std::size_t>(kept)]; }
  std::array<std::string_view, kKeptOptions.size()> values_;
};

Given given_in(std::string_view line) {
  Words words(line);
  words.next();  // sbatch itself
  Given given;
  for (auto word = words.next(); word.size() > 1 && word.front() == '-' && word != "--"; word = words.next()) {
    if (word.starts_with("--")) {
      given.take_long(word.substr(2), words);
    } else {
      given.take_short(word.substr(1), words);
    }
  }
  return given;
}

}  // namespace

std::uint32_t throttle_of_submit_line(std::string_view line) {
  return line.contains('%') ? given_in(line).throttle() : 0;  // which most of millions of them do not have
}

bool submit_line_needs_its_nodes(std::string_view line) { return !line.empty() && given_in(line).needs_its_nodes(); }

bool submit_line_goes_anywhere(std::string_view line) {
  return line.find("-per-") == std::string_view::npos && given_in(line).goes_anywhere();
}

SubmitLineNodes submit_line_nodes(std::string_view line) {
  return line.empty() ? SubmitLineNodes{} : given_in(line).on_nodes();
}

SubmitLineAsks submit_line_asks(std::string_view line) {
  return line.empty() ? SubmitLineAsks{} : given_in(line).asks();
}

}  // namespace rota::log
