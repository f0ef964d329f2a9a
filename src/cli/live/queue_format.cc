#include "cli/live/queue_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/letters.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/live/job_state.h"
#include "cli/live/job_use.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

constexpr std::size_t kWidest = 1000;  // columns of a field

std::string number_text(double number) { return std::to_string(static_cast<std::int64_t>(number)); }

std::string member(const Json& job, const char* name, const char* otherwise = "") {
  const std::string text = text_of(job, name);
  return text.empty() ? otherwise : text;
}

std::string counted(const Json& job, const char* name, const char* otherwise = "N/A") {
  return has_number(job, name) ? number_text(number_of(job, name)) : otherwise;
}

std::string at(const Json& job, const char* name) {
  return has_number(job, name) ? time_text(number_of(job, name)) : "N/A";
}

bool waits(const Json& job) { return text_of(job, "state") == "PENDING"; }

constexpr std::array kStarts{"expected_start", "starts_by", "begin"};

// For a job that waits: as promised, else at the latest, else not before, where that is all it waits for. -1: not
// known.
double start_of(const Json& job) {
  if (!waits(job)) return number_of(job, "start", -1);
  for (const char* name : {"expected_start", "starts_by"}) {
    if (has_number(job, name)) return number_of(job, name);
  }
  return text_of(job, "reason") == "BeginTime" ? number_of(job, "begin", -1) : -1;
}

// When it has ended or, at the latest, will.
double end_of(const Json& job) {
  for (const char* name : {"end", "ends_by"}) {
    if (has_number(job, name)) return number_of(job, name);
  }
  const double start = start_of(job), limit = number_of(job, "limit", -1);
  return start < 0 || limit < 0 ? -1 : start + limit;
}

constexpr double kUnlimited = 1e18;  // seconds; the service leaves out a limit that a job does not have

double left_of(const Json& job) { return number_of(job, "limit", kUnlimited) - number_of(job, "elapsed"); }

std::string id_of(const Json& job) { return text_of(job, "id"); }
std::string array_id(const Json& job) { return member(job, "array", id_of(job).c_str()); }
std::string name_of(const Json& job) { return text_of(job, "name"); }
std::string user_of(const Json& job) { return text_of(job, "user"); }
std::string uid_of(const Json& job) { return counted(job, "uid"); }
std::string partition_of(const Json& job) { return text_of(job, "partition"); }
std::string short_state(const Json& job) { return state_letters(text_of(job, "state")); }
std::string long_state(const Json& job) { return text_of(job, "state"); }
std::string elapsed(const Json& job) { return run_text(number_of(job, "elapsed")); }
std::string limit(const Json& job) { return limit_text(number_of(job, "limit", kUnlimited)); }
std::string left(const Json& job) { return has_number(job, "limit") ? run_text(left_of(job)) : limit(job); }
std::string nodes(const Json& job) { return counted(job, "nodes", "1"); }
std::string processors(const Json& job) { return counted(job, "processors", "1"); }
std::string node_list(const Json& job) { return text_of(job, "node_list"); }
std::string reason(const Json& job) { return member(job, "reason", "None"); }
std::string place(const Json& job) { return waits(job) ? fmt::format("({})", reason(job)) : node_list(job); }
std::string place_in_full(const Json& job) {
  const std::string numbers = accelerators_held(job);
  return place(job) + (numbers.empty() ? "" : fmt::format(" (accelerators {})", numbers));
}
std::string start(const Json& job) { return time_text(start_of(job)); }
std::string submitted(const Json& job) { return at(job, "submit"); }
std::string end(const Json& job) { return time_text(end_of(job)); }
std::string priority(const Json& job) { return counted(job, "priority", "0"); }
std::string memory(const Json& job) { return has_number(job, "memory") ? memory_text(number_of(job, "memory")) : "0"; }
std::string index(const Json& job) { return counted(job, "index"); }
std::string comment(const Json& job) { return member(job, "comment", "(null)"); }
std::string account(const Json& job) { return member(job, "account", "(null)"); }
std::string qos(const Json& job) { return member(job, "qos", "N/A"); }
std::string features(const Json& job) { return member(job, "features", "(null)"); }
std::string required_nodes(const Json& job) { return text_of(job, "required_nodes"); }
std::string excluded_nodes(const Json& job) { return text_of(job, "excluded_nodes"); }
std::string reservation(const Json& job) { return text_of(job, "reservation"); }
std::string folder(const Json& job) { return member(job, "folder", "N/A"); }
std::string command(const Json& job) {
  const std::string words = words_of(job, "command", " ");
  return words.empty() ? "N/A" : words;
}
std::string dependency(const Json& job) {
  const std::string after = words_of(job, "after");
  return after.empty() ? "(null)" : after;
}
std::string licences(const Json& job) {
  const std::string name = text_of(job, "licence");
  if (name.empty()) return "(null)";
  const std::string more = words_of(job, "more_licences");
  return fmt::format("{}:{}{}", name, counted(job, "licences", "1"), more.empty() ? "" : "," + more);
}
std::string accelerators(const Json& job) {
  if (number_of(job, "accelerators") <= 0) return "N/A";
  const std::string type = text_of(job, "accelerator_type");
  return fmt::format("gpu:{}{}", type.empty() ? "" : type + ":", counted(job, "accelerators"));
}
std::string held(const Json& job) {
  const std::string numbers = accelerators_held(job);
  return numbers.empty() ? "-" : numbers;
}
std::string restarts(const Json& job) { return number_of(job, "restarts") > 0 ? counted(job, "restarts") : "0"; }
std::string nothing(const Json&) { return "N/A"; }
std::string shared(const Json&) { return "OK"; }

