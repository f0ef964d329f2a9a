#include "log/lsf.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <set>
#include <utility>

#include "base/text.h"
#include "log/searched_line.h"
#include "log/seen_jobs.h"
#include "model/machine.h"

namespace rota::log {
namespace {

constexpr const char* kOther = "records of reservations, sizes and other events: passed over";
constexpr const char* kAgain = "told again: dropped";
constexpr const char* kMemory = "memory of rusage[mem=] without a unit: taken as megabytes on each host";
constexpr const char* kOtherResources = "other resources (rusage) are asked for: left out";
constexpr const char* kUnevenGpus = "accelerators spread unevenly: as many on each node as on the fullest";

constexpr std::int64_t kMostNumber = 1'000'000'000'000'000;
constexpr std::int64_t kDone = 64;  // jStatus

// The fields of a record, read one after the other.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  bool ended() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size()));
    return rest_.empty();
  }
  // The next field without its quotes; the record's end is an error.
  Result<std::string_view> text() {
    if (ended()) return fail("the record breaks off behind {} fields", number_);
    ++number_;
    if (rest_.front() != '"') {
      const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r"));
      rest_.remove_prefix(word.size());
      return word;
    }
    std::size_t end = 1;
    bool doubled = false;
    for (;; end += 2, doubled = true) {
      end = rest_.find('"', end);
      if (end == std::string_view::npos) return fail("the quote before field {} has no end", number_);
      if (end + 1 >= rest_.size() || rest_[end + 1] != '"') break;
    }
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (!doubled) return inside;
    std::string& text = unquoted_.emplace_back();
    for (std::size_t i = 0; i < inside.size(); ++i) {
      text += inside[i];
      if (inside[i] == '"') ++i;
    }
    return std::string_view(text);
  }
  Result<std::int64_t> number(const char* name) {
    const auto field = TRY(text());
    const std::string_view whole = field.substr(0, field.find('.'));
    const auto number = parse_integer(whole);
    if (field.empty()) return -1;
    if (!number || *number < -kMostNumber || *number > kMostNumber)
      return fail("field {} ({}) is {}, which is no number", number_, name, quoted(field));
    return *number;
  }
  // So many of those that were read are of lists, which are longer in some records than in others.
  void of_lists(std::int64_t fields) { listed_ += fields; }
  std::int64_t number() const { return number_; }
  std::int64_t beside_lists() const { return number_ - listed_; }
  Result<void> skip(std::int64_t fields) {
    for (std::int64_t i = 0; i < fields; ++i) {
      TRY(text());
    }
    return {};
  }

 private:
  std::string_view rest_;
  int number_ = 0;
  std::int64_t listed_ = 0;
  std::deque<std::string> unquoted_;
};

struct Hosts {
  std::int64_t slots = 0;
  std::int64_t different = 0;
};

// "hostA hostA hostB", or in the short form "2*hostA hostB".
Result<Hosts> read_hosts(Fields& fields, const char* name) {
  const auto count = TRY(fields.number(name));
  Hosts hosts;
  std::set<std::string_view> names;
  for (std::int64_t i = 0; i < count; ++i) {
    auto host = TRY(fields.text());
    const std::size_t star = host.find('*');
    const auto times = star == std::string_view::npos ? Result<std::int64_t>(1) : parse_integer(host.substr(0, star));
    if (!times || *times < 1 || *times > kMostProcessors)
      return fail("the host {} has no number of slots before its asterisk", quoted(host));
    hosts.slots += *times;
    names.insert(star == std::string_view::npos ? host : host.substr(star + 1));
    if (hosts.slots > kMostProcessors) return fail("the job has more than 2147483647 slots");
  }
  fields.of_lists(std::max<std::int64_t>(count, 0));
  hosts.different = std::ssize(names);
  return hosts;
}

struct Finish {
  AccountedJob job;
  std::int64_t index = 0;  // of an array
  std::int64_t begin = 0;
  std::int64_t ineligible = 0;
  std::int64_t run_time = -1;
  Hosts hosts;
  std::string_view requirement;  // as it held, or as it was asked for
};

