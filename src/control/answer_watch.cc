#include "control/answer_watch.h"

#include <algorithm>

namespace rota {

void AnswerWatch::sent(const Command& command, Instant now, std::uint32_t tries) {
  if (rules_.answer_within <= Duration{0} || command.kind == Command::Kind::expect) return;
  if (command.kind == Command::Kind::adjust) return;  // no answer comes; it shows when what exists is looked at
  const Instant due = now + rules_.answer_within * (std::int64_t{1} << std::min(tries - 1, 4U));
  awaited_.push_back({due, command.key, command.job, command.node, tries});
  resent_ += tries > 1 ? 1 : 0;
}

Instant AnswerWatch::next() const {
  Instant next = look_at_;
  for (const Awaited& a : awaited_) next = std::min(next, a.due);
  return next;
}

std::vector<AnswerWatch::Awaited> AnswerWatch::take_due(Instant now) {
  std::vector<Awaited> due;
  for (const Awaited& a : awaited_) {
    if (a.due <= now) due.push_back(a);
  }
  std::erase_if(awaited_, [&](const Awaited& a) { return a.due <= now; });
  std::stable_sort(due.begin(), due.end(), [](const Awaited& a, const Awaited& b) { return a.due < b.due; });
  return due;
}

bool AnswerWatch::looks(Instant now) {
  if (rules_.look_every <= Duration{0} || look_at_ > now) return false;
  looked(now);
  return true;
}

}  // namespace rota
