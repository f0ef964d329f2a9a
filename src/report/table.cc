#include "report/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "report/comparison.h"
#include "report/policy_labels.h"
#include "report/readable.h"
#include "report/reserved.h"
#include "report/verdict.h"
#include "report/weeks.h"

namespace rota::report {
namespace {

constexpr std::size_t kLongestName = 24;  // a longer policy name has a line of its own
constexpr std::size_t kGap = 2;           // between columns

struct Cells {
  Figure figure;
  std::string heading;
  std::vector<std::string> text;  // one a row
  std::vector<bool> best;
  std::size_t width = 0;
};

// Characters of UTF-8 text, each taken as one column wide.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string spaces(std::size_t n) { return std::string(n, ' '); }
std::string right(const std::string& text, std::size_t width) {
  return spaces(width - std::min(width, columns_of(text))) + text;
}

std::vector<Cells> cells_of(std::span<const Figure> figures, std::span<const Summary> rows) {
  std::vector<Cells> all;
  for (const Figure& figure : told(figures, rows)) {
    Cells cells{.figure = figure, .heading = {}, .text = {}, .best = {}};
    cells.heading = figure.name;
    if (*figure.unit != '\0') cells.heading += std::string(" ") + figure.unit;
    cells.width = columns_of(cells.heading);
    cells.best = best(figure, rows);
    for (const Summary& row : rows) {
      cells.text.push_back(figure.shown(row));
      cells.width = std::max(cells.width, columns_of(cells.text.back()));
    }
    all.push_back(std::move(cells));
  }
  return all;
}

// The end (exclusive) of the run of columns from `first` on that share a group, and the run's width.
struct Group {
  std::size_t end;
  std::size_t width;
};
Group group_from(const std::vector<Cells>& all, std::size_t first) {
  Group group{first + 1, all[first].width};
  if (*all[first].figure.group == '\0') return group;
  while (group.end < all.size() && std::strcmp(all[group.end].figure.group, all[first].figure.group) == 0)
    group.width += kGap + all[group.end++].width;
  return group;
}

// A group's heading must fit over its columns: the first of them gives way.
void widen(std::vector<Cells>& all) {
  for (std::size_t first = 0; first < all.size();) {
    const Group group = group_from(all, first);
    const std::size_t wanted = std::strlen(all[first].figure.group) + 4;
    if (*all[first].figure.group != '\0' && group.width < wanted) all[first].width += wanted - group.width;
    first = group.end;
  }
}

void write_headings(std::ostream& out, const std::vector<Cells>& all, std::size_t name_width) {
  std::string line = spaces(name_width);
  for (std::size_t first = 0; first < all.size();) {
    const Group group = group_from(all, first);
    const std::string_view title = all[first].figure.group;
    line += spaces(kGap);
    if (title.empty()) {
      line += spaces(group.width);
    } else {
      const std::size_t dashes = group.width - title.size() - 2;
      line += fmt::format("{} {} {}", std::string(dashes / 2, '-'), title, std::string(dashes - dashes / 2, '-'));
    }
    first = group.end;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  if (!line.empty()) out << line << '\n';
  out << "policy" << spaces(name_width - 6);
  for (const Cells& cells : all) out << spaces(kGap) << right(cells.heading, cells.width);
  out << '\n';
}

std::size_t name_width_of(std::span<const Summary> rows) {
  std::size_t widest = 6;
  for (const Summary& row : rows) {
    const std::size_t width = columns_of(row.name());
    if (width <= kLongestName) widest = std::max(widest, width);
  }
  return widest;
}

std::size_t width_of(const std::vector<Cells>& all) {
  std::size_t width = 0;
  for (const Cells& cells : all) width += kGap + cells.width;
  return width;
}

// Takes as many columns off the front as fit beside the names, one at least, with headings in place.
std::vector<Cells> take_part(std::vector<Cells>& all, std::size_t room) {
  std::size_t count = all.size();
  std::vector<Cells> part = all;
  for (widen(part); room > 0 && count > 1 && width_of(part) > room; widen(part)) {
    part.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(--count));
  }
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  return part;
}

void write_part(std::ostream& out, const std::vector<Cells>& all, std::span<const Summary> rows,
                const TableStyle& style) {
  const std::size_t name_width = name_width_of(rows);
  write_headings(out, all, name_width);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t used = columns_of(rows[i].name());
    out << rows[i].name();
    out << (used > name_width ? "\n" + spaces(name_width) : spaces(name_width - used));
    for (const Cells& cells : all) {
      const std::string text = right(cells.text[i], cells.width);
      out << spaces(kGap);
      if (style.colour && cells.best[i]) {
        out << "\x1b[1;32m" << text << "\x1b[0m";
      } else {
        out << text;
      }
    }
    out << '\n';
  }
}

void write_block(std::ostream& out, std::vector<Cells> all, std::span<const Summary> rows, const TableStyle& style) {
  const std::size_t names = name_width_of(rows);
  const std::size_t room = style.columns > names ? style.columns - names : style.columns > 0 ? 1 : 0;
  for (bool first = true; !all.empty(); first = false) {
    if (!first) out << '\n';
    write_part(out, take_part(all, room), rows, style);
  }
}

// Below each policy its sites.
std::vector<Summary> with_sites(std::span<const Summary> rows) {
  std::vector<Summary> all;
  for (const Summary& row : rows) {
    all.push_back(row);
    for (const Summary& site : row.sites) {
      all.push_back(site);
      all.back().label = "  " + one_line(site.site);
    }
  }
  return all;
}

// A sentence in lines of at most 120 columns, those after the first a little to the right.
void write_sentence(std::ostream& out, std::string_view text, const TableStyle& style) {
  constexpr std::size_t kWidth = 120;
  const std::size_t room = style.columns > 0 ? std::min(style.columns, kWidth) : kWidth;
  std::size_t used = 0;
  for (const std::string_view word : split(text, ' ')) {
    const std::size_t width = columns_of(word);
    if (used > 0 && used + 1 + width > room) {
      out << "\n  ";
      used = 2;
    } else if (used > 0) {
      out << ' ';
      ++used;
    }
    out << word;
    used += width;
  }
  out << '\n';
}

// What to choose, where there is a choice, and how far the rehearsal can be trusted.
void write_words(std::ostream& out, std::span<const Summary> rows, const TableStyle& style) {
  const std::string trust = trust_text(rows);
  const bool chooses = std::ranges::count(rows, false, &Summary::recorded) > 1 || cannot_be_trusted(rows);
  if (chooses || !trust.empty()) out << '\n';
  if (chooses) {
    for (const std::string& sentence : verdict_sentences(rows)) write_sentence(out, sentence, style);
  }
  if (!trust.empty()) write_sentence(out, trust, style);
  if (const std::string over_time = trust_over_time(rows); !over_time.empty()) write_sentence(out, over_time, style);
}

// What an account was owed, and had, while its jobs waited.
void write_shares(std::ostream& out, const PartySummaries& account, const TableStyle& style) {
  std::string text;
  for (std::size_t i = 0; i < account.shares.size(); ++i) {
    if (!account.shares[i]) continue;
    const ShareUse& use = *account.shares[i];
    text += fmt::format("{} {}: used {} %, owed {} %", text.empty() ? "" : ";", account.rows[i].name(),
                        readable_percent(use.used, 1), readable_percent(use.owed, 1));
  }
  if (!text.empty()) write_sentence(out, fmt::format("shares while jobs of it waited:{}", text), style);
}

}  // namespace

