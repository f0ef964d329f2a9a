#include "control/desk_test.h"

namespace rota {
namespace {

Chain parsed(const std::string& policy, std::unique_ptr<Policy> link) {
  auto chain = Chain::parse(policy);
  if (link) chain->append(std::move(link));
  return std::move(*chain);
}

}  // namespace

FactLog::~FactLog() = default;

void FactLog::fact_recorded(const View&, const FactRef& fact) {
  std::visit([&](const auto* what) { facts.push_back({fact.at, fact.sequence, *what, fact.late}); }, fact.what);
}

Desk::Desk(const std::string& policy, DeskOptions options)
    : machine_(std::move(options.machine)),
      chain_(parsed(policy, std::move(options.link))),
      options_(cluster_options(options)),
      controller_(std::in_place, options_, chain_, Ports{loop_, engine_, left_, options.durable}, options.breach) {
  controller_->add_observer(log_);
}
Desk::~Desk() = default;

std::string Desk::state() const { return text_of_all(controller_->snapshot()); }

std::string Desk::take_over() {
  const std::vector<Fact> facts = controller_->snapshot();
  controller_.emplace(options_, chain_, Ports{loop_, engine_, left_});
  for (const Fact& fact : facts) {
    if (const auto taken = controller_->replay(fact); !taken) return taken.error().message;
  }
  controller_->add_observer(log_);
  loop_.hand_over(*controller_);
  taken_over_ = true;
  return {};
}

ClusterOptions Desk::cluster_options(const DeskOptions& options) const {
  ClusterOptions cluster;
  cluster.processors = machine_ ? machine_->processors : options.processors;
  cluster.machine = machine_.get();
  cluster.confirms_starts = options.confirms_starts;
  cluster.shared = options.shared;
  chain_.ask(cluster);
  return cluster;
}

}  // namespace rota
