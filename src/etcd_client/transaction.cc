#include "etcd_client/transaction.h"

#include <span>

namespace rota::etcd {
namespace {

namespace pb = etcdserverpb;

void add_conditions(pb::TxnRequest& transaction, std::span<const rota_etcd_condition> conditions) {
  for (const rota_etcd_condition& condition : conditions) {
    pb::Compare& compare = *transaction.add_compare();
    compare.set_target(pb::Compare::MOD);
    compare.set_result(condition.differs != 0 ? pb::Compare::NOT_EQUAL : pb::Compare::EQUAL);
    compare.set_key(condition.key.data, condition.key.size);
    compare.set_mod_revision(condition.revision);
  }
}

void add_write(pb::TxnRequest& transaction, const rota_etcd_write& write) {
  pb::RequestOp& operation = *transaction.add_success();
  if (write.removes != 0) {
    operation.mutable_request_delete_range()->set_key(write.key.data, write.key.size);
    return;
  }
  pb::PutRequest& put = *operation.mutable_request_put();
  put.set_key(write.key.data, write.key.size);
  put.set_value(write.value.data, write.value.size);
  put.set_lease(write.lease);
}

}  // namespace

pb::TxnRequest transaction_of(const rota_etcd_batch& batch) {
  pb::TxnRequest transaction;
  add_conditions(transaction, {batch.conditions, batch.condition_count});
  for (const rota_etcd_step& step : std::span(batch.steps, batch.step_count)) {
    pb::TxnRequest& nested = *transaction.add_success()->mutable_request_txn();
    add_conditions(nested, {step.conditions, step.condition_count});
    for (const rota_etcd_write& write : std::span(step.writes, step.write_count)) add_write(nested, write);
    if (step.otherwise.size == 0) continue;
    nested.add_failure()->mutable_request_range()->set_key(step.otherwise.data, step.otherwise.size);
  }
  return transaction;
}

std::vector<rota_etcd_step_answer> answers_of(const pb::TxnResponse& response) {
  std::vector<rota_etcd_step_answer> answers;
  for (const pb::ResponseOp& operation : response.responses()) {
    const pb::TxnResponse& nested = operation.response_txn();
    rota_etcd_step_answer& answer = answers.emplace_back();
    answer.done = nested.succeeded() ? 1 : 0;
    if (nested.succeeded() || nested.responses().empty()) continue;
    const auto& found = nested.responses(0).response_range().kvs();
    if (found.empty()) continue;
    answer.found = 1;
    answer.otherwise = record_of(found[0], false);
  }
  return answers;
}

rota_etcd_record record_of(const pb::KeyValue& record, bool removed) {
  return {.key = {record.key().data(), record.key().size()},
          .value = {record.value().data(), record.value().size()},
          .revision = record.mod_revision(),
          .removed = removed ? 1 : 0};
}

}  // namespace rota::etcd
