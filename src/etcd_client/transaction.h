// A batch of the C interface as etcd's transaction, and its answer.
#pragma once

#include <vector>

#include <etcd.pb.h>
#include "exchange/etcd/client_abi.h"

namespace rota::etcd {

etcdserverpb::TxnRequest transaction_of(const rota_etcd_batch& batch);
// They point into the response.
std::vector<rota_etcd_step_answer> answers_of(const etcdserverpb::TxnResponse& response);

rota_etcd_record record_of(const etcdserverpb::KeyValue& record, bool removed);

}  // namespace rota::etcd
