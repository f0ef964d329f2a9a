#include "api/put_off.h"

#include <chrono>
#include <utility>

namespace rota::api {

void PutOff::put_off(const Request& request, const std::shared_ptr<Reply>& reply) {
  if (!service_.uncommitted()) return answer_(request, reply);
  if (waiting_.empty())
    service_.when_durable([self = shared_from_this()](const Result<void>& durable) { self->go_on(durable); });
  waiting_[request.caller.uid].push_back({request, reply});
}

void PutOff::go_on(const Result<void>& durable) {
  auto waiting = std::exchange(waiting_, {});
  for (auto& [uid, questions] : waiting) {
    if (durable) {
      answer_some(std::move(questions));
    } else {
      for (const Question& question : questions) question.reply->send(problem(503, durable.error().message));
    }
  }
}

// Answers some questions of each user now, at least one, however often something new has to be made durable. The others
// take their turns once more: a user that asks much at a time keeps no other waiting for all of it.
void PutOff::answer_some(std::deque<Question> of_one) {
  constexpr std::chrono::milliseconds kAtOnce{1};
  const auto until = std::chrono::steady_clock::now() + kAtOnce;
  do {
    const Question& question = of_one.front();
    if (!question.reply->gone()) answer_(question.request, question.reply);
    of_one.pop_front();
  } while (!of_one.empty() && std::chrono::steady_clock::now() < until);
  for (Question& question : of_one) {
    const auto reply = question.reply;
    reply->again([self = shared_from_this(), question = std::move(question)] {
      if (!question.reply->gone()) self->put_off(question.request, question.reply);
    });
  }
}

}  // namespace rota::api
