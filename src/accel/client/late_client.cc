#include "accel/client/late_client.h"

#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "accel/client/bound_container.h"

namespace rota::accel {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kLook = 1000ms;            // between two questions to the service
constexpr auto kAskPatience = 2000ms;     // for its answer
constexpr auto kGiveUp = 1000ms;          // with a container that accepts no tasks, whose tasks others run then
constexpr auto kRest = 1000ms;            // in which one that has lost tasks gets none
constexpr std::size_t kMostThere = 8;     // tasks at a container: what it reads, computes and writes, and a few
constexpr std::uint32_t kMostRuns = 20;   // as TaskBook has it
constexpr std::uint32_t kMostLosses = 3;  // of devices with a task, which may be what they die of

}  // namespace

LateClient::LateClient(ClientOptions options) : options_(std::move(options)) {
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "accel-late");
}

LateClient::~LateClient() {
  stops_ = true;
  requests_.wakeup().ring();
  thread_.join();
}

std::uint64_t LateClient::submit(const Order& order) { return requests_.add_task(order); }
std::uint64_t LateClient::ask_state(void* tag) { return requests_.add_task(AskState{tag}); }
void LateClient::cancel(std::uint64_t task) { requests_.add_cancel(task); }

void LateClient::run() {
  while (!stops_) {
    carry_out_requests();
    for (auto& [address, place] : places_) collect(place);
    if (!idle() && steady_clock::now() >= looks_) look_for_containers();
    hand_out();
    give_up_if_none();
    wait();
  }
}

void LateClient::carry_out_requests() {
  for (const Request& request : requests_.take_all()) {
    std::visit(Overloaded{[&](const Cancel&) { cancel_task(request.number); },
                          [&](const auto& what) {
                            tasks_[request.number].what = what;
                            waiting_.push_back(request.number);
                          }},
               request.what);
  }
}

void LateClient::cancel_task(std::uint64_t number) {
  if (std::erase(waiting_, number) > 0) {
    std::vector<End> ends(1);
    ends.front().task = number;
    if (const auto* order = std::get_if<Order>(&tasks_.at(number).what)) ends.front().tag = order->tag;
    ends.front().outcome = {ROTA_ACCEL_CANCELLED, "it was cancelled"};
    tasks_.erase(number);
    return ends_.put(std::move(ends));
  }
  for (auto& [address, place] : places_) {
    for (const auto& [there, ours] : place.flights) {
      if (ours != number) continue;
      tasks_.at(number).cancelled = true;
      place.client->cancel(there);
    }
  }
}

void LateClient::collect(Place& place) {
  while (auto end = place.client->next(0)) take_end(place, std::move(*end));
}

// What the container did not answer is another one's.
void LateClient::take_end(Place& place, End end) {
  const auto flight = place.flights.find(end.task);
  const std::uint64_t number = flight->second;
  place.flights.erase(flight);
  --in_flight_;
  const auto task = tasks_.find(number);
  task->second.runs += end.runs;
  if (end.outcome.outcome == ROTA_ACCEL_DEVICE_LOST) ++task->second.losses;
  const bool lost = end.outcome.outcome == ROTA_ACCEL_LEAVING || end.outcome.outcome == ROTA_ACCEL_DEVICE_LOST;
  if (lost && task->second.cancelled) end.outcome = {ROTA_ACCEL_CANCELLED, "it was cancelled"};
  if (lost && !task->second.cancelled && task->second.runs < kMostRuns && task->second.losses < kMostLosses) {
    trouble_ = end.outcome.why;
    looks_ = {};
    place.rests = steady_clock::now() + kRest;
    waiting_.push_front(number);
    return;
  }
  end.task = number;
  end.runs = task->second.runs;
  tasks_.erase(task);
  std::vector<End> ends;
  ends.push_back(std::move(end));
  ends_.put(std::move(ends));
}

