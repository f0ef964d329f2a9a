#include "log/json_batsim.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/json_names.h"
#include "base/json_size.h"
#include "base/text.h"
#include "base/time.h"
#include "log/job_builder.h"

namespace rota::log {
namespace {

using Json = nlohmann::json;

constexpr const char* kBadRow = "jobs that cannot be read: dropped";
constexpr const char* kComputed = "jobs whose profile is computed on a platform: run time unknown, dropped";
constexpr const char* kNoLimit = "no walltime: requested time left unknown";
constexpr const char* kNewNumber = "job ids without a number of their own: new ones given";
constexpr std::size_t kMostText = std::size_t{1} << 30U;
constexpr double kMostSeconds = 1e11;
constexpr int kDeepest = 16;  // sequences inside sequences
constexpr std::size_t kDeepestText = 64;

// Whether `key` stands in the text as the key of something.
bool has_key(std::string_view text, std::string_view key) {
  const std::string quoted_key = '"' + std::string(key) + '"';
  for (std::size_t at = text.find(quoted_key); at != std::string_view::npos; at = text.find(quoted_key, at + 1)) {
    const std::size_t next = text.find_first_not_of(" \t\r\n", at + quoted_key.size());
    if (next != std::string_view::npos && text[next] == ':') return true;
  }
  return false;
}

std::optional<double> number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const auto number = found->get<double>();
  return std::isfinite(number) && std::abs(number) <= kMostSeconds ? std::optional(number) : std::nullopt;
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_integer() ? std::to_string(found->get<std::int64_t>()) : "";
}

using Times = std::map<std::string, double>;  // of profiles, in seconds

// Seconds that a profile takes; nothing: that depends on the platform. What is in `known` is not reckoned again:
// sequences of sequences are long.
std::optional<double> time_of(const Json& profiles, const std::string& name, Times& known, int depth = 0) {
  if (const auto before = known.find(name); before != known.end()) return before->second;
  const auto found = profiles.find(name);
  if (found == profiles.end() || !found->is_object() || depth > kDeepest) return std::nullopt;
  const std::string type = text_in(*found, "type");
  if (type == "delay" || type == "DelayProfile") return number_in(*found, "delay");
  if (type != "composed" && type != "SequentialCompositionProfile") return std::nullopt;
  const auto sequence = found->find("seq");
  if (sequence == found->end() || !sequence->is_array()) return std::nullopt;
  double total = 0;
  for (const Json& part : *sequence) {
    const auto time = part.is_string() ? time_of(profiles, part.get<std::string>(), known, depth + 1) : std::nullopt;
    if (!time) return std::nullopt;
    total += *time;
  }
  total *= number_in(*found, "repeat").value_or(number_in(*found, "nb").value_or(1));
  if (!std::isfinite(total) || total > kMostSeconds) return std::nullopt;
  return known[name] = total;
}

// "12", "w0!12": the number behind the last "!"; -1: there is none.
std::int64_t number_of(const std::string& id) {
  const std::string_view name = std::string_view(id).substr(id.rfind('!') + 1);
  const auto number = parse_integer(name);
  return number && *number >= 0 && *number < 1'000'000'000'000'000 ? *number : -1;
}

Result<Json> parsed(std::string_view text, const std::string& shown) {
  if (json_size(text, kDeepestText) != JsonSize::within) {
    return fail(shown + ": more than " + std::to_string(kDeepestText) +
                " lists and objects stand inside each other, which no workload of Batsim has.");
  }
  try {
    JsonNames<Json> names;
    Json json = Json::parse(text, std::ref(names));
    if (!names.twice()) return json;
    return fail(shown + ": " + rota::quoted(*names.twice()) +
                " stands twice in one object of its JSON, and which of the two counts nobody can tell. Mend the file.");
  } catch (const Json::parse_error& wrong) {
    const std::size_t at = std::min<std::size_t>(wrong.byte > 0 ? wrong.byte - 1 : 0, text.size());
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    const std::string_view rest = text.substr(at, 40).substr(0, text.substr(at, 40).find('\n'));
    const bool early = std::ranges::all_of(text.substr(at), blank);
    std::string_view before = text.substr(0, at);
    while (early && !before.empty() && blank(before.back())) before.remove_suffix(1);
    const std::string line = std::to_string(std::ranges::count(before, '\n') + 1);
    if (early) return fail(shown + ":" + line + ": the JSON ends too early (is the file cut off?).");
    return fail(shown + ":" + line + ": from " + quoted(rest) + " on this is no JSON. Mend the file.");
  } catch (const Json::exception&) {
    return fail(shown + ": a number in it is too large. Mend the file.");
  }
}

class Reader {
 public:
  Reader(std::string shown, const SwfOptions& options) : shown_(std::move(shown)), options_(options) {}

