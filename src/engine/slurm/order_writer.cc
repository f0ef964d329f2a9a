#include "engine/slurm/order_writer.h"

#include <fmt/core.h>
#include <pwd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/text.h"
#include "engine/slurm/take_back.h"
#include "process/clock.h"

namespace rota::slurm {
namespace {

constexpr const char* kOrder = "order";
constexpr std::size_t kMostAtOnce = 100;  // jobs of one command
constexpr std::size_t kPlaces = 500;      // so many go in the wanted order: Slurm's backfilling looks no further
constexpr std::size_t kMostFailures = 5;  // commands, within
constexpr Duration kFailuresWithin = seconds(600);  // that, and it acts no longer
constexpr Duration kCommandPatience = seconds(120);

std::int64_t unix_now() { return process::unix_milliseconds() / 1000; }

std::string drawn_grant() {
  std::uint64_t drawn = 0;
  if (::getrandom(&drawn, sizeof drawn, 0) < 0) drawn = static_cast<std::uint64_t>(process::unix_milliseconds());
  return hexadecimal(drawn);
}

}  // namespace

OrderWriter::OrderWriter(Uses uses, WriterOptions options)
    : use_(std::move(uses)),
      options_(std::move(options)),
      folder_(options_.folder),
      reader_(use_.io, use_.loop, options_.gap),
      asking_(use_.io, use_.loop, Duration{0}) {}

OrderWriter::~OrderWriter() { use_.loop.set(*this, kNever); }

Result<void> OrderWriter::open() {
  constexpr std::int64_t kMostLog = 64 << 20;  // bytes: a new one is begun, and the old one kept, once nothing stands
  TRY(folder_.make());
  TRY(look_at_folder());
  if (log_end_ > kMostLog && written_.standing.empty()) {
    const auto lock = TRY(folder_.lock(Duration{0}));
    std::filesystem::rename(folder_.file("log"), folder_.file("log.old"));
    log_end_ = 0;
  }
  beat();
  return {};
}

// Another process may have taken mandates out, and back what was written by them.
Result<void> OrderWriter::look_at_folder() {
  modes_ = TRY(folder_.modes());
  const auto more = TRY(folder_.read_log(log_end_));
  for (const LogLine& line : more.lines) written_.add(line);
  log_end_ = more.end;
  return {};
}

void OrderWriter::listed(const std::vector<JobRow>& rows) {
  records_.clear();
  known_.clear();
  for (const JobRow& row : rows) {
    if (row.stage == Stage::waiting) records_.emplace(row.number(), row.id);
    known_.insert(row.id);
    known_.insert(row.array);
  }
}

bool OrderWriter::acts() const {
  return std::ranges::any_of(modes_, [](const Mandate& mandate) { return mandate.mode == Mode::act; });
}

// Whether there is what no mandate covers any more, or what was taken back a while ago and is to be looked at again.
bool OrderWriter::owes_take_back(std::int64_t now) const {
  std::set<std::string_view> grants;
  for (const Mandate& mandate : modes_) {
    if (mandate.mode != Mode::act) continue;
    if (mandate.until > 0 && mandate.until <= now) return true;
    grants.insert(mandate.grant);
  }
  const std::int64_t saved_by = now * 1000 - kSavedWithin.count();
  return std::ranges::any_of(written_.undone, [&](const auto& each) { return each.second.undone <= saved_by; }) ||
         std::ranges::any_of(written_.standing, [&](const auto& each) { return !grants.contains(each.second.grant); });
}

void OrderWriter::begin_take_back() {
  step_ = Step::taking_back;
  command_ = std::make_unique<process::SiteCommand>(
      use_.io,
      process::SiteCommand::Options{.text = options_.take_back, .variables = {}, .timeout = 4 * kCommandPatience},
      [this](const process::SiteCommand::End& end) {
        shown_.trouble = end.done ? "" : "`rota undo` " + end.why;
        end_round();
      });
}

void OrderWriter::surveyed() {
  beat();
  if (step_ != Step::idle) return;
  if (const auto looked = look_at_folder(); !looked) {
    shown_.trouble = looked.error().message;
    return;
  }
  if (owes_take_back(unix_now())) return begin_take_back();
  const bool any = std::ranges::any_of(modes_, [](const Mandate& mandate) { return mandate.mode != Mode::off; });
  if (!any) {
    if (!advised_.empty()) use_.jobs.placed({});
    advised_.clear();
    advice_.clear();
    return;
  }
  step_ = Step::reading;
  reader_.ask(sprio_command(), [this](const Result<std::string>& text) {
    const Result<void> planned = text ? plan(*text) : std::unexpected(text.error());
    shown_.trouble = planned ? "" : planned.error().message;
    if (planned && step_ == Step::writing) return;
    end_round();
  });
}

// ---- what differs

Result<void> OrderWriter::plan(const std::string& text) {
  const auto rows = TRY(read_sprio(text));
  advice_.clear();
  advised_.clear();
  planned_.clear();
  std::map<std::string, std::vector<ManagerTurn>> orders;  // of records, by rule
  for (const Mandate& mandate : modes_) {
    if (mandate.mode == Mode::off || mandate.mechanism != kOrder) continue;
    auto [order, is_new] = orders.try_emplace(mandate.rule);
    if (is_new) {
      std::set<std::int64_t> listed;  // an array that waits is one record, and stands where its first task does
      for (const ManagerTurn& turn : TRY(use_.jobs.in_order(mandate.rule))) {
        const auto record = records_.find(turn.number);
        if (record != records_.end() && listed.insert(record->second).second)
          order->second.push_back({record->second, turn.rank});
      }
    }
    plan_for(mandate, order->second, rows);
  }
  say_places(rows);
  shown_.looked = unix_now();
  return log_and_write();
}

// A job that may go to several partitions, one whose priority an operator has set, and one with a factor that is not
// ours stay as they are. Behind the first places jobs stay in the order in which they are: their turn will come.
void OrderWriter::plan_for(const Mandate& mandate, const std::vector<ManagerTurn>& order,
                           const std::vector<PriorityRow>& rows) {
  std::map<std::int64_t, const PriorityRow*> ours;  // nullptr: it has several rows
  for (const PriorityRow& row : rows) {
    const auto [at, is_new] = ours.try_emplace(row.job, &row);
    if (!is_new) at->second = nullptr;
  }
  std::vector<PriorityRow> wanted;
  for (const ManagerTurn& turn : order) {
    const auto found = ours.find(turn.number);
    if (found == ours.end() || found->second == nullptr) continue;
    PriorityRow row = *found->second;
    row.rank = turn.rank;
    const auto written = written_.standing.find(row.job);
    const bool foreign =
        row.factor != 0 && (written == written_.standing.end() || !written->second.to.contains(row.factor));
    if (row.partition == mandate.partition && !row.by_hand && !foreign) wanted.push_back(row);
  }
  put_in_order(wanted);
  leave_behind(wanted, kPlaces);
  const auto factors = factors_in_order(wanted);
  std::vector<std::size_t> now(wanted.size());
  for (std::size_t at = 0; at < now.size(); ++at) now[at] = at;
  std::ranges::sort(now, {}, [&](std::size_t at) { return std::pair(-wanted[at].priority, wanted[at].job); });
  std::vector<std::int64_t> place(wanted.size());
  for (std::size_t at = 0; at < now.size(); ++at) place[now[at]] = static_cast<std::int64_t>(at) + 1;
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    const PriorityRow& row = wanted[at];
    if (mandate.mode >= Mode::advise) advised_[row.job] = factors[at];
    if (factors[at] == row.factor) continue;
    const auto to_place = static_cast<std::int64_t>(at) + 1;
    advice_.push_back({.job = std::to_string(row.job),
                       .partition = mandate.partition,
                       .place = place[at],
                       .wanted = to_place,
                       .factor = row.factor,
                       .to = factors[at]});
    if (mandate.mode == Mode::act)
      planned_.push_back(
          {.partition = mandate.partition,
           .grant = mandate.grant,
           .by = mandate.by,
           .job = row.job,
           .from = row.factor,
           .to = factors[at],
           .why = fmt::format("{}: place {} of {}, was {}", mandate.rule, to_place, wanted.size(), place[at])});
  }
}

