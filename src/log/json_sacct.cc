#include "log/json_sacct.h"

#include <fmt/core.h>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "log/json_characters.h"
#include "log/wrong_json.h"

namespace rota::log {
namespace {

using nlohmann::json;

constexpr const char* kFailed = "sacct says in `errors` that it failed: jobs may be missing";
constexpr std::size_t kDeepest = 64;  // lists and objects inside each other: what sacct prints has a dozen

struct Field {
  std::string_view path;  // below a job
  SacctColumn column;
};
constexpr std::array<Field, 19> kFields{{{"/job_id", SacctColumn::job_id_raw},
                                         {"/cluster", SacctColumn::cluster},
                                         {"/user", SacctColumn::user},
                                         {"/account", SacctColumn::account},
                                         {"/partition", SacctColumn::partition},
                                         {"/qos", SacctColumn::qos},
                                         {"/time/submission", SacctColumn::submit},
                                         {"/time/eligible", SacctColumn::eligible},
                                         {"/time/start", SacctColumn::start},
                                         {"/time/end", SacctColumn::end},
                                         {"/time/elapsed", SacctColumn::elapsed_raw},
                                         {"/time/suspended", SacctColumn::suspended},
                                         {"/time/limit", SacctColumn::timelimit_raw},
                                         {"/allocation_nodes", SacctColumn::nnodes},
                                         {"/nodes", SacctColumn::node_list},
                                         {"/array/limits/max/running/tasks", SacctColumn::throttle},
                                         {"/submit_line", SacctColumn::submit_line},
                                         {"/constraints", SacctColumn::constraints},
                                         {"/required/CPUs", SacctColumn::req_cpus}}};

bool is_instant(SacctColumn column) {
  return column == SacctColumn::submit || column == SacctColumn::eligible || column == SacctColumn::start ||
         column == SacctColumn::end;
}

// One job while it is read: its values by column, as text.
struct Job {
  std::array<std::string, kSacctColumns> text;
  std::string requested, allocated, memory;  // as in ReqTRES, AllocTRES and ReqMem
  std::string kind, name, count;             // of the resource that is being read
  std::string het_job, het_offset;           // of a component
  std::string array, task;                   // and of a task of an array
  std::string& of(SacctColumn column) { return text[static_cast<std::size_t>(column)]; }
};

// A value of newer releases is {"set": true, "infinite": false, "number": 5}: what the members but the last one say.
bool says_not_known(std::string_view member, std::string_view value) {
  return (member == "set" && value == "false") || (member == "infinite" && value == "true");
}

// Newer releases list a state and its flags: ["PENDING", "REQUEUED"] is what was REQUEUED before.
bool says_more(std::string_view flag, std::string_view state) {
  if (state.empty()) return true;
  const SacctState means = parse_sacct_state(flag);
  return parse_sacct_state(state) == SacctState::pending && means != SacctState::pending &&
         means != SacctState::unknown;
}

class Jobs final : public nlohmann::json_sax<json> {
 public:
  Jobs(JsonCharacters::Source& source, std::int64_t lines_before, SacctRowTaker& taker)
      : source_(source), before_(lines_before), taker_(taker) {}

  std::string error;             // a whole sentence but for file and line,
  std::string wrong;             // or what is no JSON: but for the file
  std::string failed;            // what sacct says of itself that went wrong; may be empty,
  std::int64_t failed_line = 0;  // and where; 0: nothing did
  std::int64_t last_line = 0;    // of a job
  bool any = false;              // the member `jobs` was there