// By what jobs are sorted where text is not: nullopt as text.
using Figure = double (*)(const Json&);
double id_figure(const Json& job) { return std::atof(array_id(job).c_str()); }
double elapsed_figure(const Json& job) { return number_of(job, "elapsed"); }
double limit_figure(const Json& job) { return number_of(job, "limit", kUnlimited); }
double nodes_figure(const Json& job) { return number_of(job, "nodes", 1); }
double processors_figure(const Json& job) { return number_of(job, "processors", 1); }
double submit_figure(const Json& job) { return number_of(job, "submit"); }
double priority_figure(const Json& job) { return number_of(job, "priority"); }
double memory_figure(const Json& job) { return number_of(job, "memory"); }
double index_figure(const Json& job) { return number_of(job, "index"); }

struct Letter {
  char letter;
  std::string_view head;
  std::string (*text)(const Json&);
  Figure figure = nullptr;
};

constexpr std::array kLetters{Letter{'i', "JOBID", id_of, id_figure},
                              Letter{'A', "JOBID", id_of, id_figure},
                              Letter{'F', "ARRAY_JOB_ID", array_id, id_figure},
                              Letter{'K', "ARRAY_TASK_ID", index, index_figure},
                              Letter{'j', "NAME", name_of},
                              Letter{'u', "USER", user_of},
                              Letter{'U', "UID", uid_of},
                              Letter{'P', "PARTITION", partition_of},
                              Letter{'t', "ST", short_state},
                              Letter{'T', "STATE", long_state},
                              Letter{'M', "TIME", elapsed, elapsed_figure},
                              Letter{'l', "TIME_LIMIT", limit, limit_figure},
                              Letter{'L', "TIME_LEFT", left, left_of},
                              Letter{'D', "NODES", nodes, nodes_figure},
                              Letter{'C', "CPUS", processors, processors_figure},
                              Letter{'R', "NODELIST(REASON)", place},
                              Letter{'@', "NODELIST(REASON)", place_in_full},
                              Letter{'N', "NODELIST", node_list},
                              Letter{'r', "REASON", reason},
                              Letter{'S', "START_TIME", start, start_of},
                              Letter{'V', "SUBMIT_TIME", submitted, submit_figure},
                              Letter{'e', "END_TIME", end, end_of},
                              Letter{'p', "PRIORITY", priority, priority_figure},
                              Letter{'Q', "PRIORITY", priority, priority_figure},
                              Letter{'m', "MIN_MEMORY", memory, memory_figure},
                              Letter{'b', "TRES_PER_NODE", accelerators},
                              Letter{'#', "ACCELERATORS", held},
                              Letter{'W', "LICENSES", licences},
                              Letter{'E', "DEPENDENCY", dependency},
                              Letter{'k', "COMMENT", comment},
                              Letter{'o', "COMMAND", command},
                              Letter{'Z', "WORK_DIR", folder},
                              Letter{'B', "EXEC_HOST", node_list},
                              Letter{'s', "RESTARTS", restarts},
                              Letter{'h', "OVER_SUBSCRIBE", shared},
                              Letter{'a', "ACCOUNT", account},
                              Letter{'c', "MIN_CPUS", nothing},
                              Letter{'d', "MIN_TMP_DISK", nothing},
                              Letter{'f', "FEATURES", features},
                              Letter{'g', "GROUP", nothing},
                              Letter{'G', "GROUP", nothing},
                              Letter{'H', "SOCKETS", nothing},
                              Letter{'I', "CORES", nothing},
                              Letter{'J', "THREADS", nothing},
                              Letter{'n', "REQ_NODES", required_nodes},
                              Letter{'O', "CONTIGUOUS", nothing},
                              Letter{'q', "QOS", qos},
                              Letter{'v', "RESERVATION", reservation},
                              Letter{'w', "WCKEY", nothing},
                              Letter{'x', "EXC_NODES", excluded_nodes},
                              Letter{'X', "CORE_SPEC", nothing},
                              Letter{'y', "NICE", nothing},
                              Letter{'Y', "SCHEDNODES", nothing},
                              Letter{'z', "S:C:T", nothing}};