// Where a job may go to several partitions, the first counts.
void OrderWriter::say_places(const std::vector<PriorityRow>& rows) {
  std::vector<ManagerPlace> places;
  std::map<std::int64_t, const PriorityRow*> by_record;
  for (const PriorityRow& row : rows) by_record.emplace(row.job, &row);
  for (const auto& [number, record] : records_) {
    const auto found = by_record.find(record);
    if (advised_.empty() || found == by_record.end()) continue;
    const PriorityRow& row = *found->second;
    const auto factor = advised_.find(record);
    const bool ours = factor != advised_.end();
    places.push_back({number, ours ? row.own : row.priority, ours ? row.own + factor->second : row.priority});
  }
  use_.jobs.placed(places);
}

// ---- what is written

LogLine OrderWriter::line_of(LogEvent event, const Write& write, std::string why) {
  return {.at = process::unix_milliseconds(),
          .event = event,
          .mechanism = kOrder,
          .partition = write.partition,
          .grant = write.grant,
          .job = write.job,
          .from = write.from,
          .to = write.to,
          .by = write.by,
          .why = std::move(why)};
}

Result<void> OrderWriter::log_and_write() {
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(options_.round / options_.write_gap, 1));
  if (planned_.size() > most) planned_.resize(most);  // the first places first; the others the next time
  {
    std::vector<LogLine> lines;
    for (const auto& [job, was] : written_.standing)
      if (!known_.contains(job))
        lines.push_back({.at = process::unix_milliseconds(),
                         .event = LogEvent::gone,
                         .mechanism = was.mechanism,
                         .partition = was.partition,
                         .grant = was.grant,
                         .job = job});
    for (const Write& write : planned_) lines.push_back(line_of(LogEvent::write, write, write.why));
    if (lines.empty()) return {};
    const auto lock = TRY(folder_.lock(Duration{0}));
    const std::int64_t end = log_end_;
    TRY(look_at_folder());
    if (log_end_ != end) return {};  // factors were taken back meanwhile: what is planned is of before
    TRY(folder_.add(lines));
    TRY(look_at_folder());
  }
  if (planned_.empty()) return {};
  queue_.assign(planned_.begin(), planned_.end());
  step_ = Step::writing;
  use_.loop.set(*this, use_.loop.now());
  return {};
}

