#include "cli/live/top_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cwchar>
#include <map>

#include "base/text.h"
#include "cli/help.h"
#include "cli/live/job_state.h"
#include "cli/live/job_use.h"
#include "cli/when.h"

namespace rota::cli {

const char* const kTopKeys =
    "Keys\n"
    "\n"
    "  up, down, j, k       from row to row; page up and down, home, end\n"
    "  Enter                all about the job: why it waits, and what would change that\n"
    "  c                    cancel it; asks first\n"
    "  h                    hold it\n"
    "  r                    release it\n"
    "  a                    the tasks of an array that wait in one row, or each in its own\n"
    "  /                    filter by id, name, user, partition or state; Escape shows all again\n"
    "  q                    quit\n"
    "\n"
    "A start without \"by\" is promised by the latest plan, or is the begin time that was asked for. \"by\" is when a "
    "job "
    "starts at the latest, if every job takes its whole limit and no other job comes before it. On a narrow screen "
    "USER and LIMIT are left out; Enter tells them.\n";

namespace {

constexpr const char* kPlain = "\x1b[0m";
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kReverse = "\x1b[7m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kYellow = "\x1b[33m";

struct Column {
  const char* head;
  std::size_t width;  // 0: what is left
  bool right;
  std::size_t narrow;  // width on a narrow screen; 0: left out there, but for the last
};
constexpr std::array kColumns{Column{"JOBID", 12, true, 12},
                              Column{"NAME", 16, false, 8},
                              Column{"USER", 9, false, 0},
                              Column{"ST", 2, false, 2},
                              Column{"CPUS", 4, true, 4},
                              Column{"TIME", 10, true, 10},
                              Column{"LIMIT", 10, true, 0},
                              Column{"STARTS OR ENDS", 14, false, 14},
                              Column{"NODELIST(REASON)", 0, false, 0}};
constexpr std::size_t kNarrow = 110;  // screens of fewer columns

bool waits(const Json& job) { return text_of(job, "state") == "PENDING"; }

// "14:10:05" of today, else "11-23 14:10".
std::string clock_text(double at, double now) {
  const std::string text = time_text(at), today = time_text(now);
  return text.substr(0, 10) == today.substr(0, 10) ? text.substr(11)
                                                   : fmt::format("{} {}", text.substr(5, 5), text.substr(11, 5));
}

std::string starts_or_ends(const Json& job, double now) {
  if (has_number(job, "start")) {
    if (flag_of(job, "grace")) return "in grace";
    if (!has_number(job, "ends_by")) return "";
    return "by " + clock_text(number_of(job, "ends_by"), now);
  }
  if (has_number(job, "expected_start")) return clock_text(number_of(job, "expected_start"), now);
  if (has_number(job, "starts_by")) return "by " + clock_text(number_of(job, "starts_by"), now);
  if (text_of(job, "reason") == "BeginTime" && number_of(job, "begin") > now)
    return clock_text(number_of(job, "begin"), now);
  return "";
}

std::string place_of(const Json& job) {
  const std::string held = accelerators_held(job);
  return text_of(job, "node_list") + (held.empty() ? "" : fmt::format(" (accelerators {})", held));
}

std::vector<std::string> cells_of(const Json& job, double now) {
  const std::string why = text_of(job, "why");
  return {text_of(job, "id"),
          text_of(job, "name"),
          text_of(job, "user"),
          state_letters(text_of(job, "state")),
          std::to_string(static_cast<std::int64_t>(number_of(job, "processors", 1))),
          has_number(job, "elapsed") ? run_text(number_of(job, "elapsed")) : "",
          has_number(job, "limit") ? limit_text(number_of(job, "limit")) : "UNLIMITED",
          starts_or_ends(job, now),
          waits(job) ? fmt::format("({}) {}", text_of(job, "reason"), why) : place_of(job)};
}

std::string line_of(const std::vector<std::string>& cells, std::size_t columns) {
  std::string line;
  std::size_t used = 0;
  for (std::size_t i = 0; i < kColumns.size() && used < columns; ++i) {
    const Column& column = kColumns[i];
    const std::size_t wanted = column.width == 0 ? columns : columns < kNarrow ? column.narrow : column.width;
    if (wanted == 0) continue;
    const std::size_t width = std::min(wanted, columns - used);
    std::string cell = cells[i];
    if (column.right && cell.size() < width) cell.insert(0, width - cell.size(), ' ');
    line += fitted(cell, width);
    used += width;
    if (used < columns) line += ' ', ++used;
  }
  return line;
}

std::vector<std::string> heads() {
  std::vector<std::string> names;
  for (const Column& column : kColumns) names.emplace_back(column.head);
  return names;
}

std::int64_t whole(const Json& object, const char* name) { return static_cast<std::int64_t>(number_of(object, name)); }

std::string bar(std::int64_t part, std::int64_t all) {
  constexpr std::int64_t kWidth = 20;
  const std::int64_t full = all > 0 ? std::clamp<std::int64_t>(part * kWidth / all, 0, kWidth) : 0;
  return fmt::format("[{}{}]", std::string(static_cast<std::size_t>(full), '#'),
                     std::string(static_cast<std::size_t>(kWidth - full), '.'));
}

std::string first_line(const TopView& view) {
  const std::int64_t all = whole(view.status, "processors"), busy = whole(view.status, "busy");
  std::string line =
      fmt::format("{}  {} {} of {} processors busy{}  policy {}", text_of(view.status, "machine"), bar(busy, all),
                  grouped(busy), grouped(all), unusable_text(view.status), text_of(view.status, "policy"));
  if (!view.load.empty()) line += "  load " + view.load;
  return fmt::format("{}  {}", line, time_text(number_of(view.status, "now")).substr(11));
}

std::string second_line(const TopView& view) {
  std::map<std::string, std::int64_t> states;
  for (const Json& node : view.nodes) ++states[text_of(node, "state")];
  std::string nodes;
  for (const auto& [state, n] : states) nodes += fmt::format("{}{} {}", nodes.empty() ? "" : ", ", grouped(n), state);
  const std::int64_t kept_back = whole(view.status, "not_eligible");
  const std::int64_t more =
      whole(view.plan, "more_running") + whole(view.plan, "more_waiting") + whole(view.plan, "more_held");
  return fmt::format("{} running, {} waiting, {} held{}{}; nodes: {}", grouped(whole(view.status, "running")),
                     grouped(whole(view.status, "waiting")), grouped(whole(view.status, "held") - kept_back),
                     kept_back > 0 ? fmt::format(", {} that may not start yet", grouped(kept_back)) : "",
                     more > 0 ? fmt::format(" ({} more than listed; / finds them)", grouped(more)) : "", nodes);
}

// What is wrong, or what has last been told; else nothing.
std::string third_line(const TopView& view) {
  if (!view.lost.empty()) return fmt::format("{}disconnected, retrying: {}", kRed, view.lost);
  if (flag_of(view.status, "plain"))
    return std::string(kRed) +
           "A plan was refused, and jobs start in order of the queue alone; `rota status` says more.";
  const Json& warnings = list_of(view.status, "warnings");
  return warnings.empty() || !warnings[0].is_string() ? "" : kYellow + one_line(warnings[0].get<std::string>());
}

std::string last_line(const TopView& view) {
  if (!view.asking.empty()) return fmt::format("{}{} (y or n)", kBold, view.asking);
  if (view.finding) return fmt::format("/{}_", view.find);
  if (!view.told.empty()) return kBold + view.told;
  if (!view.page.empty()) return "Escape or q: back  up, down: scroll  c cancel  h hold  r release";
  const std::string filter = view.find.empty() ? "" : fmt::format("filter \"{}\" (Escape: all)  ", view.find);
  return filter + "Enter explain  c cancel  h hold  r release  / filter  ? help  q quit";
}

// A line of text with a style in front of it, cut to the screen.
std::string styled(const std::string& line, std::size_t columns) {
  std::string style, text = line;
  if (text.starts_with('\x1b')) {
    const std::size_t end = text.find('m') + 1;
    style = text.substr(0, end);
    text.erase(0, end);
  }
  return style + fitted(text, columns) + (style.empty() ? "" : kPlain);
}

const char* colour_of(const Json& job) {
  const std::string state = text_of(job, "state");
  if (state == "RUNNING") return kGreen;
  return is_held(job) || state == "SUSPENDED" || state == "COMPLETING" ? kYellow : "";
}

std::string nothing_listed(const TopView& view) {
  const std::int64_t all = whole(view.status, "running") + whole(view.status, "waiting") + whole(view.status, "held");
  if (view.find.empty() || all == 0) return "Nothing runs or waits.";
  return "No job meets the filter; without it there " +
         std::string(all == 1 ? "is 1." : fmt::format("are {}.", grouped(all)));
}

std::vector<std::string> queue_lines(const TopView& view, const Size& size) {
  const auto rows = rows_of(view);
  const double now = number_of(view.plan, "now");
  std::vector<std::string> lines;
  const std::size_t room = room_of(view, size);
  for (std::size_t i = view.first; i < rows.size() && lines.size() < room; ++i) {
    const bool chosen = text_of(*rows[i], "id") == view.chosen;
    lines.push_back((chosen ? kReverse : colour_of(*rows[i])) + line_of(cells_of(*rows[i], now), size.columns) +
                    kPlain);
  }
  if (lines.size() < room && rows.empty()) lines.push_back(fitted(nothing_listed(view), size.columns));
  return lines;
}

std::vector<std::string> page_lines(const TopView& view, const Size& size) {
  const auto all = broken_page(view, size);
  std::vector<std::string> lines;
  for (std::size_t i = view.page_line; i < all.size() && lines.size() < room_of(view, size); ++i)
    lines.push_back(fitted(all[i], size.columns));
  return lines;
}

// Where what is told of a word in front of it begins, with blanks between: the column of lines that go on with it.
std::size_t meaning_in(const std::string& line) {
  const std::size_t word = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t blanks = line.find("  ", word);
  return blanks == std::string::npos ? word : std::min(line.find_first_not_of(' ', blanks), line.size());
}

}  // namespace

std::vector<std::string> broken_page(const TopView& view, const Size& size) {
  std::vector<std::string> lines;
  for (const std::string_view text : split(view.page, '\n')) {
    const std::string line(text);
    const std::size_t column = meaning_in(line);
    if (line.size() <= size.columns || column > size.columns / 2) {
      lines.push_back(line);
      continue;
    }
    const std::string broken = line.substr(0, column) + wrapped(line.substr(column), size.columns, column);
    for (const std::string_view part : split(broken, '\n')) lines.emplace_back(part);
  }
  return lines;
}

std::string unusable_text(const Json& status) {
  std::string text;
  for (const auto& [name, words] : {std::pair{"out_of_service", " out of service"}, {"asleep", " asleep"}})
    if (const std::int64_t n = whole(status, name); n > 0) text += fmt::format(", {}{}", grouped(n), words);
  return text;
}

std::vector<const Json*> rows_of(const TopView& view) {
  std::vector<const Json*> rows;
  for (const char* list : {"running", "waiting", "held"}) {
    for (const Json& job : list_of(view.plan, list)) rows.push_back(&job);
  }
  return rows;
}

const Json* chosen_of(const TopView& view) {
  for (const Json* job : rows_of(view)) {
    if (text_of(*job, "id") == view.chosen) return job;
  }
  return nullptr;
}

bool is_held(const Json& job) { return text_of(job, "reason").starts_with("JobHeld"); }

std::size_t room_of(const TopView& view, const Size& size) {
  const std::size_t others = view.page.empty() ? 5 : 4;  // three lines above, the names of the columns, one below
  return size.lines > others ? size.lines - others : 0;
}

std::string fitted(const std::string& text, std::size_t columns) {
  std::string out;
  std::size_t used = 0;
  std::mbstate_t state{};
  for (std::size_t at = 0; at < text.size();) {
    wchar_t letter = 0;
    const std::size_t n = std::mbrtowc(&letter, text.data() + at, text.size() - at, &state);
    const bool sound = n != 0 && n <= text.size() - at;
    const std::string_view piece = std::string_view(text).substr(at, sound ? n : 1);
    const int width = sound && escaped(piece) == piece ? ::wcwidth(letter) : -1;
    if (used + static_cast<std::size_t>(std::max(width, width < 0 ? 1 : 0)) > columns) break;
    if (width < 0) {
      out += '?';
      ++used;
      state = {};
    } else {
      out.append(text, at, n);
      used += static_cast<std::size_t>(width);
    }
    at += sound ? n : 1;
  }
  return out + std::string(columns - used, ' ');
}

std::string drawn(const TopView& view, const Size& size) {
  std::vector<std::string> lines{styled(kBold + first_line(view), size.columns),
                                 styled(second_line(view), size.columns), styled(third_line(view), size.columns)};
  if (view.page.empty()) lines.push_back(kReverse + line_of(heads(), size.columns) + kPlain);
  for (std::string& line : view.page.empty() ? queue_lines(view, size) : page_lines(view, size))
    lines.push_back(std::move(line));
  lines.resize(std::max<std::size_t>(size.lines, 1), std::string(size.columns, ' '));
  lines.back() = styled(last_line(view), size.columns);
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? "" : "\r\n") + lines[i];
  return out;
}

}  // namespace rota::cli
