#include "log/json_batsim.h"

#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "log/job_builder.h"
#include "log/json_batsim_events.h"
#include "log/sort_rows.h"

namespace rota::log {
namespace {

using Json = nlohmann::json;

constexpr const char* kBadRow = "jobs that cannot be read: dropped";
constexpr const char* kComputed = "jobs whose profile is computed on a platform: run time unknown, dropped";
constexpr const char* kNoProfile = "jobs whose profile is not told: dropped";
constexpr const char* kNoLimit = "no walltime: requested time left unknown";
constexpr const char* kNewNumber = "job ids without a number of their own: new ones given";
constexpr int kDeepest = 16;  // sequences inside sequences

// Whether `key` stands in the text as the key of something.
bool has_key(std::string_view text, std::string_view key) {
  const std::string quoted_key = '"' + std::string(key) + '"';
  for (std::size_t at = text.find(quoted_key); at != std::string_view::npos; at = text.find(quoted_key, at + 1)) {
    const std::size_t next = text.find_first_not_of(" \t\r\n", at + quoted_key.size());
    if (next != std::string_view::npos && text[next] == ':') return true;
  }
  return false;
}

using Times = std::map<std::string, double>;  // of sequences, in seconds

// Seconds that a profile takes; nothing: that depends on the platform. What is in `known` is not reckoned again:
// sequences of sequences are long.
std::optional<double> time_of(const BatsimEvents& told, const std::string& name, Times& known, int depth = 0) {
  if (const auto before = known.find(name); before != known.end()) return before->second;
  const auto found = told.profiles.find(name);
  if (found == told.profiles.end() || depth > kDeepest) return std::nullopt;
  const BatsimProfile& profile = found->second;
  if (profile.type == "delay" || profile.type == "DelayProfile") return profile.delay;
  if (profile.type != "composed" && profile.type != "SequentialCompositionProfile") return std::nullopt;
  if (!profile.parts) return std::nullopt;
  double total = 0;
  for (const std::string& part : *profile.parts) {
    const auto time = time_of(told, part, known, depth + 1);
    if (!time) return std::nullopt;
    total += *time;
  }
  total *= profile.repeat.value_or(profile.times.value_or(1));
  if (!std::isfinite(total) || total > kMostBatsimSeconds) return std::nullopt;
  return known[name] = total;
}

// "12", "w0!12": the number behind the last "!"; -1: there is none.
std::int64_t number_of(const std::string& id) {
  const std::string_view name = std::string_view(id).substr(id.rfind('!') + 1);
  const auto number = parse_integer(name);
  return number && *number >= 0 && *number < 1'000'000'000'000'000 ? *number : -1;
}

class Reader {
 public:
  Reader(LineBlocks blocks, const SwfOptions& options) : blocks_(std::move(blocks)), options_(options) {}

  Result<BatsimLog> read() {
    JsonCharacters::Source source{blocks_, options_};
    BatsimEvents told(source, [this](const BatsimJob& job) { return add_job(job); });
    Json::sax_parse(JsonCharacters(source), JsonCharacters(), &told);
    if (source.error) return std::unexpected(*source.error);
    if (told.error) return fail(blocks_.shown() + told.error->message);
    if (!told.any)
      return fail(blocks_.shown() + ": a workload of Batsim is an object with a list of jobs, and this is none.");
    out_.processors = static_cast<std::int64_t>(std::max(0.0, told.processors.value_or(0)));
    if (out_.processors > INT32_MAX) return fail(blocks_.shown() + ": nb_res is more than 2147483647.");
    TRY(give_run_times(told));
    give_numbers();
    sort_rows(out_.rows, [](const SwfRow& row) { return row.milli(SwfField::submit); });
    out_.report.kept = std::ssize(out_.rows);
    return std::move(out_);
  }

 private:
  Result<void> add_job(const BatsimJob& job) {
    ++out_.report.rows;
    const auto taken = add(job);
    if (taken) return {};
    if (!options_.skip_bad_rows)
      return fail(": job {} of the list: {}. Mend it, or drop such jobs with --skip-bad-rows.", out_.report.rows,
                  taken.error().message);
    out_.report.drop(kBadRow, out_.report.rows);
    return {};
  }

  Result<void> add(const BatsimJob& job) {
    if (!job.is_object) return fail("it is no object");
    if (job.id.empty()) return fail("it has no id");
    const auto named = [&] { return "job " + rota::quoted(job.id); };
    if (ids_.contains(job.id)) return fail(named() + " is in the list already");
    if (!job.submit || *job.submit < 0) return fail(named() + " has no subtime from 0 on");
    if (!job.processors || *job.processors < 1 || *job.processors > INT32_MAX ||
        *job.processors != std::floor(*job.processors))
      return fail(named() + " has no res from 1 to 2147483647");
    if (job.tells_walltime && !job.walltime) return fail(named() + " has no sound walltime");
    ids_.insert(job.id);
    SwfRow& row = out_.rows.emplace_back(SwfRow::blank());
    row.line = out_.report.rows;
    row.set(SwfField::number, number_of(job.id));
    row.set_milli(SwfField::submit, std::llround(*job.submit * 1000));
    row.set(SwfField::processors, static_cast<std::int64_t>(*job.processors));
    row.set(SwfField::requested_processors, static_cast<std::int64_t>(*job.processors));
    if (job.walltime && std::llround(*job.walltime * 1000) > 0)
      row.set_milli(SwfField::requested_time, std::llround(*job.walltime * 1000));
    profiles_.push_back(names_.try_emplace(job.profile, names_.size()).first->second);
    return {};
  }