void OrderWriter::ring() {
  if (queue_.empty() || wished_ != nullptr) return end_round();
  std::vector<Write> writes;
  std::string jobs;
  const Write first = queue_.front();
  while (!queue_.empty() && writes.size() < kMostAtOnce && queue_.front().to == first.to &&
         queue_.front().grant == first.grant) {
    writes.push_back(queue_.front());
    jobs += fmt::format("{}{}", jobs.empty() ? "" : ",", queue_.front().job);
    queue_.pop_front();
  }
  const std::string update = fmt::format("scontrol update JobId={} SiteFactor={}", jobs, first.to);
  command_ = std::make_unique<process::SiteCommand>(
      use_.io,
      process::SiteCommand::Options{.text = under_grant(folder_, first.grant, update),
                                    .variables = {"TZ=UTC", "LC_ALL=C"},
                                    .timeout = kCommandPatience},
      [this, writes](const process::SiteCommand::End& end) {
        wrote(writes, end.done ? 0 : end.code, end.done || !end.output.empty() ? end.output : end.why);
      });
}

void OrderWriter::wrote(const std::vector<Write>& writes, int code, const std::string& output) {
  if (code == kNoGrant) {
    queue_.clear();  // it was taken out by another process
    return end_round();
  }
  const std::string complaint = code == 0 ? std::string() : complaint_in(output);
  if (complaint.empty()) {
    shown_.written += std::ssize(writes);
  } else {
    count_failure(writes.front(), complaint);
  }
  if (queue_.empty() || wished_ != nullptr) return end_round();
  use_.loop.set(*this, use_.loop.now() + options_.write_gap);
}

