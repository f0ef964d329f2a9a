#include "accel/client/late_client.h"

#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <ranges>
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
constexpr std::uint32_t kMostLosses = 3;  // of devices with a task, which may be what they die of

bool is_loss(int outcome) { return outcome == ROTA_ACCEL_LEAVING || outcome == ROTA_ACCEL_DEVICE_LOST; }

// Another container may do it better.
bool is_of_container(int outcome) {
  return is_loss(outcome) || outcome == ROTA_ACCEL_UNSUPPORTED || outcome == ROTA_ACCEL_NO_MEMORY;
}

// No other run can do it better.
bool is_final(int outcome) {
  return outcome == ROTA_ACCEL_DONE || outcome == ROTA_ACCEL_BAD_TASK || outcome == ROTA_ACCEL_NUMERIC;
}

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
    for (auto& [address, place] : places_) collect(address, place);
    if (!idle() && steady_clock::now() >= looks_) look_for_containers();
    end_what_none_can_do();
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
                            waiting_[{}].push_back(request.number);
                          }},
               request.what);
  }
}

void LateClient::cancel_task(std::uint64_t number) {
  const auto task = tasks_.find(number);
  if (task == tasks_.end()) return;
  if (task->second.flights == 0) {
    std::erase(waiting_.at(task->second.left_out), number);
    std::vector<End> ends(1);
    ends.front().task = number;
    if (const auto* order = std::get_if<Order>(&task->second.what)) ends.front().tag = order->tag;
    ends.front().outcome = {ROTA_ACCEL_CANCELLED, "it was cancelled"};
    tasks_.erase(task);
    return ends_.put(std::move(ends));
  }
  task->second.cancelled = true;
  cancel_flights(number);
}

void LateClient::cancel_flights(std::uint64_t number) {
  for (auto& [address, place] : places_)
    for (const auto& [there, ours] : place.flights)
      if (ours == number) place.client->cancel(there);
}

void LateClient::collect(const std::string& address, Place& place) {
  while (auto end = place.client->next(0)) take_end(address, place, std::move(*end));
}

