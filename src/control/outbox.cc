#include "control/outbox.h"

#include <utility>

namespace rota {

void Outbox::send(const Request& request) {
  if (!uncommitted_) return exchange_.send(request);
  held_.push_back(request);
  loop_.set(*this, loop_.now());
}

Result<void> Outbox::commit() {
  if (!journal_) return {};
  TRY(journal_->commit());
  uncommitted_ = false;
  for (const Request& request : std::exchange(held_, {})) exchange_.send(request);
  return {};
}

Result<void> Outbox::commit_soon() {
  if (!journal_) return {};
  return held_.empty() ? journal_->commit_soon() : commit();
}

// What the journal refuses it refuses again, to the controller, which stops at that.
void Outbox::ring() {
  if (!held_.empty()) static_cast<void>(commit());
}

}  // namespace rota
