#include "cli/import/import_turnaround.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/text.h"

namespace rota::cli {
namespace {

using log::SwfField;

constexpr std::size_t kFewest = 20;  // gaps that tell something

struct Event {
  std::int64_t at;  // seconds of the log
  bool starts;      // ends come first
  const log::SwfRow* row;
};

// The nodes of each host list, as numbers from 0.
class NodesOf {
 public:
  explicit NodesOf(const log::NodeLists& lists) : lists_(lists), nodes_(lists.size() + 1) {}
  std::size_t count() const { return numbers_.size(); }
  const std::vector<std::size_t>& of(std::uint32_t list) {
    std::vector<std::size_t>& nodes = nodes_[list];
    if (!nodes.empty()) return nodes;
    const auto names = parse_host_list(lists_.text(list));
    if (!names) return nodes;
    for (const std::string& name : *names) nodes.push_back(numbers_.emplace(name, numbers_.size()).first->second);
    return nodes;
  }

 private:
  const log::NodeLists& lists_;
  std::vector<std::vector<std::size_t>> nodes_;
  std::map<std::string, std::size_t> numbers_;
};

std::vector<Event> events_of(const log::SacctLog& log) {
  std::vector<Event> events;
  for (const log::SwfRow& row : log.rows) {
    if (row.ran_on == 0 || row[SwfField::wait] < 0 || row[SwfField::run] < 0) continue;
    const std::int64_t start = row[SwfField::submit] + row[SwfField::wait] + row.earlier / seconds(1);
    events.push_back({start, true, &row});
    events.push_back({start + row[SwfField::run] + row.suspended / seconds(1), false, &row});
  }
  std::ranges::sort(events, {}, [](const Event& e) { return std::tuple(e.at, e.starts, e.row->line); });
  return events;
}

}  // namespace

Duration turnaround_of(const log::SacctLog& log) {
  if (!log.node_lists) return Duration{0};
  NodesOf nodes(*log.node_lists);
  std::vector<std::int64_t> ended;  // by node: the last end; -1: none yet
  std::vector<std::int64_t> gaps;
  for (const Event& event : events_of(log)) {
    const auto& on = nodes.of(event.row->ran_on);
    ended.resize(nodes.count(), -1);
    std::int64_t last = -1;
    for (const std::size_t node : on) {
      last = std::max(last, ended[node]);
      if (!event.starts) ended[node] = event.at;
    }
    if (event.starts && last >= 0 && last >= (*event.row)[SwfField::submit]) gaps.push_back(event.at - last);
  }
  if (gaps.size() < kFewest) return Duration{0};
  const auto tenth = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 10);
  std::ranges::nth_element(gaps, tenth);
  return seconds(*tenth);
}

}  // namespace rota::cli