const Letter* letter_of(char letter) {
  const auto* found = std::ranges::find(kLetters, letter, &Letter::letter);
  return found == kLetters.end() ? nullptr : found;
}

std::unexpected<Error> no_letter(char letter) {
  return fail("%{} is no field of a job; `rota queue --help` lists the letters, such as %i, %j and %T.",
              one_line(std::string(1, letter)));
}

// Takes a whole UTF-8 text to at most so many characters.
std::string cut(std::string text, std::size_t width) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
    if (characters++ == width) {
      text.resize(i);
      return text;
    }
  }
  return characters < width ? text + std::string(width - characters, ' ') : text;
}

std::string placed(const QueueField& field, const std::string& text) {
  if (field.width == 0) return text;
  std::string out = cut(text, field.width);
  if (field.right) {
    const std::size_t end = out.find_last_not_of(' ') + 1;
    std::rotate(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(end), out.end());
  }
  return out;
}

template <class Text>
std::string line(const std::vector<QueueField>& fields, Text text) {
  std::string out;
  for (const QueueField& field : fields) {
    out += field.before;
    if (field.letter != '\0') out += placed(field, text(*letter_of(field.letter)));
  }
  return out;
}

// Whether it has no such time, and stands last either way.
bool lacks(const Letter& letter, const Json& job) { return tells_start(letter.letter) && letter.figure(job) < 0; }

// Negative: a before b.
int compared(const Letter& letter, const Json& a, const Json& b) {
  if (letter.figure != nullptr) {
    const double left = letter.figure(a), right = letter.figure(b);
    return left < right ? -1 : left > right ? 1 : 0;
  }
  return letter.text(a).compare(letter.text(b));
}

}  // namespace

bool tells_start(char letter) { return letter == 'S' || letter == 'e'; }

Result<std::vector<QueueField>> parse_queue_format(std::string_view format) {
  std::vector<QueueField> fields{{}};
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || format.substr(i, 2) == "%%") {
      i += format[i] == '%';
      fields.back().before += format[i];
      continue;
    }
    QueueField& field = fields.back();
    ++i;
    if (i < format.size() && format[i] == '.') {
      field.right = true;
      ++i;
    }
    const std::size_t end = std::min(format.find_first_not_of("0123456789", i), format.size());
    const auto width = end == i ? Result<std::int64_t>(0) : parse_integer(format.substr(i, end - i));
    if (!width || static_cast<std::size_t>(*width) > kWidest)
      return fail("A field of {} is too wide; it has {} columns at most.", rota::quoted(format), kWidest);
    field.width = static_cast<std::size_t>(*width);
    i = end;
    if (i == format.size())
      return fail(rota::quoted(format) + " ends in the middle of a field; write a letter behind the %.");
    if (letter_of(format[i]) == nullptr) return no_letter(format[i]);
    field.letter = format[i];
    fields.emplace_back();
  }
  if (fields.back().before.empty()) fields.pop_back();
  return fields;
}

Result<std::vector<QueueField>> parse_queue_columns(std::string_view names) {
  constexpr std::array kShort{std::pair{"START", 'S'}, std::pair{"END", 'e'}, std::pair{"SUBMIT", 'V'},
                              std::pair{"ELAPSED", 'M'}, std::pair{"LIMIT", 'l'}};  // as the history calls them
  std::vector<QueueField> fields;
  for (const std::string_view part : split(names, ',')) {
    const std::string name = upper(trimmed(part));
    const auto* const called =
        std::ranges::find(kShort, name, [](const auto& each) { return std::string(each.first); });
    const auto* const found = called != kShort.end()
                                  ? letter_of(called->second)
                                  : std::ranges::find(kLetters, std::string_view(name), &Letter::head);
    if (found == kLetters.end()) {
      std::string known;
      for (const Letter& each : kLetters) {
        const std::string head = lower(each.head);
        if (each.text != nothing && known.find(head + ",") == std::string::npos) known += head + ", ";
      }
      known.resize(known.size() - 2);
      return fail("{} is no column of the queue; there are {}, or letters as in \"%i %j\".",
                  rota::quoted(trimmed(part)), known);
    }
    fields.push_back({.before = {}, .letter = found->letter});
  }
  return fields;
}