// One that the service does not know any more keeps what it has.
void LateClient::look_for_containers() {
  looks_ = steady_clock::now() + kLook;
  std::string why;
  const auto found = ask_for_rack(std::get<NodeAddress>(options_.address), kAskPatience, why);
  if (found) {
    for (auto& [address, place] : places_) place.listed = false;
    for (const RackContainer& one : *found) {
      Place& place = places_[one.of.address];
      place.listed = true;
      place.weight = one.weight;
      if (place.client) continue;
      ClientOptions options = options_;
      options.shown = one.of.address;
      options.address = parse_address(one.of.address);
      if (options.token.empty()) options.token = one.of.token;
      options.give_up = std::min<std::chrono::milliseconds>(options.give_up, kGiveUp);
      place.client = std::make_unique<Client>(std::move(options));
    }
  }
  std::erase_if(places_, [](const auto& one) { return !one.second.listed && one.second.flights.empty(); });
  if (!found) trouble_ = why;
}

void LateClient::hand_out() {
  while (!waiting_.empty()) {
    Place* const place = fastest_with_room();
    if (place == nullptr) return;
    give(*place);
  }
}

bool LateClient::takes_tasks(const Place& place) { return place.listed && steady_clock::now() >= place.rests; }

// The one that would be done first with one task more, if that is not too late: (k + 1) / w <= R / W + 1 / w(fastest).
LateClient::Place* LateClient::fastest_with_room() {
  double together = 0;
  double fastest = 0;
  for (const auto& [address, place] : places_) {
    if (!takes_tasks(place)) continue;
    together += static_cast<double>(place.weight);
    fastest = std::max(fastest, static_cast<double>(place.weight));
  }
  if (together <= 0) return nullptr;
  const double latest = static_cast<double>(waiting_.size() + in_flight_) / together + 1 / fastest;
  Place* best = nullptr;
  double first = 0;
  for (auto& [address, place] : places_) {
    if (!takes_tasks(place) || place.flights.size() >= kMostThere) continue;
    const double done = static_cast<double>(place.flights.size() + 1) / static_cast<double>(place.weight);
    if (done > latest || (best != nullptr && done >= first)) continue;
    best = &place;
    first = done;
  }
  return best;
}

void LateClient::give(Place& place) {
  const std::uint64_t number = waiting_.front();
  waiting_.pop_front();
  const std::uint64_t there =
      std::visit(Overloaded{[&](const Order& order) { return place.client->submit(order); },
                            [&](const AskState& ask) { return place.client->ask_state(ask.tag); }},
                 tasks_.at(number).what);
  place.flights[there] = number;
  ++in_flight_;
}

void LateClient::give_up_if_none() {
  const SteadyTime now = steady_clock::now();
  if (waiting_.empty() || in_flight_ > 0) return none_since_.reset();
  if (!none_since_) none_since_ = now;
  if (now - *none_since_ < options_.give_up) return;
  std::vector<End> ends;
  for (const std::uint64_t number : std::exchange(waiting_, {})) {
    End& end = ends.emplace_back();
    end.task = number;
    end.tag = std::visit(Overloaded{[](const auto& what) { return what.tag; }}, tasks_.at(number).what);
    end.runs = tasks_.at(number).runs;
    end.outcome = {ROTA_ACCEL_LEAVING, "no container accepts tasks at " + options_.shown + ": " + trouble_};
    tasks_.erase(number);
  }
  ends_.put(std::move(ends));
  none_since_.reset();
}

void LateClient::wait() {
  std::vector<pollfd> files{{requests_.wakeup().file(), POLLIN, 0}};
  for (const auto& [address, place] : places_) files.push_back({place.client->event_file(), POLLIN, 0});
  auto patience = -1ms;
  if (!idle())
    patience = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(looks_ - steady_clock::now()), 10ms,
                          std::min<std::chrono::milliseconds>(kLook, options_.give_up));
  ::poll(files.data(), files.size(), static_cast<int>(patience.count()));
  if ((files[0].revents & POLLIN) != 0) requests_.wakeup().clear();
}

}  // namespace rota::accel
