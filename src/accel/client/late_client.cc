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
    run_again_what_is_slow();
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
  if (const auto task = tasks_.find(number); task != tasks_.end()) task->second.cancelled = true;
  cancel_flights(number);
}

void LateClient::cancel_flights(std::uint64_t number) {
  for (auto& [address, place] : places_)
    for (const auto& [there, ours] : place.flights)
      if (ours == number) place.client->cancel(there);
}

void LateClient::collect(Place& place) {
  while (auto end = place.client->next(0)) take_end(place, std::move(*end));
}

// What the container did not answer is another one's.
void LateClient::take_end(Place& place, End end) {
  const auto flight = place.flights.find(end.task);
  const std::uint64_t number = flight->second;
  const bool was_first = flight == place.flights.begin();
  place.flights.erase(flight);
  --in_flight_;
  Task& task = tasks_.at(number);
  --task.flights;
  task.runs += end.runs;
  if (const auto* order = std::get_if<Order>(&task.what);
      order != nullptr && was_first && place.client->on_cores() && end.outcome.outcome == ROTA_ACCEL_DONE)
    slow_.ended(order->submit.header, seconds_of_first(place), place.weight);
  place.since = steady_clock::now();
  if (end.outcome.outcome == ROTA_ACCEL_DEVICE_LOST) ++task.losses;
  const bool lost = end.outcome.outcome == ROTA_ACCEL_LEAVING || end.outcome.outcome == ROTA_ACCEL_DEVICE_LOST;
  if (lost && task.cancelled) end.outcome = {ROTA_ACCEL_CANCELLED, "it was cancelled"};
  const bool goes_on = lost && !task.cancelled && task.runs < kMostRuns && task.losses < kMostLosses;
  if (goes_on) {
    trouble_ = end.outcome.why;
    looks_ = {};
    place.rests = steady_clock::now() + kRest;
  } else if (!task.answer) {
    task.answer = std::move(end);
    cancel_flights(number);
  }
  if (task.flights > 0) return;
  if (task.answer) return report(number);
  task.again = false;
  waiting_.push_front(number);
}

void LateClient::report(std::uint64_t number) {
  Task& task = tasks_.at(number);
  End end = std::move(*task.answer);
  end.task = number;
  end.runs = task.runs;
  const auto* order = std::get_if<Order>(&task.what);
  if (order != nullptr && order->result.data() != nullptr && end.own) {  // a second run ended first
    end.result = order->result.first(std::min(order->result.size(), end.result.size()));
    std::copy_n(end.own.get(), end.result.size(), end.result.data());
    end.own.reset();
  }
  tasks_.erase(number);
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
    const std::uint64_t number = waiting_.front();
    waiting_.pop_front();
    give(*place, number);
  }
}

double LateClient::seconds_of_first(const Place& place) {
  return std::chrono::duration<double>(steady_clock::now() - place.since).count();
}

LateClient::Place* LateClient::idle_cores() {
  for (auto& [address, place] : places_)
    if (takes_tasks(place) && place.flights.empty() && place.client->on_cores()) return &place;
  return nullptr;
}

// What waits behind a slow task is as late as that.
void LateClient::run_again_what_is_slow() {
  if (!waiting_.empty()) return;
  for (auto& [address, place] : places_) {
    if (!place.client->on_cores()) continue;
    const double seconds = seconds_of_first(place);
    for (const auto& [there, number] : place.flights) {
      const Task& task = tasks_.at(number);
      const auto* order = std::get_if<Order>(&task.what);
      if (order == nullptr || task.again || task.answer || task.cancelled) continue;
      Place* const idle = slow_.is_slow(order->submit.header, seconds, place.weight) ? idle_cores() : nullptr;
      if (idle == nullptr) break;
      give(*idle, number);
    }
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

// A second run has memory of its own for the result: the first one may write to the caller's.
void LateClient::give(Place& place, std::uint64_t number) {
  Task& task = tasks_.at(number);
  task.again = task.flights > 0;
  const std::uint64_t there =
      std::visit(Overloaded{[&](Order order) {
                              if (task.again) order.result = {};
                              return place.client->submit(order);
                            },
                            [&](const AskState& ask) { return place.client->ask_state(ask.tag); }},
                 task.what);
  if (place.flights.empty()) place.since = steady_clock::now();
  place.flights[there] = number;
  ++task.flights;
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
