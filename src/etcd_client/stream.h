// A call of gRPC in which requests and answers go both ways. When it ends by itself, the connection goes on to the next
// endpoint.
#pragma once

#include <grpcpp/support/async_stream.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "etcd_client/connection.h"

namespace rota::etcd {

template <class Request, class Response>
class Stream : public Operation, public std::enable_shared_from_this<Stream<Request, Response>> {
 public:
  using Received = std::function<void(const Response&)>;

  template <class Service, class Method>
  static std::shared_ptr<Stream> open(Connection& connection, Method method, Received received) {
    auto stream = std::make_shared<Stream>(connection, std::move(received));
    stream->reader_writer_ = (Service::NewStub(connection.channel()).get()->*method)(
        &stream->context, &stream->thread().queue(), stream->thread().tag([stream](bool ok) { stream->started(ok); }));
    return stream;
  }

  Stream(Connection& connection, Received received)
      : Operation(connection.thread()),
        connection_(connection),
        endpoint_(connection.endpoint()),
        received_(std::move(received)) {
    // Without it, a member that is cut off from the others holds the stream and sends nothing.
    context.AddMetadata("hasleader", "true");
  }

  void write(Request request) {
    requests_.push_back(std::move(request));
    write_next();
  }

  // Ends it; nothing of it is received any more.
  void drop() {
    is_dropped_ = true;
    context.TryCancel();
  }

 private:
  void started(bool ok) {
    if (!ok) return finish();
    has_started_ = true;
    read();
    write_next();
  }

  void write_next() {
    if (!has_started_ || is_writing_ || requests_.empty()) return;
    is_writing_ = true;
    const Request request = std::move(requests_.front());
    requests_.pop_front();
    reader_writer_->Write(request, thread().tag([stream = this->shared_from_this()](bool ok) {
      stream->is_writing_ = false;
      if (ok) stream->write_next();
    }));
  }

  void read() {
    reader_writer_->Read(&response_, thread().tag([stream = this->shared_from_this()](bool ok) {
      if (!ok) return stream->finish();
      if (!stream->is_over()) {
        stream->connection_.trouble_ended(Trouble::connection);
        stream->received_(stream->response_);
      }
      stream->read();
    }));
  }

  void finish() {
    reader_writer_->Finish(&status_, thread().tag([stream = this->shared_from_this()](bool) {
      if (stream->is_over()) return;
      const std::string& reason = stream->status_.error_message();
      stream->connection_.failed(stream->endpoint_, reason.empty() ? "the stream has ended" : reason);
    }));
  }

  bool is_over() { return is_dropped_ || thread().closing(); }

  Connection& connection_;
  std::size_t endpoint_;
  Received received_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<Request, Response>> reader_writer_;
  std::deque<Request> requests_;  // not yet written
  Response response_;
  grpc::Status status_;
  bool has_started_ = false, is_writing_ = false, is_dropped_ = false;
};

inline constexpr milliseconds kReopenAfter{100};

}  // namespace rota::etcd