  // Once all profiles are known.
  Result<void> give_run_times(const BatsimEvents& told) {
    std::vector<std::optional<double>> times(names_.size());
    std::vector<const std::string*> missing(names_.size());
    for (const auto& [name, at] : names_) {
      times[at] = time_of(told, name, times_);
      if (!told.profiles.contains(name)) missing[at] = &name;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < out_.rows.size(); ++i) {
      SwfRow& row = out_.rows[i];
      const auto run = times[profiles_[i]];
      if (const std::string* const name = missing[profiles_[i]]) {
        if (!options_.skip_bad_rows) return fail(blocks_.shown() + without_profile(row, *name));
        out_.report.drop(kNoProfile, row.line);
        continue;
      }
      if (!run || *run < 0) {
        out_.report.drop(kComputed, row.line);
        continue;
      }
      row.set_milli(SwfField::run, std::llround(*run * 1000));
      if (row[SwfField::requested_time] < 0) out_.report.note(kNoLimit, row.line);
      if (kept != i) out_.rows[kept] = row;
      ++kept;
    }
    out_.rows.resize(kept);
    return {};
  }

  static std::string without_profile(const SwfRow& row, const std::string& name) {
    return fmt::format(
        ": job {} of the list {}, so that its run time is not told. Mend it, or drop such jobs with --skip-bad-rows.",
        row.line,
        name.empty() ? "names no profile"
                     : fmt::format("has the profile {}, which is not in `profiles`", rota::quoted(name)));
  }

  void give_numbers() {
    std::map<std::int64_t, int> seen;
    std::int64_t next = 0;
    for (const SwfRow& row : out_.rows) next = std::max(next, row[SwfField::number]);
    for (SwfRow& row : out_.rows) {
      if (row[SwfField::number] >= 0 && seen[row[SwfField::number]]++ == 0) continue;
      row.set(SwfField::number, ++next);
      out_.report.note(kNewNumber, row.line);
    }
  }

  LineBlocks blocks_;
  const SwfOptions& options_;
  Times times_;
  std::set<std::string> ids_;
  std::map<std::string, std::size_t> names_;  // of profiles, each with its place
  std::vector<std::size_t> profiles_;         // of the rows
  BatsimLog out_;
};

}  // namespace

bool looks_like_batsim(std::string_view text) {
  return trimmed(text).starts_with('{') &&
         (has_key(text, "subtime") || has_key(text, "nb_res") || has_key(text, "profiles"));
}

Result<BatsimLog> read_batsim_log(LineBlocks blocks, const SwfOptions& options) {
  return Reader(std::move(blocks), options).read();
}

Result<Workload> workload_of(BatsimLog log, const std::string& path, const SwfOptions& options) {
  auto workload = workload_of_rows(log.rows, std::move(log.report), path, options);
  if (!workload) return workload;
  workload->name = workload_name(path);
  workload->processors = log.processors;
  return workload;
}

std::string batsim_seconds(std::int64_t milliseconds) {
  std::string text = std::to_string(milliseconds / 1000);
  if (milliseconds % 1000 == 0) return text;
  text += "." + std::to_string(1000 + milliseconds % 1000).substr(1);
  while (text.ends_with('0')) text.pop_back();
  return text;
}

void BatsimWriter::job(const SwfRow& row) {
  const std::int64_t run = std::max<std::int64_t>(row.milli(SwfField::run), 0);
  const std::int64_t processors = std::max<std::int64_t>(
      row[SwfField::processors] > 0 ? row[SwfField::processors] : row[SwfField::requested_processors], 1);
  widest_ = std::max(widest_, processors);
  std::string& profile = profiles_[run];
  if (profile.empty()) profile = "delay_" + batsim_seconds(run);
  out_ << (std::exchange(any_, true) ? ",\n" : "{\n\"jobs\": [\n") << R"({"id": ")" << row[SwfField::number]
       << R"(", "subtime": )" << batsim_seconds(std::max<std::int64_t>(row.milli(SwfField::submit), 0))
       << R"(, "res": )" << processors;
  if (row.milli(SwfField::requested_time) > 0)
    out_ << R"(, "walltime": )" << batsim_seconds(row.milli(SwfField::requested_time));
  out_ << R"(, "profile": )" << Json(profile).dump() << "}";
}

BatsimWriter::~BatsimWriter() {
  out_ << (any_ ? "\n],\n" : "{\n\"jobs\": [],\n") << "\"profiles\": {";
  const char* separator = "\n";
  for (const auto& [run, name] : profiles_) {
    out_ << separator << Json(name).dump() << R"(: {"type": "delay", "delay": )" << batsim_seconds(run) << "}";
    separator = ",\n";
  }
  out_ << "\n},\n\"nb_res\": " << (processors_ > 0 ? processors_ : std::max<std::int64_t>(widest_, 1)) << "\n}\n";
}

}  // namespace rota::log
