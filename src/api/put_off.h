// Questions that are put off until what has been asked before them is durable: no answer tells what a failure of power
// could still undo.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "api/http.h"
#include "serve/service.h"

namespace rota::api {

// One thread.
class PutOff : public std::enable_shared_from_this<PutOff> {
 public:
  // The service must outlive it.
  PutOff(serve::Service& service, Handler answer) : service_(service), answer_(std::move(answer)) {}

  // Answers at once, or once all is durable that is not yet; where it cannot be made so, says that.
  void put_off(const Request& request, const std::shared_ptr<Reply>& reply);

 private:
  struct Question {
    Request request;
    std::shared_ptr<Reply> reply;
  };
  void go_on(const Result<void>& durable);
  void answer_some(std::deque<Question> of_one);

  serve::Service& service_;
  Handler answer_;
  std::map<std::uint32_t, std::deque<Question>> waiting_;  // by user
};

}  // namespace rota::api