// Up to the command's usage, which every version has.
Result<void> read_first_part(Fields& fields, Finish& out) {
  AccountedJob& job = out.job;
  const auto read_number = [&](const char* name, std::int64_t& into) -> Result<void> {
    into = TRY(fields.number(name));
    return {};
  };
  const auto text = [&](std::string_view& into) -> Result<void> {
    into = TRY(fields.text());
    return {};
  };
  std::int64_t ignored = 0, status = 0;
  if (auto r = fields.skip(1); !r) return r;  // version
  for (const auto& [name, into] :
       std::initializer_list<std::pair<const char*, std::int64_t*>>{{"event time", &job.end},
                                                                    {"jobId", &job.number},
                                                                    {"userId", &ignored},
                                                                    {"options", &ignored},
                                                                    {"numProcessors", &job.requested_processors},
                                                                    {"submitTime", &job.submit},
                                                                    {"beginTime", &out.begin},
                                                                    {"termTime", &ignored},
                                                                    {"startTime", &job.start}}) {
    if (auto r = read_number(name, *into); !r) return r;
  }
  if (auto r = text(job.user); !r) return r;
  if (auto r = text(job.queue); !r) return r;
  if (auto r = text(out.requirement); !r) return r;
  if (auto r = fields.skip(8); !r) return r;  // dependCond to jobFile
  std::int64_t asked = 0;
  if (auto r = read_number("numAskedHosts", asked); !r) return r;
  if (auto r = fields.skip(asked); !r) return r;
  const auto hosts = TRY(read_hosts(fields, "numExHosts"));
  out.hosts = hosts;
  if (auto r = read_number("jStatus", status); !r) return r;
  job.state = status == kDone ? AccountedJob::State::completed : AccountedJob::State::failed;
  return fields.skip(3);  // hostFactor, jobName, command
}

// What later versions added; a record may end before any of it.
Result<void> read_second_part(Fields& fields, Finish& out) {
  const auto read_number = [&](const char* name, std::int64_t& into) -> Result<void> {
    if (fields.ended()) return {};
    const auto number = fields.number(name);
    if (number) into = *number;
    return number ? Result<void>{} : std::unexpected(number.error());
  };
  const auto list = [&](const char* name, std::int64_t each) -> Result<void> {
    std::int64_t count = 0;
    if (auto r = read_number(name, count); !r) return r;
    if (count < 0 || count > 1'000'000) return fail("{} is {}", name, count);
    fields.of_lists(count * each);
    return fields.skip(count * each);
  };
  if (auto r = fields.skip(20); !r) return r;  // lsfRusage, mailUser
  out.job.group = TRY(fields.text());
  if (auto r = fields.skip(4); !r) return r;  // exitStatus to timeEvent
  if (auto r = read_number("idx", out.index); !r) return r;
  for (int i = 0; i < 23 && !fields.ended(); ++i) {  // maxRMem to jobDescription
    if (auto r = fields.skip(1); !r) return r;
  }
  if (auto r = list("submitEXT", 2); !r) return r;
  std::int64_t hosts = 0, ignored = 0;
  if (auto r = read_number("numHostRusage", hosts); !r) return r;
  if (hosts < 0 || hosts > kMostProcessors) return fail("numHostRusage is " + std::to_string(hosts));
  for (std::int64_t i = 0; i < hosts; ++i) {  // name, memory, swap and times, and how many pairs come behind them
    if (auto r = fields.skip(5); !r) return r;
    if (auto r = list("hHostExtendInfo", 2); !r) return r;
  }
  fields.of_lists(hosts * 6);
  if (auto r = read_number("runLimit", out.job.limit); !r) return r;
  if (auto r = read_number("options3", ignored); !r) return r;
  if (auto r = read_number("avgMem", ignored); !r) return r;
  if (fields.ended()) return {};
  const auto effective = TRY(fields.text());
  if (!effective.empty()) out.requirement = effective;
  for (int i = 0; i < 9 && !fields.ended(); ++i) {  // srcCluster to outdir
    if (auto r = fields.skip(1); !r) return r;
  }
  if (auto r = read_number("runTime", out.run_time); !r) return r;
  if (!fields.ended()) {
    if (auto r = fields.skip(1); !r) return r;  // subcwd
  }
  if (auto r = list("num_network", 2); !r) return r;
  for (int i = 0; i < 6 && !fields.ended(); ++i) {  // affinity to gflops
    if (auto r = fields.skip(1); !r) return r;
  }
  if (fields.ended()) return {};
  const auto slots = TRY(read_hosts(fields, "numAllocSlots"));
  if (slots.slots > 0) out.hosts = slots;
  return read_number("ineligiblePendTime", out.ineligible);
}