std::string queue_table(const std::vector<QueueField>& fields, const Json& jobs, bool header) {
  std::vector<Column> columns;
  for (const QueueField& field : fields) {
    const Letter& letter = *letter_of(field.letter);
    const bool number = letter.figure != nullptr && std::string_view("iAFSVe").find(field.letter) == std::string::npos;
    columns.push_back({std::string(letter.head), number});
  }
  std::vector<std::vector<std::string>> rows;
  for (const Json& job : jobs) {
    auto& row = rows.emplace_back();
    for (const QueueField& field : fields) row.push_back(letter_of(field.letter)->text(job));
  }
  return table(columns, rows, header);
}

std::string queue_header(const std::vector<QueueField>& fields) {
  return line(fields, [](const Letter& letter) { return std::string(letter.head); });
}

std::string queue_row(const std::vector<QueueField>& fields, const Json& job) {
  return line(fields, [&](const Letter& letter) { return one_line(letter.text(job)); });
}

Result<void> sort_jobs(Json& jobs, std::string_view letters) {
  struct By {
    const Letter* letter;
    int sign;
  };
  std::vector<By> order;
  for (const std::string_view piece : split(letters, ',')) {
    const bool signed_piece = piece.starts_with('-') || piece.starts_with('+');
    const std::string_view name = piece.substr(signed_piece ? 1 : 0);
    if (name.size() != 1) return fail(rota::quoted(letters) + " is no order of jobs; write letters such as -p,i.");
    if (letter_of(name[0]) == nullptr) return no_letter(name[0]);
    order.push_back({letter_of(name[0]), piece[0] == '-' ? -1 : 1});
  }
  std::stable_sort(jobs.begin(), jobs.end(), [&](const Json& a, const Json& b) {
    for (const By& by : order) {
      if (const bool last = lacks(*by.letter, a); last != lacks(*by.letter, b)) return !last;
      if (const int way = by.sign * compared(*by.letter, a, b); way != 0) return way < 0;
    }
    return false;
  });
  return {};
}

std::string ranges_text(const std::vector<std::int64_t>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    out += (out.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i) out += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return out;
}

std::string tasks_text(const Json& task, std::vector<std::int64_t> indexes) {
  std::ranges::sort(indexes);
  const auto most = static_cast<std::int64_t>(number_of(task, "throttle"));
  return fmt::format("{}_[{}{}]", text_of(task, "array"), ranges_text(indexes),
                     most > 0 ? "%" + std::to_string(most) : "");
}

namespace {

// Tasks that wait and for which this is the same stand in one row. A task that waits for its turn is one with those
// before it; one that is held or waits for others is not, and neither is one that asks for something else by now.
std::string sort_of(const Json& task) {
  const std::string why = reason(task);
  const bool for_others = why.starts_with("JobHeld") || why.starts_with("Depend") || why == "BeginTime";
  Json sort{text_of(task, "array"), for_others ? why : ""};
  for (const char* asked : {"name", "processors", "nodes", "memory", "limit", "priority", "partition", "licence",
                            "licences", "more_licences"})
    sort.push_back(task.value(asked, Json()));
  if (for_others) sort.push_back(task.value("begin", Json()));
  return sort.dump();
}

// A row of several tasks starts with the first of them.
void take_earlier_start(const Json& task, Json& row) {
  if (start_of(task) < 0 || (start_of(row) >= 0 && start_of(row) <= start_of(task))) return;
  for (const char* name : kStarts) {
    row.erase(name);
    if (has_number(task, name)) row[name] = task.at(name);
  }
}

}  // namespace

Json folded_arrays(const Json& jobs) {
  Json out = Json::array();
  std::map<std::string, std::pair<std::size_t, std::vector<std::int64_t>>> folded;  // a row of `out`, and its tasks
  for (const Json& job : jobs) {
    if (!waits(job) || text_of(job, "array").empty()) {
      out.push_back(job);
      continue;
    }
    const auto [at, is_new] = folded.try_emplace(sort_of(job), out.size(), std::vector<std::int64_t>{});
    if (is_new) {
      out.push_back(job);
    } else {
      take_earlier_start(job, out[at->second.first]);
    }
    at->second.second.push_back(static_cast<std::int64_t>(number_of(job, "index")));
  }
  for (const auto& [sort, tasks] : folded) {
    if (tasks.second.size() > 1) out[tasks.first]["id"] = tasks_text(out[tasks.first], tasks.second);
  }
  return out;
}

}  // namespace rota::cli
