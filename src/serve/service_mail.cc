// What people want to hear of their jobs by mail.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "serve/service.h"

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

}  // namespace

void Service::open_mail() {
  if (settings_.mail_command.empty()) return;
  mail_ = std::make_unique<MailRoom>(io_, settings_.mail_command, kMailTimeout, options_.state_folder + "/mail",
                                     [this](const std::string& what) { desk_.log().say(what); });
  // An array may have begun before the service was started again: what of it has left counts as begun.
  std::map<std::int64_t, std::int64_t> left;  // tasks, by array
  book_.for_each([&](JobId id, const JobEntry& entry) {
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

void Service::post(const About& about, const std::string& job, const char* type, const std::string& what) {
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

// What is told by mail is durable.
void Service::send_letters() {
  auto letters = std::exchange(letters_, {});
  if (desk_.stopped()) return;
  for (Mail& mail : letters) mail_->send(std::move(mail));
}

bool Service::told_of_tasks(const About& about) { return about.array == 0 || (about.mail & kMailArrayTasks) != 0; }

void Service::mail_of_start(JobId id) {
  const JobEntry* entry = book_.find(id);
  if (entry == nullptr || (entry->about->mail & kMailBegin) == 0) return;
  const About& about = *entry->about;
  if (told_of_tasks(about)) return post(about, book_.shown(id), "BEGIN", "has begun");
  if (begun_.insert(about.array).second) post(about, std::to_string(about.array), "BEGIN", "has begun");
}

void Service::mail_of_requeue(JobId id, bool was_stopped) {
  const JobEntry* entry = book_.find(id);
  if (entry == nullptr || (entry->about->mail & kMailRequeue) == 0) return;
  const std::string& why = entry->heard().message;  // where a rule has stopped it: for which job
  post(*entry->about, book_.shown(id), "REQUEUE",
       "was taken back and waits again" + (was_stopped && !why.empty() ? ". " + why : ""));
}

// Mail about a job that leaves, with its row of the history; about an array when its last task does.
void Service::mail_of_end(const store::HistoryRow& row, const About& about) {
  const bool wants = (about.mail & (kMailEnd | kMailFail)) != 0;
  if (!wants && !begun_.contains(about.array)) return;
  const auto tell = [&](const std::string& job, bool well, const std::string& what) {
    if ((about.mail & kMailEnd) != 0) return post(about, job, "END", "has ended: " + what);
    if (!well) post(about, job, "FAIL", "has failed: " + what);
  };
  if (about.array == 0) return tell(std::to_string(row.number), ended_well(row.state), end_text(row));
  if (told_of_tasks(about)) return tell(shown_task(about.array, row.array_index), ended_well(row.state), end_text(row));
  if (book_.has_other_task(about.array, row.job)) return;
  begun_.erase(about.array);
  if (!wants) return;
  std::map<std::string, std::int64_t> states{{row.state, 1}};
  for (const store::HistoryRow& task : ended_tasks(about.array)) {
    if (task.job != row.job) ++states[task.state];
  }
  std::string what;
  for (const auto& [state, count] : states)
    what += fmt::format("{}{} {}", what.empty() ? "" : ", ", grouped(count), state);
  tell(std::to_string(about.array), states.size() == 1 && ended_well(states.begin()->first), what);
}

}  // namespace rota::serve