// "[...]" behind a word of a requirement; "" where it is not there.
std::string_view section(std::string_view requirement, std::string_view word) {
  const std::size_t at = requirement.find(std::string(word) + "[");
  if (at == std::string_view::npos) return {};
  const std::string_view inside = requirement.substr(at + word.size() + 1);
  return inside.substr(0, inside.find(']'));
}

struct Usage {
  std::string_view name;
  std::string_view value;
};

// "mem=4096:duration=1h,ngpus_physical=2.00" in pieces.
std::vector<Usage> usages(std::string_view text) {
  std::vector<Usage> all;
  while (!text.empty()) {
    const std::string_view piece = trimmed(text.substr(0, text.find_first_of(",:|&")));
    text.remove_prefix(std::min(text.size(), text.find_first_of(",:|&") == std::string_view::npos
                                                 ? text.size()
                                                 : text.find_first_of(",:|&") + 1));
    const std::size_t equals = piece.find('=');
    if (equals != std::string_view::npos) all.push_back({trimmed(piece.substr(0, equals)), piece.substr(equals + 1)});
  }
  return all;
}

class Reader {
 public:
  Reader(LineBlocks blocks, const SwfOptions& options)
      : blocks_(std::move(blocks)), options_(options), jobs_(blocks_.shown(), options) {}
  Result<AccountedLog> read();

 private:
  Result<void> read_line(std::string_view line);
  Result<void> read_requests(Finish& finish);
  Result<void> read_memory(std::string_view value, JobAttributes& asks);
  ImportReport& report() { return jobs_.report(); }

  LineBlocks blocks_;
  const SwfOptions& options_;
  AccountedJobs jobs_;
  SeenJobs seen_;  // job, index, submission, start
  std::int64_t line_ = 0;
  std::int64_t before_ = 0;  // fields of the record before, without those of lists
};

Result<AccountedLog> Reader::read() {
  auto read = blocks_.each_line(
      [&](std::string_view line) -> Result<void> {
        ++line_;
        if (trimmed(line).empty() || line.starts_with('#')) return {};
        ++report().rows;
        const auto taken = read_line(behind_file_name(line, looks_like_lsf));
        return taken ? taken : jobs_.bad_record(taken.error(), line_);
      },
      options_.progress);
  if (!read) return std::unexpected(read.error());
  return jobs_.finish();
}

Result<void> Reader::read_line(std::string_view line) {
  Fields fields(line);
  const auto type = TRY(fields.text());
  if (type != "JOB_FINISH") {
    if (!line.starts_with('"'))
      return fail("a record begins with its type, as \"JOB_FINISH\", and this with " + quoted(line));
    report().drop(kOther, line_);
    return Result<void>{};
  }
  Finish finish;
  if (auto read = read_first_part(fields, finish); !read) return read;
  if (auto read = read_second_part(fields, finish); !read) return read;
  if (blocks_.cut() && fields.beside_lists() < before_)
    return fail("the last record has {} fields and no end of line: the log is cut off", fields.number());
  before_ = fields.beside_lists();
  AccountedJob& job = finish.job;
  job.line = line_;
  if (job.submit <= 0) return fail("the record does not tell when the job was submitted");
  const SeenJobs::Key key{job.number, finish.index, job.submit, job.start};
  if (!seen_.add(key)) {
    report().drop(kAgain, line_);
    return Result<void>{};
  }
  if (finish.index > 0) job.number = AccountedJob::kUnknown;
  if (job.start <= 0) {  // it never started
    job.start = AccountedJob::kUnknown;
    job.state = AccountedJob::State::cancelled;
  } else if (finish.run_time > 0 && job.end - job.start > finish.run_time) {
    job.stopped = job.end - job.start - finish.run_time;
  }
  job.eligible = std::max(finish.begin, job.submit + std::max<std::int64_t>(finish.ineligible, 0));
  if (job.eligible > job.end) job.eligible = job.submit;
  if (job.limit <= 0) job.limit = AccountedJob::kUnknown;
  job.processors = finish.hosts.slots > 0 ? finish.hosts.slots : job.requested_processors;
  if (auto read = read_requests(finish); !read) return read;
  return jobs_.add(job);
}

