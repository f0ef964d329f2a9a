// The C interface: checks the options, and hands requests to the client's own thread.
#include <grpc/support/log.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "etcd_client/client_thread.h"
#include "etcd_client/connection.h"
#include "etcd_client/lease_keeper.h"
#include "etcd_client/transaction.h"
#include "etcd_client/watch_reader.h"
#include "exchange/etcd/client_abi.h"

namespace etcd = rota::etcd;
namespace pb = etcdserverpb;

struct rota_etcd_client {
  rota_etcd_client(const etcd::Options& options, const rota_etcd_calls& callbacks)
      : calls(callbacks), connection(thread, options, calls), leases(connection, calls), watch(connection, calls) {}

  rota_etcd_calls calls;
  etcd::ClientThread thread;
  etcd::Connection connection;
  etcd::LeaseKeeper leases;
  etcd::WatchReader watch;
};

namespace {

std::string string_of(rota_etcd_text text) { return {text.data, text.size}; }

bool is_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view host = text.substr(0, colon), port = text.substr(colon + 1);
  const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool is_number = port.find_first_not_of("0123456789") == std::string_view::npos && port.size() <= 5;
  return is_number && !port.empty() && (in_brackets || host.find_first_of(":[]/") == std::string_view::npos);
}

// A sentence; empty where they make sense.
std::string wrong_with(const etcd::Options& options) {
  if (options.endpoints.empty()) return "No endpoint of etcd is given.";
  for (const std::string& endpoint : options.endpoints) {
    if (!is_endpoint(endpoint)) return "'" + endpoint + "' is no endpoint of etcd: write HOST:PORT.";
  }
  if (options.patience.count() <= 0) return "The patience with etcd must be longer than 0 ms.";
  if (options.certificate.empty() != options.key.empty()) return "A certificate for etcd and its key go together.";
  if (options.authority.empty() && !options.certificate.empty()) {
    return "With a certificate for etcd, the authority of its members must be given, too.";
  }
  for (const auto& [what, pem] : {std::pair{"authority", &options.authority},
                                  std::pair{"certificate", &options.certificate}, std::pair{"key", &options.key}}) {
    if (pem->empty() || pem->find("-----BEGIN ") != std::string::npos) continue;
    return std::string("What is given as the ") + what + " for etcd is not in PEM.";
  }
  return {};
}

void write_why(std::string_view sentence, char* why, std::size_t size) {
  if (size == 0) return;
  const std::size_t length = std::min(sentence.size(), size - 1);
  std::memcpy(why, sentence.data(), length);
  why[length] = '\0';
}

// While it stands, new threads get no signals: those are for the program's.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

#pragma GCC visibility push(default)

int rota_etcd_abi(void) { return ROTA_ETCD_ABI; }

rota_etcd_client* rota_etcd_open(const rota_etcd_options* options, const rota_etcd_calls* calls, char* why,
                                 size_t size) try {
  etcd::Options checked{.endpoints = {},
                        .authority = string_of(options->authority),
                        .certificate = string_of(options->certificate),
                        .key = string_of(options->key),
                        .patience = etcd::milliseconds{options->patience}};
  for (const rota_etcd_text& endpoint : std::span(options->endpoints, options->endpoint_count)) {
    checked.endpoints.push_back(string_of(endpoint));
  }
  if (const std::string wrong = wrong_with(checked); !wrong.empty()) return write_why(wrong, why, size), nullptr;
  // gRPC would write to standard error what connection() reports.
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
  const SignalsBlocked blocked;
  return std::make_unique<rota_etcd_client>(checked, *calls).release();
} catch (const std::exception& error) {
  write_why(std::string("The client of etcd cannot start: ") + error.what() + ".", why, size);
  return nullptr;
}

void rota_etcd_close(rota_etcd_client* client) {
  client->thread.close();
  delete client;
}

void rota_etcd_commit(rota_etcd_client* client, uint64_t request, const rota_etcd_batch* batch) {
  const auto done = [client, request](const etcd::Answer<pb::TxnResponse>& answer) {
    const rota_etcd_calls& calls = client->calls;
    const auto answers = etcd::answers_of(answer.response);
    const rota_etcd_batch_answer given{answer.outcome,
                                       {answer.why.data(), answer.why.size()},
                                       answer.response.header().revision(),
                                       answer.response.succeeded() ? 1 : 0,
                                       answers.data(),
                                       answers.size()};
    calls.committed(calls.context, request, &given);
  };
  client->thread.post([client, done, transaction = etcd::transaction_of(*batch)] {
    client->connection.call<pb::KV>(&pb::KV::Stub::AsyncTxn, transaction, done);
  });
}

void rota_etcd_grant(rota_etcd_client* client, uint64_t request, int64_t seconds) {
  client->thread.post([client, request, seconds] { client->leases.grant(request, seconds); });
}

void rota_etcd_keep(rota_etcd_client* client, int64_t lease) {
  client->thread.post([client, lease] { client->leases.keep(lease); });
}

void rota_etcd_get(rota_etcd_client* client, uint64_t request, rota_etcd_text key) {
  const auto done = [client, request](const etcd::Answer<pb::RangeResponse>& answer) {
    const rota_etcd_calls& calls = client->calls;
    const bool found = answer.response.kvs_size() > 0;
    const rota_etcd_record record = found ? etcd::record_of(answer.response.kvs(0), false) : rota_etcd_record{};
    calls.got(calls.context, request, answer.outcome, {answer.why.data(), answer.why.size()},
              found ? &record : nullptr);
  };
  pb::RangeRequest asked;
  asked.set_key(string_of(key));
  client->thread.post([client, done, asked = std::move(asked)] {
    client->connection.call<pb::KV>(&pb::KV::Stub::AsyncRange, asked, done);
  });
}

void rota_etcd_watch(rota_etcd_client* client, rota_etcd_text first, rota_etcd_text end) {
  client->thread.post([client, first = string_of(first), end = string_of(end)]() mutable {
    client->watch.start(std::move(first), std::move(end));
  });
}

#pragma GCC visibility pop
