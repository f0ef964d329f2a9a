// New jobs.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "base/text.h"
#include "model/never_fits.h"
#include "serve/after_text.h"
#include "serve/awaited.h"
#include "serve/federation_desk.h"
#include "serve/file_in_use.h"
#include "serve/job_desk.h"
#include "serve/mail.h"
#include "serve/namesakes.h"
#include "serve/output_pattern.h"

namespace rota::serve {
namespace {

constexpr std::int64_t kMostAtOnce = 10'000;      // tasks of one request, or as many as one array may have
constexpr Duration kLongestWait = seconds(3600);  // for what a job asks to have after it was told to end
constexpr std::size_t kMostLookedAt = 1'000'000;  // of one request, see Awaited
constexpr std::uint64_t kMostAwaited = 500'000;   // by all jobs of one user, each for so many
// Bytes of what is kept of each task, of those of one request together: in all or for each, whichever is more.
constexpr std::uint64_t kMostKept = 64 << 20, kMostKeptOfEach = 4 << 10;
constexpr std::uint64_t kBytesOfRows = 2000, kBytesOfDependency = 8,
                        kBytesOfNode = 8;  // about, of a task, the history included
constexpr const char* kLastOfKey = "\n";   // behind a key, which has no line breaks: the last of its jobs

// No program could be given more: see execve(2).
Result<void> can_be_given(const JobRequest& submission) {
  constexpr std::size_t kMostOfOne = (128 << 10) - 1, kMostOfAll = 6 << 20;  // bytes
  std::size_t all = 0;
  for (const auto* texts : {&submission.command, &submission.environment}) {
    for (const std::string& text : *texts) {
      if (text.size() > kMostOfOne)
        return fail("an argument or a variable has more than 128 KiB, more than a program can have; use a file.");
      all += text.size() + 1;
    }
  }
  if (all <= kMostOfAll) return {};
  return fail("arguments and environment have more than 6 MiB, more than a program can have; use a file.");
}

// What every job needs, wherever it runs.
Result<void> complete(const JobRequest& submission) {
  if (submission.script.empty() && submission.command.empty())
    return fail("there is nothing to run; give a script or a command.");
  if (!submission.script.empty() && !submission.script.starts_with("#!"))
    return fail("the script does not say what runs it; begin it with a line like #!/bin/sh.");
  if (const std::size_t end = submission.script.find('\n');
      end != std::string::npos && end > 0 && submission.script[end - 1] == '\r')
    return fail(
        "the script has the line ends of Windows (CR LF), and nothing can run its first line; submit it with LF.");
  if (!submission.submit_folder.empty() && !submission.submit_folder.starts_with('/'))
    return fail("`submit_folder` must be an absolute path.");
  if (!submission.folder.starts_with('/')) return fail("the working directory must be an absolute path.");
  if (!submission.name.empty()) {
    if (auto good = check_name(submission.name); !good) return good;
  }
  if (!submission.attach.socket.empty() && !submission.array.empty())
    return fail("the tasks of an array cannot run at one terminal; submit them without `attach`.");
  if (submission.processors == 0) return fail("a job needs at least one processor.");
  if (auto fits = can_be_given(submission); !fits) return fits;
  if (auto known = check_patterns({submission.output, submission.error, submission.input}); !known) return known;
  for (const std::string& text : submission.environment) {
    if (text.find('=') == std::string::npos || text.starts_with('='))
      return fail("the environment has {}, which is not NAME=VALUE.", rota::quoted(text));
  }
  return {};
}

// Each task has its own copy of what its submission says.
Result<void> is_little(std::uint64_t bytes, std::int64_t tasks) {
  const std::uint64_t most = std::max(kMostKept, static_cast<std::uint64_t>(tasks) * kMostKeptOfEach);
  if (bytes <= most) return {};
  return fail(
      "the command and all else that is kept of each of these tasks take {} in all, and {} is the most; put the "
      "command into a script, which is kept once, or submit fewer tasks at a time.",
      format_size(static_cast<std::int64_t>(bytes)), format_size(static_cast<std::int64_t>(most)));
}

// Fails with a sentence where so many more would be too many, in all or of one user. Operators may use all room.
Result<void> has_room_for(const site::ServiceSettings& settings, const JobBook& book, const Caller& caller,
                          std::int64_t more) {
  if (static_cast<std::int64_t>(book.size()) + more > settings.most_jobs)
    return fail("there would be more than {} jobs, the most that this service takes.", grouped(settings.most_jobs));
  const std::int64_t most =
      settings.most_jobs_of_user > 0 ? settings.most_jobs_of_user : settings.most_jobs - settings.most_jobs / 10;
  if (caller.operates || static_cast<std::int64_t>(book.count_of(caller.uid)) + more <= most) return {};
  return fail(
      "you would have more than {} jobs, the most that this service takes of one user; submit more once some have "
      "ended.",
      grouped(most));
}

// Bytes of what is kept once for a submission.
std::uint64_t bytes_once(const JobRequest& submission) {
  std::uint64_t bytes = submission.script.size();
  for (const std::string& text : submission.environment) bytes += text.size() + 1;
  return bytes;
}

}  // namespace

std::string which_of(const std::vector<JobRequest>& submissions, const JobRequest& one) {
  if (submissions.size() < 2) return "";
  return fmt::format("submission {}: ", &one - submissions.data() + 1);
}

Result<void> JobDesk::allowed(const Caller& caller, const JobRequest& submission) const {
  if (caller.operates) return {};
  if (submission.priority > 0) return fail("only an operator may ask for a priority above 0; ask for 0 or less.");
  const auto& accounts = desk_.machine()->accounts;
  if (!submission.account.empty() && !accounts.empty()) {
    const auto account = std::ranges::find(accounts, submission.account, &Account::name);
    if (account == accounts.end()) return fail("there is no account {}.", rota::quoted(submission.account));
    if (!account->users.empty() &&
        std::ranges::find(account->users, caller.user, &ShareHolder::name) == account->users.end())
      return fail("account {} is for users that the configuration names, and {} is none of them.",
                  rota::quoted(submission.account), caller.user);
  }
  const auto qos = std::ranges::find(desk_.machine()->qos, submission.qos, &Qos::name);
  if (qos != desk_.machine()->qos.end() && !qos->users.empty() &&
      std::ranges::find(qos->users, caller.user) == qos->users.end())
    return fail("QOS {} is for users that the configuration names, and {} is none of them.",
                rota::quoted(submission.qos), caller.user);
  return {};
}

Result<Trial> JobDesk::try_out(const Caller& caller, const JobRequest& submission) const {
  auto prepared = TRY(prepared_of(caller, submission));
  TRY(is_little(prepared.bytes_of_tasks, static_cast<std::int64_t>(prepared.range.indexes.size())));
  if (submission.held) return Trial{.reason = "JobHeldUser", .why = "It would be held; `rota release` lets it go."};
  std::vector<Dependency> after = std::move(prepared.after.front());
  if (prepared.singleton) {
    const std::string name = name_of(submission);
    std::ranges::move(Namesakes(book_, desk_.view(), caller.uid, {name}).before(name), std::back_inserter(after));
  }
  if (!after.empty())
    return Trial{.reason = "Dependency", .why = "It would wait for" + reasons_.awaited_text(after, prepared.any)};
  if (!prepared.only_elsewhere.empty())
    return Trial{.reason = "OnOffer",
                 .why = "Other sites would be asked; at this one it cannot run: " + prepared.only_elsewhere};
  prepared.spec.number = desk_.view().last_number() + 1;
  Trial trial = explainer_.start_of_new(prepared.spec);
  const Instant begin = std::max(submission.begin.value_or(kEpoch), prepared.begins);
  if (begin <= desk_.now()) return trial;
  const Instant start = trial.expected != kNever ? trial.expected : trial.latest;
  return Trial{.expected = start == kNever ? kNever : std::max(start, begin),
               .start_unknown = std::move(trial.start_unknown),
               .reason = "BeginTime",
               .why = fmt::format("Its begin time is {}, and it would not start sooner.", desk_.loop().date_of(begin))};
}

// A job for several sites may be one for which there is no room at its home.
Result<void> JobDesk::find_room(const JobRequest& submission, Prepared& prepared) const {
  const Machine& machine = *desk_.machine();
  auto spec = spec_of(submission, machine);
  if (spec) {
    const auto why = never_fits(machine, *spec);
    if (why) spec = fail("the job can never run here: it {}.", *why);
  }
  if (!spec && !submission.sites.empty() && federation_ != nullptr) {
    prepared.only_elsewhere = spec.error().message;
    if (!federation_->runs_elsewhere(submission))
      return fail("{} Nor has any other site that it may go to what it asks for, as far as their cards say.",
                  prepared.only_elsewhere);
    spec = spec_of(without_names(submission), machine);
  }
  prepared.spec = TRY(std::move(spec));
  return {};
}

Result<Prepared> JobDesk::prepared_of(const Caller& caller, const JobRequest& submission) const {
  TRY(carries_out(desk_, "submit"));
  TRY(allowed(caller, submission));
  TRY(complete(submission));
  Prepared prepared;
  TRY(find_room(submission, prepared));
  const Capabilities can = desk_.engine().capabilities();
  if (!can.submits) return fail("jobs of this cluster are submitted to its own resource manager, and not here.");
  if (!submission.attach.socket.empty() && !can.terminals)
    return fail("jobs of this cluster cannot run at a terminal; submit it without `attach`.");
  if (!submission.sites.empty()) {
    if (federation_ == nullptr)
      return fail(
          "this service is no site of a federation, so that no other site can run the job; submit it without "
          "`sites`, or see [federation] in docs/serve.md.");
    TRY(federation_->can_be_offered(submission));
  }
  if (submission.sites.empty() && (!submission.stage_in.empty() || !submission.stage_out.empty()))
    return fail(
        "`stage_in` and `stage_out` are for jobs that go to other sites; name these in `sites`, or leave them out.");
  if (!submission.reservation.empty()) TRY(reservations_.let_run_in(submission.reservation, caller, prepared.spec));
  prepared.spec.user = caller.uid;
  prepared.spec.group = submission.account.empty() ? caller.gid : account_number(submission.account);
  if (auto why = desk_.view().limits().use().never_fits(prepared.spec))
    return fail("the job can never run here: it {}.", *why);
  if (!submission.requeue.value_or(true) && desk_.chain().knobs().preempt == Preemption::requeue)
    return fail(
        "under policy {} a job that is outranked starts over, and so may this one, though it is never to "
        "(`--no-requeue`, `requeue`: false); leave that out, or ask an operator for a policy with preempt=suspend.",
        desk_.chain().text());
  for (const std::string* name : {&submission.warning_signal, &submission.checkpoint_signal}) {
    if (name->empty()) continue;
    TRY(parse_signal(*name));
  }
  if (!submission.checkpoint.empty() && !submission.checkpoint_signal.empty())
    return fail("a job writes its checkpoint by a command or after a signal; give one of the two.");
  for (const auto& [name, wait] : {std::pair{"kill_wait", submission.kill_wait.value_or(Duration{0})},
                                   std::pair{"checkpoint_time", submission.checkpoint_time}}) {
    if (wait > std::max(kLongestWait, settings_.kill_wait))
      return fail("`{}` is at most {}: for so long a job that is to end or to move keeps its place.", name,
                  format_duration(std::max(kLongestWait, settings_.kill_wait)));
  }
  TRY(parse_mail_types(submission.mail));
  if (!submission.mail_user.empty()) {
    TRY(check_mail_user(submission.mail_user));
  }
  if (!submission.array.empty()) {
    auto range = TRY(parse_array(submission.array, settings_.most_array));
    prepared.range = std::move(range);
  }
  TRY(has_room_for(settings_, book_, caller, static_cast<std::int64_t>(prepared.range.indexes.size())));
  TRY(find_awaited(submission, prepared));
  prepared.about = about_of(caller, submission, prepared.spec, settings_.kill_wait);
  if (!prepared.only_elsewhere.empty()) set_text(prepared.about->texts, "only_elsewhere", prepared.only_elsewhere);
  prepared.text = about_text(*prepared.about);
  std::size_t more = 0;  // once more in the history, and nodes by name in the facts
  for (const std::string& text : submission.after) more += text.size();
  for (const auto& [wish, text] : prepared.about->texts) more += text.size();
  if (const NodeWish* wish = prepared.spec.node_wish.get())
    more += kBytesOfNode * (wish->among.size() + wish->without.size());
  prepared.bytes_of_tasks = prepared.range.indexes.size() * (prepared.text.size() + more + kBytesOfRows) +
                            prepared.looked_at * kBytesOfDependency;
  return prepared;
}

// All tasks wait for the same jobs unless they wait for tasks of their own index.
Result<void> JobDesk::find_awaited(const JobRequest& submission, Prepared& prepared) const {
  const auto text = TRY(parse_after(submission.after));
  prepared.singleton = text.singleton;
  Awaited awaited(jobs_, desk_.view(), text);
  auto common = TRY(awaited.of_all());
  std::size_t sum = 0;
  for (const std::int64_t index : prepared.range.indexes) {
    std::vector<Dependency> after = common;
    if (awaited.by_index()) {
      TRY(awaited.add_of(index, after));
    }
    sum += after.size();
    if (sum > kMostDependencies)
      return fail(
          "the tasks would wait for more than {} jobs in all, one by one; let one job in between wait for all of them.",
          grouped(kMostDependencies));
    prepared.after.push_back(std::move(after));
  }
  prepared.any = text.any;
  prepared.begins = awaited.begins();
  prepared.looked_at = sum + awaited.looked_at();
  prepared.awaited = sum;
  return {};
}

std::expected<std::vector<JobId>, NotTaken> JobDesk::submit(const Caller& caller,
                                                            const std::vector<JobRequest>& submissions,
                                                            const RequestKey& key) {
  if (!desk_.health()) return std::unexpected(desk_.health().error());
  if (desk_.stopped()) return fail("the service is stopping and takes no jobs; try again when it is back.");
  if (!key.text.empty()) {
    auto before = TRY(desk_.store().key(key.text, caller.uid));
    if (before) return submitted_as(*before, key.text, caller.uid);
  }
  const std::int64_t most = std::max(kMostAtOnce, settings_.most_array);
  std::vector<Prepared> prepared;
  std::int64_t tasks = 0;
  std::size_t looked_at = 0;
  std::uint64_t bytes = 0, bytes_of_tasks = 0;
  std::uint64_t awaited = book_.awaited_by(caller.uid);
  for (const JobRequest& submission : submissions) {
    auto one = prepared_of(caller, submission);
    if (!one) return fail(which_of(submissions, submission) + one.error().message);
    tasks += static_cast<std::int64_t>(one->range.indexes.size());
    looked_at += one->looked_at;
    awaited += one->awaited;
    if (!caller.operates && one->awaited > 0 && awaited > kMostAwaited)
      return fail(
          "your jobs would wait for more than {} jobs in all, one by one; let one job in between wait for all of them.",
          grouped(kMostAwaited));
    bytes += bytes_once(submission) + one->bytes_of_tasks;
    bytes_of_tasks += one->bytes_of_tasks;
    if (looked_at > kMostLookedAt)
      return fail("these wait for too many jobs at once; submit them in several requests.");
    prepared.push_back(std::move(*one));
    TRY(has_room_for(settings_, book_, caller, tasks));
    if (tasks > most) return fail("these are too many jobs at once; submit fewer, {} tasks at most.", grouped(most));
    TRY(is_little(bytes_of_tasks, tasks));
  }
  if (auto room = room_.takes_jobs(caller, bytes); !room) return std::unexpected(NotTaken(room.error(), true));
  std::set<std::string> names;
  for (std::size_t i = 0; i < submissions.size(); ++i)
    if (prepared[i].singleton) names.insert(name_of(submissions[i]));
  Namesakes namesakes(book_, desk_.view(), caller.uid, names);
  std::vector<JobId> jobs;
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    auto done = submit_all_of(caller, submissions[i], std::move(prepared[i]), namesakes, jobs);
    if (done) continue;
    for (const JobId job : std::views::reverse(jobs)) static_cast<void>(cancel(job));  // those before it, all or none
    static_cast<void>(desk_.decide());
    return fail("{}{} Nothing was submitted.", which_of(submissions, submissions[i]), done.error().message);
  }
  if (!key.text.empty() && !jobs.empty()) {
    desk_.store().put_key(key.text, caller.uid, jobs.front(), desk_.view().now(), key.digest);
    desk_.store().put_key(key.text + kLastOfKey, caller.uid, jobs.back(), desk_.view().now());
  }
  static_cast<void>(desk_.decide());
  return jobs;
}

