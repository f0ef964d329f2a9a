#include "engine/slurm/site_factors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"

namespace rota::slurm {
namespace {

// Each of the parts is cut to a whole number where it is printed, and the sum of them is not.
constexpr double kRounding = 16;

bool take_whole(std::string_view word, std::int64_t& into) {
  const auto number = parse_integer(word);
  if (number) into = *number;
  return number.has_value();
}

// "cpu=1000,gres/gpu=50"
double sum_of_tres(std::string_view text) {
  double sum = 0;
  for (const std::string_view each : split(text, ',')) {
    const std::size_t equals = each.rfind('=');
    if (equals == std::string_view::npos) continue;
    sum += parse_number(each.substr(equals + 1)).value_or(0);
  }
  return sum;
}

bool read_row(std::string_view line, PriorityRow& row) {
  const auto cells = split(line, '|');
  if (cells.size() != 12) return false;
  std::array<std::int64_t, 8> parts{};  // age ... qos, and nice
  if (!take_whole(cells[0], row.job) || !take_whole(cells[2], row.priority) || !take_whole(cells[3], row.factor))
    return false;
  double sum = sum_of_tres(cells[11]);
  for (std::size_t at = 4; at < 11; ++at) {
    if (!take_whole(cells[at], parts[at - 4])) return false;
    sum += at == 10 ? -static_cast<double>(parts[at - 4]) : static_cast<double>(parts[at - 4]);
  }
  row.partition = cells[1];
  const double shown = std::max(sum + static_cast<double>(row.factor), 1.0);
  row.by_hand = std::abs(shown - static_cast<double>(row.priority)) > kRounding;
  // At 1 Slurm shows no less, and what is below is known from the parts alone.
  row.own = row.priority > 1 ? row.priority - row.factor : static_cast<std::int64_t>(sum);
  return row.job > 0;
}

// Slurm takes the job with the smaller number first where priorities are equal.
bool goes_before(const PriorityRow& a, std::int64_t of_a, const PriorityRow& b, std::int64_t of_b) {
  return of_a != of_b ? of_a > of_b : a.job < b.job;
}

// The most rows that can stay as they are: a longest part of the list that is in order already.
std::vector<bool> rows_that_stand(const std::vector<PriorityRow>& wanted, std::int64_t least, std::int64_t most) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> last;  // [k]: the best end of a part of k + 1 rows
  std::vector<std::size_t> before(wanted.size(), kNone);
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    const PriorityRow& row = wanted[at];
    if (row.priority < least || row.priority > most) continue;
    const auto place = std::ranges::partition_point(
        last, [&](std::size_t end) { return goes_before(wanted[end], wanted[end].priority, row, row.priority); });
    if (place != last.begin()) before[at] = *std::prev(place);
    if (place == last.end()) {
      last.push_back(at);
    } else {
      *place = at;
    }
  }
  std::vector<bool> stands(wanted.size(), false);
  for (std::size_t at = last.empty() ? kNone : last.back(); at != kNone; at = before[at]) stands[at] = true;
  return stands;
}

class Places {
 public:
  Places(const std::vector<PriorityRow>& wanted, std::int64_t least, std::int64_t most, std::vector<bool> stands)
      : wanted_(wanted), least_(least), most_(most), stands_(std::move(stands)), priority_(wanted.size()) {
    for (std::size_t at = 0; at < wanted.size(); ++at) priority_[at] = wanted[at].priority;
  }

  std::vector<std::int64_t> made() {
    for (std::size_t at = 0; at < wanted_.size();) at = stands_[at] ? at + 1 : fill_from(at);
    return std::move(priority_);
  }

 private:
  // Rows from there on that do not stand, and such neighbours as must make room. The first row behind.
  std::size_t fill_from(std::size_t first) {
    std::size_t end = first;
    while (end < wanted_.size() && !stands_[end]) ++end;
    while (room(first, end) < static_cast<std::int64_t>(end - first) && (first > 0 || end < wanted_.size())) {
      if (first > 0) --first;
      if (end < wanted_.size()) ++end;
      while (end < wanted_.size() && !stands_[end]) ++end;
    }
    const std::int64_t above = above_of(first), below = below_of(end);
    const auto count = static_cast<std::int64_t>(end - first);
    for (std::int64_t at = 0; at < count; ++at)
      priority_[first + static_cast<std::size_t>(at)] =
          below + (above - below) * (count - at) / (count + 1);  // 32 bits times as many jobs as there are
    return end;
  }
  std::int64_t above_of(std::size_t first) const { return first > 0 ? priority_[first - 1] : most_ + 1; }
  std::int64_t below_of(std::size_t end) const { return end < wanted_.size() ? priority_[end] : least_ - 1; }
  std::int64_t room(std::size_t first, std::size_t end) const { return above_of(first) - below_of(end) - 1; }

  const std::vector<PriorityRow>& wanted_;
  std::int64_t least_, most_;
  std::vector<bool> stands_;
  std::vector<std::int64_t> priority_;
};

}  // namespace

std::string sprio_command() { return R"(sprio -h -o "%i|%r|%Y|%S|%A|%B|%F|%J|%P|%Q|%N|%T")"; }

Result<std::vector<PriorityRow>> read_sprio(std::string_view text) {
  std::vector<PriorityRow> rows;
  if (!text.empty() && !text.ends_with('\n')) return fail("what sprio printed ends in the middle of a row.");
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    PriorityRow row;
    if (!read_row(line, row)) return fail("what sprio printed is no list of priorities: {}", quoted(line));
    rows.push_back(row);
  }
  return rows;
}

void put_in_order(std::vector<PriorityRow>& wanted) {
  std::ranges::sort(wanted, [](const PriorityRow& a, const PriorityRow& b) {
    return a.rank != b.rank ? a.rank < b.rank : goes_before(a, a.own, b, b.own);
  });
}

void leave_behind(std::vector<PriorityRow>& wanted, std::size_t places) {
  if (wanted.size() <= places) return;
  const auto behind = wanted.begin() + static_cast<std::ptrdiff_t>(places);
  std::sort(behind, wanted.end(),
            [](const PriorityRow& a, const PriorityRow& b) { return goes_before(a, a.priority, b, b.priority); });
}

std::vector<std::int64_t> factors_in_order(const std::vector<PriorityRow>& wanted) {
  if (wanted.empty()) return {};
  const auto [low, high] = std::ranges::minmax(wanted, {}, &PriorityRow::own);
  const auto count = static_cast<std::int64_t>(wanted.size());
  const std::int64_t least = std::max<std::int64_t>(low.own, 1);
  const std::int64_t most = std::max(high.own, least + kStep * count);
  // What stands may lie a little above: a range that shrinks as jobs start would otherwise move all others.
  const std::int64_t bearable = std::max(high.own, least + 4 * kStep * count);
  std::vector<std::int64_t> factors = Places(wanted, least, most, rows_that_stand(wanted, least, bearable)).made();
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    const PriorityRow& row = wanted[at];
    factors[at] =
        factors[at] == row.priority ? row.factor : std::clamp(factors[at] - row.own, -kMostFactor, kMostFactor);
  }
  return factors;
}

}  // namespace rota::slurm
