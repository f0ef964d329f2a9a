// The members of the cluster: one is in use, and the next one when that fails. Requests with one answer are made here.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/status.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "etcd_client/client_thread.h"
#include "exchange/etcd/client_abi.h"

namespace rota::etcd {

struct Options {
  std::vector<std::string> endpoints;
  std::string authority, certificate, key;  // PEM
  milliseconds patience;
};

template <class Response>
struct Answer {
  grpc::Status status;
  rota_etcd_outcome outcome = ROTA_ETCD_UNKNOWN;
  std::string why;  // a sentence where it is not done
  Response response;
};

enum class Trouble { connection, watch };

class Connection {
 public:
  Connection(ClientThread& thread, const Options& options, const rota_etcd_calls& calls);

  ClientThread& thread() { return thread_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channels_[current_]; }
  std::size_t endpoint() const { return current_; }

  // Runs whenever another endpoint comes into use, which may be the same one again: then streams are to be opened anew.
  void on_move(std::function<void()> moved) { on_move_.push_back(std::move(moved)); }
  // It does not answer: the next one comes into use, but where that has happened since.
  void failed(std::size_t endpoint, const std::string& reason);

  // What people read about the connection: a sentence at the first trouble, an empty one after the last.
  void trouble_began(Trouble trouble, const std::string& sentence);
  void trouble_ended(Trouble trouble);

  template <class Stub, class Request, class Response>
  using Method = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*)(grpc::ClientContext*,
                                                                                      const Request&,
                                                                                      grpc::CompletionQueue*);
  template <class Response>
  using Done = std::move_only_function<void(const Answer<Response>&)>;

  template <class Service, class Request, class Response>
  void call(Method<typename Service::Stub, Request, Response> method, const Request& request,
            std::type_identity_t<Done<Response>> done) {
    struct Call : Operation {
      using Operation::Operation;
      Answer<Response> answer;
      std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;
    };
    auto call = std::make_shared<Call>(thread_);
    call->context.set_deadline(from_now(patience_));
    call->reader = (Service::NewStub(channel()).get()->*method)(&call->context, request, &thread_.queue());
    auto finished = [this, call, endpoint = current_, done = std::move(done)](bool) mutable {
      if (thread_.closing()) return;
      call->answer.outcome = judge(endpoint, call->answer.status, call->answer.why);
      done(call->answer);
    };
    call->reader->Finish(&call->answer.response, &call->answer.status, thread_.tag(std::move(finished)));
  }

 private:
  rota_etcd_outcome judge(std::size_t endpoint, const grpc::Status& status, std::string& why);

  ClientThread& thread_;
  const rota_etcd_calls& calls_;
  std::vector<std::string> endpoints_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  milliseconds patience_;
  std::size_t current_ = 0;
  std::vector<std::function<void()>> on_move_;
  std::array<bool, 2> troubles_{};
};

}  // namespace rota::etcd