void LateClient::take_end(const std::string& address, Place& place, End end) {
  const int outcome = end.outcome.outcome;
  const auto flight = place.flights.find(end.task);
  if (flight == place.flights.end()) {  // its state
    place.asked = outcome == ROTA_ACCEL_DONE;
    return;
  }
  const std::uint64_t number = flight->second;
  const bool was_first = flight == place.flights.begin();
  place.flights.erase(flight);
  --in_flight_;
  Task& task = tasks_.at(number);
  --task.flights;
  task.runs += end.runs;
  task.tries += std::max(end.runs, 1U);
  if (const auto* order = std::get_if<Order>(&task.what);
      order != nullptr && was_first && place.client->on_cores() && outcome == ROTA_ACCEL_DONE)
    slow_.ended(order->submit.header, seconds_of_first(place), place.weight);
  const SteadyTime now = steady_clock::now();
  if (was_first) place.since = now;
  if (outcome == ROTA_ACCEL_DEVICE_LOST) ++task.losses;
  if (is_loss(outcome)) {
    trouble_ = end.outcome.why;
    looks_ = {};
    place.rests = now + kRest;
    task.lost_at = now;
  }
  if (task.cancelled && is_loss(outcome)) end.outcome = {ROTA_ACCEL_CANCELLED, "it was cancelled"};
  if (is_of_container(outcome) && !task.cancelled && task.tries < kMostRuns && task.losses < kMostLosses) {
    task.left_out[address] = outcome;
    task.failure = std::move(end);
  } else if (!task.answer || (outcome == ROTA_ACCEL_DONE && task.answer->outcome.outcome != ROTA_ACCEL_DONE)) {
    task.answer = std::move(end);
    if (is_final(outcome)) cancel_flights(number);
  }
  if (task.flights > 0) return;
  if (task.answer) return report(number);
  waiting_[task.left_out].push_front(number);
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

// A container that was lost may come back: its tasks wait for that as long as for any.
void LateClient::end_what_none_can_do() {
  const SteadyTime now = steady_clock::now();
  for (auto& [left_out, numbers] : waiting_) {
    const auto may_take = [&](const auto& one) { return one.second.listed && !left_out.contains(one.first); };
    if (left_out.empty() || std::ranges::any_of(places_, may_take)) continue;
    for (const std::uint64_t number : std::exchange(numbers, {})) {
      Task& task = tasks_.at(number);
      std::erase_if(task.left_out, [](const auto& one) { return is_loss(one.second); });
      const bool comes_back = task.lost_at && now - *task.lost_at < options_.give_up;
      if (task.left_out != left_out || comes_back) {
        waiting_[task.left_out].push_back(number);
      } else {
        task.answer = std::move(task.failure);
        report(number);
      }
    }
  }
}

// Those first that have fewer containers left.
void LateClient::hand_out() {
  for (auto& [left_out, numbers] : waiting_ | std::views::reverse) {
    while (!numbers.empty()) {
      Place* const place = fastest_with_room(left_out);
      if (place == nullptr) break;
      const std::uint64_t number = numbers.front();
      numbers.pop_front();
      give(*place, number);
    }
  }
  std::erase_if(waiting_, [](const auto& group) { return group.second.empty(); });
}

std::size_t LateClient::waiting() const {
  std::size_t count = 0;
  for (const auto& [left_out, numbers] : waiting_) count += numbers.size();
  return count;
}

double LateClient::seconds_of_first(const Place& place) {
  return std::chrono::duration<double>(steady_clock::now() - place.since).count();
}

// One that the client has had no connection with is asked first; its answer ends the wait.
LateClient::Place* LateClient::idle_cores(const LeftOut& left_out) {
  for (auto& [address, place] : places_) {
    if (!takes_tasks(place) || !place.flights.empty() || left_out.contains(address)) continue;
    if (place.client->on_cores()) return &place;
    if (!std::exchange(place.asked, true)) place.client->ask_state(nullptr);
  }
  return nullptr;
}

// What waits behind a slow task is as late as that.
void LateClient::run_again_what_is_slow() {
  if (waiting() > 0) return;
  for (auto& [address, place] : places_) {
    if (!place.client->on_cores()) continue;
    const double seconds = seconds_of_first(place);
    for (const auto& [there, number] : place.flights) {
      const Task& task = tasks_.at(number);
      const auto* order = std::get_if<Order>(&task.what);
      if (order == nullptr || task.flights > 1 || task.answer || task.cancelled) continue;
      Place* const idle =
          slow_.is_slow(order->submit.header, seconds, place.weight) ? idle_cores(task.left_out) : nullptr;
      if (idle == nullptr) break;
      give(*idle, number);
    }
  }
}

bool LateClient::takes_tasks(const Place& place) { return place.listed && steady_clock::now() >= place.rests; }

// The one that would be done first with one task more, if that is not too late: (k + 1) / w <= R / W + 1 / w(fastest).
LateClient::Place* LateClient::fastest_with_room(const LeftOut& left_out) {
  double together = 0;
  double fastest = 0;
  for (const auto& [address, place] : places_) {
    if (!takes_tasks(place) || left_out.contains(address)) continue;
    together += static_cast<double>(place.weight);
    fastest = std::max(fastest, static_cast<double>(place.weight));
  }
  if (together <= 0) return nullptr;
  const double latest = static_cast<double>(waiting() + in_flight_) / together + 1 / fastest;
  Place* best = nullptr;
  double first = 0;
  for (auto& [address, place] : places_) {
    if (!takes_tasks(place) || left_out.contains(address) || place.flights.size() >= kMostThere) continue;
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
  const bool second = task.flights > 0;
  const std::uint64_t there =
      std::visit(Overloaded{[&](Order order) {
                              if (second) order.result = {};
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
  if (waiting() == 0 || in_flight_ > 0) return none_since_.reset();
  if (!none_since_) none_since_ = now;
  if (now - *none_since_ < options_.give_up) return;
  std::vector<End> ends;
  for (const auto& [left_out, numbers] : std::exchange(waiting_, {})) {
    for (const std::uint64_t number : numbers) {
      End& end = ends.emplace_back();
      end.task = number;
      end.tag = std::visit(Overloaded{[](const auto& what) { return what.tag; }}, tasks_.at(number).what);
      end.runs = tasks_.at(number).runs;
      end.outcome = {ROTA_ACCEL_LEAVING, "no container accepts tasks at " + options_.shown + ": " + trouble_};
      tasks_.erase(number);
    }
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