Result<void> Reader::read_memory(std::string_view value, JobAttributes& asks) {
  std::int64_t number = 0;
  const std::string_view amount = value.substr(0, value.find('/'));
  const auto [end, error] = std::from_chars(amount.data(), amount.data() + amount.size(), number);
  if (error != std::errc{} || number < 0) return fail("rusage[mem={}] is no size", quoted(value));
  std::string_view unit(end, static_cast<std::size_t>(amount.data() + amount.size() - end));
  if (unit.starts_with('.')) unit.remove_prefix(std::min(unit.find_first_not_of(".0123456789"), unit.size()));
  if (unit.empty()) report().note(kMemory, line_);
  const auto bytes = parse_size(std::to_string(number) + (unit.empty() ? "M" : std::string(unit)));
  if (!bytes || *bytes > kMostMemory) return fail("rusage[mem={}] is no size", quoted(value));
  asks.memory = *bytes;
  return {};
}

Result<void> Reader::read_requests(Finish& finish) {
  JobAttributes& asks = finish.job.asks;
  const std::int64_t processors = std::max<std::int64_t>(finish.job.processors, 1);
  for (const Usage& span : usages(section(finish.requirement, "span"))) {
    const auto number = parse_integer(span.value);
    if (!number || *number <= 0 || *number > kMostProcessors) continue;
    if (span.name == "hosts") asks.nodes = static_cast<std::uint32_t>(*number);
    if (span.name == "ptile") asks.nodes = static_cast<std::uint32_t>((processors + *number - 1) / *number);
  }
  if (processors == 1) asks.nodes = 1;
  const bool any_spread = asks.nodes == 0;
  for (const Usage& use : usages(section(finish.requirement, "rusage"))) {
    if (use.name == "mem") {
      if (auto read = read_memory(use.value, asks); !read) return read;
    } else if (use.name.starts_with("ngpus")) {
      const auto number = parse_number(use.value.substr(0, use.value.find('/')));
      if (!number || *number < 0 || *number > static_cast<double>(kMostAccelerators))
        return fail("rusage[{}={}] is no number from 0 to 64", quoted(use.name), quoted(use.value));
      asks.accelerators = static_cast<std::uint8_t>(*number);
    } else if (use.name.find("lic") != std::string_view::npos) {
      const auto number = parse_integer(use.value);
      if (!number || *number <= 0 || *number > kMostProcessors) continue;
      const auto known = std::ranges::find(asks.licences, use.name, &NamedLicences::name);
      NamedLicences& licence =
          known == asks.licences.end() ? asks.licences.emplace_back(std::string(use.name)) : *known;
      licence.count = static_cast<std::uint32_t>(*number);
    } else if (use.name != "duration" && use.name != "decay" && use.name != "swp" && use.name != "tmp") {
      report().note(kOtherResources, line_);
    }
  }
  // Memory and accelerators are of each host: without a span they were on those that the job had.
  if (any_spread && (asks.memory > 0 || asks.accelerators > 0)) {
    asks.nodes = static_cast<std::uint32_t>(std::max<std::int64_t>(finish.hosts.different, 1));
    if (asks.accelerators > 0 && processors % asks.nodes != 0) report().note(kUnevenGpus, line_);
  }
  return {};
}

}  // namespace

bool looks_like_lsf(std::string_view line) {
  return line.starts_with("\"JOB_FINISH\" ") || line.starts_with("\"JOB_RESIZE\" ") ||
         line.starts_with("\"EVENT_ADRSV_FINISH\" ");
}

Result<AccountedLog> read_lsf_log(LineBlocks blocks, const SwfOptions& options) {
  return Reader(std::move(blocks), options).read();
}

}  // namespace rota::log