void OrderWriter::end_round() {
  queue_.clear();
  step_ = Step::idle;
  if (wished_ != nullptr && wished_->may) answer(apply(wished_->wish));
}

void OrderWriter::count_failure(const Write& write, const std::string& why) {
  const Instant now = use_.loop.now();
  shown_.trouble = fmt::format("job {} could not be given its factor: {}", write.job, why);
  {
    const auto lock = folder_.lock(Duration{0});
    const LogLine line = line_of(LogEvent::failed, write, why);
    if (lock && folder_.add(std::span(&line, 1))) static_cast<void>(look_at_folder());
  }
  failures_.push_back(now);
  while (failures_.front() + kFailuresWithin < now) failures_.pop_front();
  if (failures_.size() < kMostFailures) return;
  queue_.clear();
  failures_.clear();
  const auto fell = fall(fmt::format("{} writes failed within {}, the last one: {}", kMostFailures,
                                     format_duration(kFailuresWithin), why));
  if (!fell) shown_.trouble = fell.error().message;
}

// What was written is taken back by the next round, for no mandate covers it any more.
Result<void> OrderWriter::fall(const std::string& why) {
  const auto lock = TRY(folder_.lock(Duration{0}));
  TRY(look_at_folder());
  std::vector<LogLine> lines;
  for (Mandate& mandate : modes_) {
    if (mandate.mode != Mode::act) continue;
    mandate.mode = Mode::observe;
    mandate.grant.clear();
    mandate.fell = why;
    lines.push_back({.at = process::unix_milliseconds(),
                     .event = LogEvent::mode,
                     .mechanism = mandate.mechanism,
                     .partition = mandate.partition,
                     .by = mandate.by,
                     .why = "observe: " + why});
  }
  TRY(folder_.put_modes(modes_));
  TRY(folder_.add(lines));
  return look_at_folder();
}

// ---- what people ask

std::string OrderWriter::wrong_in(const Wish& wish) const {
  if (wish.mechanism != kOrder)
    return fmt::format("There is no mechanism {} for a cluster that Slurm runs; there is `order`.",
                       rota::quoted(wish.mechanism));
  if (wished_ != nullptr) return "Another mode is being set; ask again in a moment.";
  if (wish.partitions.empty()) return "Name the partitions: `--partition main`.";
  for (const std::string& name : wish.partitions) {
    const auto& all = use_.machine().partitions;
    if (std::ranges::find(all, name, &Partition::name) == all.end())
      return fmt::format("There is no partition {} here.", rota::quoted(name));
  }
  if (wish.until > 0 && wish.until <= unix_now()) return "--until is over already.";
  return {};
}

void OrderWriter::set(Wish wish, Call call) {
  if (std::string wrong = wrong_in(wish); !wrong.empty()) return call(fail(std::move(wrong)));
  wished_ = std::make_unique<Wished>(Wished{std::move(wish), std::move(call)});
  if (wished_->wish.mode == Mode::act) return check_rights();
  wished_->may = true;
  if (step_ == Step::idle) answer(apply(wished_->wish));
}