void write_table(std::ostream& out, std::span<const Summary> summaries, const TableStyle& style) {
  for (std::size_t first = 0; first < summaries.size();) {
    const std::span<const Summary> rows = summaries.subspan(first, same_workload(summaries, first));
    if (first > 0) out << '\n';
    out << rows.front().workload << ": " << workload_line(rows) << "\n";
    for (const auto& [label, policy] : labelled(rows)) out << label << ": " << policy << "\n";
    if (const std::string reserved = reserved_text(rows.front().reserved); !reserved.empty())
      write_sentence(out, reserved, style);
    out << '\n';
    write_block(out, cells_of(service_figures(), rows), rows, style);
    out << '\n';
    write_block(out, cells_of(promise_figures(), rows), rows, style);
    if (tells_fairness(rows)) {
      out << '\n';
      write_block(out, cells_of(fairness_figures(), rows), rows, style);
    }
    if (tells_power(rows)) {
      out << '\n';
      write_block(out, cells_of(power_figures(), rows), rows, style);
    }
    if (tells_tasks(rows)) {
      out << '\n';
      write_block(out, cells_of(task_figures(), rows), rows, style);
    }
    if (tells_sites(rows)) {
      out << '\n';
      const std::vector<Summary> all = with_sites(rows);
      write_block(out, cells_of(site_figures(), all), all, style);
    }
    write_intervals(out, rows);
    write_weeks(out, rows);
    write_words(out, rows, style);
    first += rows.size();
  }
}

void write_parties(std::ostream& out, std::span<const PartySummaries> parties, const TableStyle& style) {
  for (const PartySummaries& one : parties) {
    out << '\n' << kPartyKinds[static_cast<std::size_t>(one.kind)] << ' ' << one_line(one.party) << "\n";
    write_block(out, cells_of(service_figures(), one.rows), one.rows, style);
    if (const std::string trust = beside_text(one.rows); !trust.empty()) write_sentence(out, trust, style);
    write_shares(out, one, style);
  }
}

}  // namespace rota::report
