#include "serve/job_mail.h"

#include <fmt/core.h>

#include <map>
#include <utility>

#include "base/text.h"

namespace rota::serve {
namespace {

constexpr Duration kMailTimeout = seconds(60);

// This dispatch, or one before it.
bool has_begun(const Job& job) {
  return restarts_of(job) > 0 || job.ended() || (job.state == JobState::running && !job.starting);
}

bool ended_well(std::string_view state) { return state == "COMPLETED"; }

std::string end_text(const store::HistoryRow& row) {
  std::string out = row.state;
  if (row.signal > 0) out += ", signal " + std::to_string(row.signal);
  if (row.signal == 0 && row.start != kNever) out += ", exit code " + std::to_string(row.exit_code);
  return out;
}

// Not once of the array.
bool told_of_tasks(const About& about) { return about.array == 0 || (about.mail & kMailArrayTasks) != 0; }

}  // namespace

void JobMail::open(boost::asio::io_context& io) {
  if (command_.empty()) return;
  room_ = std::make_unique<MailRoom>(io, command_, kMailTimeout, record_,
                                     [&log = desk_.log()](const std::string& what) { log.say(what); });
  // An array may have begun before the service was started again: what of it has left counts as begun.
  std::map<std::int64_t, std::int64_t> left;  // tasks, by array
  jobs_.book().for_each([&](JobId id, const JobEntry& entry) {
    const About& about = *entry.about;
    if ((about.mail & kMailBegin) == 0 || told_of_tasks(about)) return true;
    --left.try_emplace(about.array, about.indexes.count).first->second;
    if (has_begun(desk_.view().job(id))) begun_.insert(about.array);
    return true;
  });
  for (const auto& [array, tasks] : left) {
    if (tasks != 0) begun_.insert(array);
  }
}

void JobMail::post(const About& about, const std::string& job, const char* type, const std::string& what) {
  const std::string name = escaped(about.name);  // whose lines would be headers of the mail
  std::string body = fmt::format("Job {} ({}) of {} on {}: {}.\n", job, name, about.user, desk_.machine()->name, what);
  if (!about.folder.empty()) body += fmt::format("Folder: {}\n", escaped(about.folder));
  letters_.push_back({.uid = about.uid,
                      .to = about.mail_user.empty() ? about.user : about.mail_user,
                      .type = type,
                      .job = job,
                      .subject = fmt::format("{}: job {} ({}) {}", desk_.machine()->name, job, name, what),
                      .body = std::move(body)});
}

void JobMail::send() {
  auto letters = std::exchange(letters_, {});
  if (desk_.stopped()) return;
  for (Mail& mail : letters) room_->send(std::move(mail));
}

void JobMail::stop() {
  if (room_) room_->stop();
}

std::uint64_t JobMail::wants() const {
  return command_.empty() ? 0 : FactKinds::bits<Requeued, Vacated, Launched, Finished>();
}

void JobMail::fact_recorded(const View& before, const FactRef& fact) {
  std::visit(
      [&]<class Kind>(const Kind* what) {
        if constexpr (std::is_same_v<Kind, Requeued> || std::is_same_v<Kind, Vacated>)
          job_waits_again(what->job, before.job(what->job).stopping);
        if constexpr (std::is_same_v<Kind, Launched>) job_starts(what->job);
        if constexpr (std::is_same_v<Kind, Finished>) {
          // It began and ended while no service ran.
          const Job& job = before.job(what->job);
          const bool ran = what->outcome != Outcome::cancelled && what->outcome != Outcome::node_failed;
          if (job.state == JobState::running && job.starting && ran) job_starts(what->job);
        }
      },
      fact.what);
}

void JobMail::job_starts(JobId id) {
  const JobEntry* entry = jobs_.book().find(id);
  if (entry == nullptr || (entry->about->mail & kMailBegin) == 0) return;
  const About& about = *entry->about;
  if (told_of_tasks(about)) return post(about, jobs_.book().shown(id), "BEGIN", "has begun");
  if (begun_.insert(about.array).second) post(about, std::to_string(about.array), "BEGIN", "has begun");
}

void JobMail::job_waits_again(JobId id, bool was_stopped) {
  const JobEntry* entry = jobs_.book().find(id);
  if (entry == nullptr || (entry->about->mail & kMailRequeue) == 0) return;
  const std::string& why = entry->heard().message;  // where a rule has stopped it: for which job
  post(*entry->about, jobs_.book().shown(id), "REQUEUE",
       "was taken back and waits again" + (was_stopped && !why.empty() ? ". " + why : ""));
}

void JobMail::job_leaves(const store::HistoryRow& row, const About& about) {
  if (!sends()) return;
  const bool wants = (about.mail & (kMailEnd | kMailFail)) != 0;
  if (!wants && !begun_.contains(about.array)) return;
  const auto tell = [&](const std::string& job, bool well, const std::string& what) {
    if ((about.mail & kMailEnd) != 0) return post(about, job, "END", "has ended: " + what);
    if (!well) post(about, job, "FAIL", "has failed: " + what);
  };
  if (about.array == 0) return tell(std::to_string(row.number), ended_well(row.state), end_text(row));
  if (told_of_tasks(about)) return tell(shown_task(about.array, row.array_index), ended_well(row.state), end_text(row));
  if (jobs_.book().has_other_task(about.array, row.job)) return;
  begun_.erase(about.array);
  if (!wants) return;
  std::map<std::string, std::int64_t> states{{row.state, 1}};
  for (const store::HistoryRow& task : jobs_.ended_tasks(about.array)) {
    if (task.job != row.job) ++states[task.state];
  }
  std::string what;
  for (const auto& [state, count] : states)
    what += fmt::format("{}{} {}", what.empty() ? "" : ", ", grouped(count), state);
  tell(std::to_string(about.array), states.size() == 1 && ended_well(states.begin()->first), what);
}

}  // namespace rota::serve