  Result<BatsimLog> read(const Json& document) {
    if (!document.is_object() || !document.contains("jobs") || !document["jobs"].is_array())
      return fail(shown_ + ": a workload of Batsim is an object with a list of jobs, and this is none.");
    profiles_ = document.value("profiles", Json::object());
    out_.processors = static_cast<std::int64_t>(std::max(0.0, number_in(document, "nb_res").value_or(0)));
    if (out_.processors > INT32_MAX) return fail(shown_ + ": nb_res is more than 2147483647.");
    for (const Json& job : document["jobs"]) {
      ++out_.report.rows;
      if (auto taken = take(job); !taken) {
        if (!options_.skip_bad_rows)
          return fail(shown_ + ": job " + std::to_string(out_.report.rows) + " of the list: " + taken.error().message +
                      ". Mend it, or drop such jobs with --skip-bad-rows.");
        out_.report.drop(kBadRow, out_.report.rows);
      }
    }
    give_numbers();
    std::ranges::stable_sort(out_.rows, {}, [](const SwfRow& row) { return row.milli(SwfField::submit); });
    out_.report.kept = std::ssize(out_.rows);
    return std::move(out_);
  }

 private:
  Result<void> take(const Json& job) {
    if (!job.is_object()) return fail("it is no object");
    const std::string id = text_in(job, "id");
    if (id.empty()) return fail("it has no id");
    if (ids_.contains(id)) return fail("job " + rota::quoted(id) + " is in the list already");
    const auto submit = number_in(job, "subtime");
    if (!submit || *submit < 0) return fail("job " + rota::quoted(id) + " has no subtime from 0 on");
    const auto processors = number_in(job, "res");
    if (!processors || *processors < 1 || *processors > INT32_MAX || *processors != std::floor(*processors))
      return fail("job " + rota::quoted(id) + " has no res from 1 to 2147483647");
    const auto limit = number_in(job, "walltime");
    if (job.contains("walltime") && (!limit || *limit > kMostSeconds))
      return fail("job " + rota::quoted(id) + " has no sound walltime");
    const auto run = time_of(profiles_, text_in(job, "profile"), times_);
    if (!run || *run < 0) return out_.report.drop(kComputed, out_.report.rows), Result<void>{};
    SwfRow row = SwfRow::blank();
    row.line = out_.report.rows;
    row.set(SwfField::number, number_of(id));
    row.set_milli(SwfField::submit, std::llround(*submit * 1000));
    row.set_milli(SwfField::run, std::llround(*run * 1000));
    row.set(SwfField::processors, static_cast<std::int64_t>(*processors));
    row.set(SwfField::requested_processors, static_cast<std::int64_t>(*processors));
    if (limit && std::llround(*limit * 1000) > 0) {
      row.set_milli(SwfField::requested_time, std::llround(*limit * 1000));
    } else {
      out_.report.note(kNoLimit, row.line);
    }
    ids_.insert(id);
    out_.rows.push_back(row);
    return {};
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

  std::string shown_;
  const SwfOptions& options_;
  Json profiles_;
  Times times_;
  std::set<std::string> ids_;
  BatsimLog out_;
};

}  // namespace

bool looks_like_batsim(std::string_view text) {
  return trimmed(text).starts_with('{') &&
         (has_key(text, "subtime") || has_key(text, "nb_res") || has_key(text, "profiles"));
}

Result<BatsimLog> read_batsim_log(LineBlocks blocks, const SwfOptions& options) {
  std::string text;
  for (;;) {
    const auto block = blocks.next();
    if (!block) return std::unexpected(block.error());
    if (options.progress) options.progress(blocks.share());
    if (block->empty()) break;
    if (text.size() + block->size() > kMostText)
      return fail(blocks.shown() + " has more than 1G of text; split the workload.");
    text += *block;
  }
  if (!is_utf8(text)) return fail(blocks.shown() + " is not UTF-8 text. Save the file as UTF-8.");
  const auto document = parsed(text, blocks.shown());
  if (!document) return std::unexpected(document.error());
  return Reader(blocks.shown(), options).read(*document);
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