// Those that one request has made have ids in a row.
Result<std::vector<JobId>> JobDesk::submitted_as(JobId first, const std::string& key, std::uint32_t uid) {
  const auto last = TRY(desk_.store().key(key + kLastOfKey, uid));
  std::vector<JobId> jobs;
  for (JobId job = first; job <= last.value_or(first); ++job.value) jobs.push_back(job);
  return jobs;
}

// A singleton waits for those of its name that came before it, in this request, too.
Result<void> JobDesk::submit_all_of(const Caller& caller, const JobRequest& submission, Prepared prepared,
                                    Namesakes& namesakes, std::vector<JobId>& jobs) {
  const JobSpec& spec = prepared.spec;
  const ArrayRange& range = prepared.range;
  const std::shared_ptr<About> about = std::move(prepared.about);
  std::string text = std::move(prepared.text);
  if (!submission.array.empty()) {
    const auto& all = range.indexes;
    about->array = desk_.view().last_number() + 1;
    about->indexes = {static_cast<std::int64_t>(all.size()), all.front(), all.back(),
                      all.size() > 1 ? all[1] - all[0] : 1};
    text = about_text(*about);
  }
  Kept kept{about, std::move(text), {{}, submission.script, zero_ended(submission.environment), caller.uid}};
  for (std::size_t i = 0; i < range.indexes.size(); ++i) {
    const std::int64_t index = range.indexes[i];
    const Instant begin = std::max(submission.begin.value_or(kEpoch), prepared.begins);
    JobTerms terms{spec.limit, spec.priority, spec.partition, begin, std::move(prepared.after[i]), prepared.any};
    const auto awaits = static_cast<std::uint32_t>(terms.after.size());  // but for namesakes, which are few or its own
    if (prepared.singleton) std::ranges::move(namesakes.before(about->name), std::back_inserter(terms.after));
    terms.array = range.throttle > 0 ? about->array : 0;
    terms.throttle = range.throttle;
    const bool plain = begin == kEpoch && terms.after.empty() && terms.array == 0 && !submission.held;
    const Bars elsewhere = submission.sites.empty() ? kNoBars : kNotOurs;  // until this site has won it
    const auto holds = static_cast<Bars>((submission.held ? kHeldByUser : kNoBars) | elsewhere);
    auto job = TRY(submit_one(kept, spec, {index, plain ? nullptr : &terms, holds, awaits}));
    jobs.push_back(job);
    if (elsewhere != kNoBars) TRY(federation_->offer(job, caller, submission));
    namesakes.add(about->name, job, prepared.singleton);
  }
  return {};
}