  bool null() override { return value({}); }
  bool boolean(bool yes) override { return value(yes ? "true" : "false"); }
  bool number_integer(number_integer_t number) override { return value(std::to_string(number)); }
  bool number_unsigned(number_unsigned_t number) override { return value(std::to_string(number)); }
  bool number_float(number_float_t /*number*/, const string_t& text) override { return value(text); }
  bool string(string_t& text) override { return value(text); }
  bool binary(binary_t& /*bytes*/) override { return true; }
  bool key(string_t& name) override {
    path_.resize(lengths_.empty() ? 0 : lengths_.back());
    path_ += '/' + name;
    any = any || path_ == "/jobs";
    return true;
  }
  bool start_object(std::size_t /*size*/) override {
    if (!enter()) return false;
    if (path_ == "/jobs") {
      job_ = {};
      line_ = std::max(last_line + 1, before_ + source_.line);
    }
    return true;
  }
  bool end_object() override {
    leave();
    if (path_ == "/jobs") return finish_job();
    if (path_ == "/jobs/tres/requested" || path_ == "/jobs/tres/allocated") add_resource();
    return true;
  }
  bool start_array(std::size_t /*size*/) override { return enter(); }
  bool end_array() override {
    leave();
    return true;
  }
  bool parse_error(std::size_t at, const std::string& /*token*/, const json::exception& /*e*/) override {
    wrong = wrong_json(source_, at);
    return false;
  }

 private:
  bool enter() {
    if (lengths_.size() == kDeepest) {
      error = fmt::format(
          "more than {} lists and objects stand inside each other, which sacct --json never prints. Is it the right "
          "file?",
          kDeepest);
      return false;
    }
    lengths_.push_back(path_.size());
    return true;
  }
  void leave() {
    path_.resize(lengths_.back());
    lengths_.pop_back();
  }
  bool value(std::string_view text);
  void take_failure(std::string_view text);
  void set(Job& job, std::string_view path, std::string_view text) const;
  void add_resource();
  bool finish_job();

