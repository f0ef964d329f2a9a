#include "control/command_ledger.h"

namespace rota {

CommandLedger::Verdict CommandLedger::judge(const Command& command) {
  if (command.epoch < epoch_) {
    ++counts_.of_old_epochs;
    return Verdict::ignore;
  }
  epoch_ = command.epoch;
  if (command.kind == Command::Kind::expect) return Verdict::carry_out;  // changes nothing that others rest on
  std::uint64_t& latest = command.job.valid() ? jobs_[command.job] : nodes_[command.node];
  if (command.key < latest) {
    ++counts_.out_of_order;
    return Verdict::ignore;
  }
  if (command.key == latest) {
    ++counts_.doubled;
    return Verdict::answer_again;
  }
  latest = command.key;
  return Verdict::carry_out;
}

}  // namespace rota