// Its home sends mail of its end. A task of an array is one of an array of its own here.
Result<JobId> JobDesk::submit_guest(const Caller& caller, const JobRequest& request,
                                    const std::optional<ArrayTask>& task, std::int64_t number, bool ahead) {
  Caller trusted = caller;
  trusted.operates = true;  // its priority was given by its home, and is bounded here
  const Prepared prepared = TRY(prepared_of(trusted, request));
  About& about = *prepared.about;
  about.mail &= static_cast<std::uint8_t>(~(kMailEnd | kMailFail));
  if (task) {
    about.array = number;
    about.indexes = task->of;
    set_text(about.texts, "home_array", std::to_string(task->array));
    if ((about.mail & kMailArrayTasks) == 0) about.mail = 0;
  }
  const store::Payload payload{{}, request.script, zero_ended(request.environment), caller.uid};
  Kept kept{prepared.about, about_text(about), payload};
  const JobTerms terms{prepared.spec.limit, prepared.spec.priority, prepared.spec.partition,
                       request.begin.value_or(kEpoch)};
  const std::int64_t index = task ? task->index : -1;
  return submit_one(kept, prepared.spec, {.index = index, .terms = &terms, .number = number, .ahead = ahead});
}

Result<JobId> JobDesk::submit_one(Kept& kept, JobSpec spec, const Task& task) {
  const JobId id = desk_.view().next_job();
  spec.number = task.number > 0 ? task.number : desk_.view().last_number() + 1;
  spec.submit = desk_.now();
  JobEntry entry{kept.about, spec.number, task.index};
  entry.awaits = task.awaits;
  book_.put(id, std::move(entry));
  std::string text = with_index(kept.text, task.index);
  if (kept.first.valid()) {
    desk_.store().put_payload_like(id, text, kept.first);
  } else {
    kept.payload.about = std::move(text);
    desk_.store().put_payload(id, kept.payload);
    kept.first = id;
  }
  if (task.terms == nullptr) {
    if (desk_.controller().submit(spec, task.holds).valid()) return id;
  } else {
    if (auto taken = desk_.controller().submit(spec, *task.terms, task.holds, task.ahead)) return *taken;
  }
  book_.take_back(id);
  desk_.store().drop_payload(id);
  return fail("job {} was refused.", spec.number);
}

}  // namespace rota::serve