  JsonCharacters::Source& source_;
  std::int64_t before_;
  SacctRowTaker& taker_;
  std::string path_;
  std::vector<std::size_t> lengths_;  // of the path at each container that is open
  Job job_;
  std::int64_t line_ = 0;
};

// "errors": [{"description": "Unable to connect to database", ...}], or of old releases a list of texts.
void Jobs::take_failure(std::string_view text) {
  const bool telling = path_ == "/errors" || path_ == "/errors/description" || path_ == "/errors/error";
  if (text.empty() || !(telling || (path_ == "/errors/error_number" && text != "0"))) return;
  if (failed_line == 0) failed_line = before_ + source_.line;
  if (failed.empty() && telling) failed = text;
}

bool Jobs::value(std::string_view text) {
  if (path_.starts_with("/errors")) take_failure(text);
  constexpr std::string_view kJobs = "/jobs/";
  if (!path_.starts_with(kJobs) || path_.starts_with("/jobs/steps")) return true;
  std::string_view path = std::string_view(path_).substr(kJobs.size() - 1);
  const std::string_view member = path.substr(path.rfind('/') + 1);
  if (member == "set" || member == "infinite" || member == "number") {
    path.remove_suffix(member.size() + 1);
    if (member != "number" && !says_not_known(member, text)) return true;
    if (member != "number") text = member == "set" ? "unset" : "unlimited";
  }
  set(job_, path, text);
  return true;
}

// "unset" and "unlimited" stay, whichever of the members comes first.
void Jobs::set(Job& job, std::string_view path, std::string_view text) const {
  const auto keep = [&](std::string& into) {
    if (into != "unset" && into != "unlimited") into = text;
  };
  for (const Field& field : kFields)
    if (field.path == path) keep(job.of(field.column));
  if (path == "/state/current" && says_more(text, job.of(SacctColumn::state))) job.of(SacctColumn::state) = text;
  if (path == "/array/job_id") keep(job.array);
  if (path == "/array/task_id") keep(job.task);
  if (path == "/het/job_id") keep(job.het_job);
  if (path == "/het/job_offset") keep(job.het_offset);
  if (!path.starts_with("/tres/requested/") && !path.starts_with("/tres/allocated/")) return;
  if (path.ends_with("/type")) job.kind = text;
  if (path.ends_with("/name")) job.name = text;
  if (path.ends_with("/count")) job.count = text;
}

// As ReqTRES has it: "cpu=4", "mem=400M", "gres/gpu:a100=2", "license/matlab=1".
void Jobs::add_resource() {
  const bool requested = path_ == "/jobs/tres/requested";
  const bool counted = !job_.count.empty() && job_.count.find_first_not_of("0123456789") == std::string::npos;
  if (counted && job_.kind != "energy") {
    std::string& list = requested ? job_.requested : job_.allocated;
    if (!list.empty()) list += ',';
    list += fmt::format("{}{}={}", job_.kind, job_.name.empty() ? "" : "/" + job_.name, job_.count);
    if (job_.kind == "mem") list += 'M';
    if (job_.kind == "mem" && requested) job_.memory = job_.count + "M";
  }
  job_.kind.clear();
  job_.name.clear();
  job_.count.clear();
}

bool Jobs::finish_job() {
  last_line = line_;
  SacctCells cells;
  for (std::size_t i = 0; i < kSacctColumns; ++i) {
    std::string& text = job_.text[i];
    const bool unset = text == "unset" || text == "unlimited";
    if (unset || (text == "0" && is_instant(static_cast<SacctColumn>(i)))) text.clear();
    if (!text.empty()) cells.set(static_cast<SacctColumn>(i), text);
  }
  std::string id = job_.of(SacctColumn::job_id_raw);
  if (!job_.array.empty() && job_.array != "0" && !job_.task.empty() && job_.task != "unset")
    id = fmt::format("{}_{}", job_.array, job_.task);
  if (!job_.het_job.empty() && job_.het_job != "0") {
    id = fmt::format("{}+{}", job_.het_job,
                     job_.het_offset.empty() || job_.het_offset == "unset" ? "0" : job_.het_offset);
  }
  cells.set(SacctColumn::job_id, id);
  cells.set(SacctColumn::req_tres, job_.requested);
  cells.set(SacctColumn::alloc_tres, job_.allocated);
  cells.set(SacctColumn::req_mem, job_.memory);
  if (auto taken = taker_.read_row(cells, line_); !taken) error = taken.error().message;
  return error.empty();
}

}  // namespace

bool looks_like_json_sacct(std::string_view text) {
  const std::size_t brace = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  text = trimmed(text.substr(brace + 1));
  for (const std::string_view member : {"\"meta\"", "\"jobs\"", "\"errors\"", "\"warnings\""})
    if (text.starts_with(member)) return true;
  return false;
}

Result<std::int64_t> read_json_sacct(LineBlocks blocks, const SwfOptions& options, std::int64_t lines_before,
                                     SacctRowTaker& taker) {
  JsonCharacters::Source source{blocks, options};
  Jobs jobs(source, lines_before, taker);
  const std::string shown = blocks.shown();
  const bool done = json::sax_parse(JsonCharacters(source), JsonCharacters(), &jobs);
  if (source.error) return std::unexpected(*source.error);
  const std::int64_t line = source.line - (source.more() ? 0 : 1);
  if (!jobs.wrong.empty()) return fail(shown + jobs.wrong);
  if (!done) return fail("{}:{}: {}", shown, line, jobs.error);
  if (jobs.failed_line > 0 && !options.skip_bad_rows)
    return fail(
        "{}:{}: sacct says in `errors` that it failed{}, so that jobs may be missing. Have sacct write it again, or "
        "take what there is with --skip-bad-rows.",
        shown, jobs.failed_line - lines_before, jobs.failed.empty() ? "" : ", " + rota::quoted(jobs.failed));
  if (jobs.failed_line > 0) taker.out().report.note(kFailed, jobs.failed_line);
  if (!jobs.any) return fail(shown + ": it has no `jobs`. Write it with sacct -D --allusers --json.");
  return std::max(lines_before + source.line, jobs.last_line);
}

}  // namespace rota::log
