// /v1/events: facts as they are written, as server-sent events.
#include <fmt/core.h>

#include <charconv>
#include <memory>

#include "api/routes.h"
#include "base/text.h"

namespace rota::api {
namespace {

struct Follower {
  std::shared_ptr<Reply> reply;
  std::uint64_t seen = 0;
  std::int64_t job = 0;  // 0: all
  std::uint64_t id = 0;
  bool lost = false;  // something that it has not seen is no longer known
  bool gone = false;  // maybe before it was one: of HEAD nothing streams
};

// What has come since the last time. A follower that has not taken yet what was sent before gets more when that is out:
// so a slow one costs no more memory than another, and misses something at worst.
void tell(serve::Service& service, Follower& follower) {
  constexpr std::size_t kAtOnce = 64 << 10;
  if (follower.reply->lags()) return;
  std::string text;
  const bool whole = service.events().for_each_after(follower.seen, [&](const serve::Event& event) {
    follower.seen = event.sequence;
    if (follower.job != 0 && event.job != follower.job) return true;
    text += fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.sequence, event.kind, event.line);
    return text.size() < kAtOnce;
  });
  if (!whole || follower.lost) {
    text = "event: reset\ndata: {}\n\n";
    follower.seen = service.answers().facts();
    follower.lost = false;
  }
  if (!text.empty()) follower.reply->write(std::move(text));
}

}  // namespace

void answer_events(const Ask& ask) {
  auto follower = std::make_shared<Follower>();
  follower->reply = ask.reply;
  auto after = static_cast<std::int64_t>(ask.answers().facts());
  if (!take_number(ask, "after", after) || !take_number(ask, "job", follower->job)) return;
  // It counts before `after`: a browser that connects again sends both, and `after` is where it once began.
  if (!ask.request.last_event_id.empty()) {
    const auto number = parse_integer(ask.request.last_event_id);
    if (!number || *number < 0) return ask.reply->send(problem(400, "`Last-Event-ID` is a sequence number."));
    after = *number;
  }
  follower->seen = static_cast<std::uint64_t>(after);
  serve::Service& service = ask.service;
  follower->lost = follower->seen > service.answers().facts();  // of another life of this state
  ask.reply->stream("text/event-stream", [&service, follower] {
    if (follower->id != 0) service.events().leave(follower->id);
    follower->id = 0;
    follower->gone = true;
  });
  if (follower->gone) return;
  follower->id = service.events().follow(service.answers().facts(), [&service, follower] { tell(service, *follower); });
  follower->reply->when_out([&service, follower] { tell(service, *follower); });
  ask.reply->write(fmt::format(": from {} on\n\n", after));
  tell(service, *follower);
}

}  // namespace rota::api
