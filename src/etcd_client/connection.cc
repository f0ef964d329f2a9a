#include "etcd_client/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>

namespace rota::etcd {
namespace {

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // a page, or the changes of one revision, may be more than gRPC's 4 MB
  // etcd hangs up on a client that pings more often than every 5 s, and gRPC would stop after two pings without data.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 6000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 2000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000);  // the time that one attempt to connect may take
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);               // a request is made once: client_abi.h
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // members are in the same network, whatever http_proxy is set to
  return arguments;
}

std::shared_ptr<grpc::ChannelCredentials> credentials(const Options& options) {
  if (options.authority.empty()) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials(
      {.pem_root_certs = options.authority, .pem_private_key = options.key, .pem_cert_chain = options.certificate});
}

// etcd itself has answered, and another member would answer the same.
bool is_answer(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::FAILED_PRECONDITION:
      return true;
    default:
      return false;
  }
}

rota_etcd_outcome outcome_of(const grpc::Status& status) {
  const auto has = [&](const char* text) { return status.error_message().find(text) != std::string::npos; };
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return ROTA_ETCD_DONE;
    case grpc::StatusCode::NOT_FOUND:  // a lease
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      return ROTA_ETCD_REFUSED;
    case grpc::StatusCode::INVALID_ARGUMENT:
      // It stands for a moment, after a change of roles.
      return has("revision of auth store is old") ? ROTA_ETCD_UNKNOWN : ROTA_ETCD_REFUSED;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      // "database space exceeded" is no refusal: the request that found the last room gets this answer, too, and has
      // been carried out (quotaApplierV3 in etcd's etcdserver/apply.go).
      return has("larger than max") ? ROTA_ETCD_REFUSED : ROTA_ETCD_UNKNOWN;
    default:
      return ROTA_ETCD_UNKNOWN;
  }
}

}  // namespace

Connection::Connection(ClientThread& thread, const Options& options, const rota_etcd_calls& calls)
    : thread_(thread), calls_(calls), endpoints_(options.endpoints), patience_(options.patience) {
  for (const std::string& endpoint : endpoints_) {
    channels_.push_back(grpc::CreateCustomChannel("dns:///" + endpoint, credentials(options), channel_arguments()));
  }
}

void Connection::failed(std::size_t endpoint, const std::string& reason) {
  if (endpoint != current_) return;
  current_ = (current_ + 1) % channels_.size();
  trouble_began(Trouble::connection, "etcd at " + endpoints_[endpoint] + " does not answer: " + reason + ".");
  for (const auto& moved : on_move_) moved();
}

void Connection::trouble_began(Trouble trouble, const std::string& sentence) {
  const bool is_first = std::ranges::none_of(troubles_, std::identity{});
  troubles_.at(static_cast<std::size_t>(trouble)) = true;
  if (is_first) calls_.connection(calls_.context, {sentence.data(), sentence.size()});
}

void Connection::trouble_ended(Trouble trouble) {
  const bool was_there = std::exchange(troubles_.at(static_cast<std::size_t>(trouble)), false);
  if (was_there && std::ranges::none_of(troubles_, std::identity{})) calls_.connection(calls_.context, {"", 0});
}

rota_etcd_outcome Connection::judge(std::size_t endpoint, const grpc::Status& status, std::string& why) {
  if (!is_answer(status)) {
    why = "etcd at " + endpoints_[endpoint] + " does not answer: " + status.error_message() + ".";
    failed(endpoint, status.error_message());
    return ROTA_ETCD_UNKNOWN;
  }
  trouble_ended(Trouble::connection);
  if (!status.ok()) why = "etcd at " + endpoints_[endpoint] + " answers: " + status.error_message() + ".";
  return outcome_of(status);
}

}  // namespace rota::etcd