// Whether what is wished can come about: found out before anything is written down.
void OrderWriter::check_rights() {
  asking_.ask("scontrol show config", [this](const Result<std::string>& text) {
    if (!text) return answer(fail("What Slurm allows could not be found out: {}", text.error().message));
    std::map<std::string, std::string, std::less<>> config;
    for (const std::string_view line : split(*text, '\n')) {
      const std::size_t equals = line.find(" = ");
      if (equals != std::string_view::npos)
        config[std::string(trimmed(line.substr(0, equals)))] = std::string(trimmed(line.substr(equals + 3)));
    }
    if (config["PriorityType"] != "priority/multifactor")
      return answer(fail("slurm.conf has PriorityType={}; site factors count under priority/multifactor only.",
                         config["PriorityType"]));
    const std::string plugin = config["PrioritySiteFactorPlugin"];
    if (!plugin.empty() && plugin != "(null)" && !plugin.ends_with("/none"))
      return answer(
          fail("slurm.conf has PrioritySiteFactorPlugin={}, which sets the factors that Rota would.", plugin));
    const passwd* self = ::getpwuid(::geteuid());
    const std::string user = self != nullptr ? self->pw_name : std::to_string(::geteuid());
    const std::string& slurm_user = config["SlurmUser"];
    if (user == "root" || slurm_user.substr(0, slurm_user.find('(')) == user) {
      wished_->may = true;
      if (step_ == Step::idle) answer(apply(wished_->wish));
      return;
    }
    check_level(user);
  });
}

void OrderWriter::check_level(const std::string& user) {
  asking_.ask(
      "sacctmgr -n -P show user " + shell_word(user) + " format=AdminLevel",
      [this, user](const Result<std::string>& text) {
        const std::string level(text ? trimmed(*text) : std::string_view{});
        const bool is_new = text && level.empty();
        if (level != "Operator" && level != "Administrator")
          return answer(
              fail("The service runs as {}, which may not set factors of others' jobs in Slurm. Make it an operator: "
                   "`sacctmgr {} user {} {}AdminLevel=Operator`{}",
                   user, is_new ? "add" : "modify", user, is_new ? "account=ACCOUNT " : "set ",
                   text ? "." : ". What it is now could not be found out: " + text.error().message));
        wished_->may = true;
        if (step_ == Step::idle) answer(apply(wished_->wish));
      });
}

void OrderWriter::answer(const Result<void>& result) {
  const auto wished = std::exchange(wished_, nullptr);
  wished->call(result);
}

Result<void> OrderWriter::apply(const Wish& wish) {
  const auto lock = TRY(folder_.lock(Duration{0}));
  TRY(look_at_folder());
  std::vector<LogLine> lines;
  for (const std::string& partition : wish.partitions) {
    auto at = std::ranges::find_if(modes_, [&](const Mandate& mandate) {
      return mandate.mechanism == wish.mechanism && mandate.partition == partition;
    });
    if (at == modes_.end()) at = modes_.insert(modes_.end(), Mandate{});
    std::string grant;  // one that goes on keeps its own, and what is written
    if (wish.mode == Mode::act) grant = at->mode == Mode::act ? at->grant : drawn_grant();
    *at = {.mechanism = wish.mechanism,
           .partition = partition,
           .mode = wish.mode,
           .rule = wish.rule.empty() ? (at->rule.empty() ? "sjf" : at->rule) : wish.rule,
           .until = wish.until,
           .by = wish.by,
           .since = unix_now(),
           .grant = grant};
    lines.push_back({.at = process::unix_milliseconds(),
                     .event = LogEvent::mode,
                     .mechanism = wish.mechanism,
                     .partition = partition,
                     .grant = grant,
                     .by = wish.by,
                     .why = fmt::format("{}: {}", name_of(wish.mode), at->rule)});
  }
  TRY(folder_.put_modes(modes_));
  TRY(folder_.add(lines));
  failures_.clear();
  return look_at_folder();
}

Mandates::Report OrderWriter::report() const {
  return {.mandates = modes_,
          .advice = advice_,
          .looked = shown_.looked,
          .written = shown_.written,
          .trouble = shown_.trouble};
}

std::string OrderWriter::trouble() const {
  for (const Mandate& mandate : modes_) {
    const bool over = mandate.until > 0 && mandate.until <= unix_now();
    if (mandate.fell.empty() || over) continue;
    return fmt::format(
        "`{}` on partition {} only observes since it stopped acting: {} Look at `rota actions`, and set the mode anew.",
        mandate.mechanism, mandate.partition, mandate.fell);
  }
  return acts() && !shown_.trouble.empty() ? shown_.trouble : std::string();
}

}  // namespace rota::slurm
