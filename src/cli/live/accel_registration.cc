#include "cli/live/accel_registration.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "base/json_bytes.h"
#include "base/text.h"
#include "cli/live/accel.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{10};  // with the service
constexpr std::int64_t kOwnPatience = 5000;    // milliseconds with the container

AccelClient client_of(const AccelRegistration::Options& options) {
  std::array<char, 256> why{};
  const rota_accel_options own{options.asked_at.c_str(), options.token.c_str(), kOwnPatience, kOwnPatience};
  return AccelClient(rota_accel_open(&own, why.data(), why.size()));
}

// What the container says of itself, without this client; nothing where it does not answer.
std::optional<Json> own_state(const AccelRegistration::Options& options) {
  const AccelClient client = client_of(options);
  if (!client) return std::nullopt;
  rota_accel_ask_state(client.get(), nullptr);
  rota_accel_end end{};
  rota_accel_next(client.get(), &end, -1);
  if (end.outcome != ROTA_ACCEL_DONE) return std::nullopt;
  Json state = json_from<Json>(std::string_view(static_cast<const char*>(end.result), end.result_bytes));
  rota_accel_free(end.result);
  if (!state.is_object()) return std::nullopt;
  state["clients"] = std::max<std::int64_t>(0, static_cast<std::int64_t>(number_of(state, "clients")) - 1);
  return state;
}

// Seconds of an LU factorization; nothing where it cannot do that.
std::optional<double> time_of_lu(rota_accel_client* client, std::int64_t n) {
  const rota_accel_order order{.operation = "lu",
                               .parameters = {n, 1, 1, 0, 0, 0},
                               .payload = nullptr,
                               .payload_bytes = 0,
                               .result = nullptr,
                               .result_room = 0,
                               .limit_ms = 0,
                               .tag = nullptr};
  const auto begin = steady_clock::now();
  rota_accel_submit(client, &order);
  rota_accel_end end{};
  rota_accel_next(client, &end, -1);
  rota_accel_free(end.result);
  if (end.outcome != ROTA_ACCEL_DONE) return std::nullopt;
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

// Thousand million operations a second of LU, to two digits: what is as fast is to have the same weight.
std::int64_t measured_weight(const AccelRegistration::Options& options) {
  constexpr std::int64_t kOrder = 1000;
  constexpr int kRuns = 4;
  const AccelClient client = client_of(options);
  std::optional<double> best;
  for (int i = 0; i < kRuns && client; ++i) {
    const auto time = time_of_lu(client.get(), kOrder);
    if (!time) break;
    best = best ? std::min(*best, *time) : *time;
  }
  if (!best) {
    remark(
        "rota: the container has no operation `lu` to measure it by, and counts with weight 1; --weight sets another.");
    return 1;
  }
  const double rate = 2.0 / 3 * std::pow(static_cast<double>(kOrder), 3) / *best / 1e9;
  const double step = std::pow(10.0, std::max(0.0, std::floor(std::log10(rate)) - 1));
  return std::max<std::int64_t>(1, std::llround(rate / step) * std::llround(step));
}

}  // namespace

AccelRegistration::AccelRegistration(Options options, Result<ServiceAddress> service)
    : options_(std::move(options)), client_(std::move(service)), replaced_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  client_.answers_within(kPatience);
}

Result<std::unique_ptr<AccelRegistration>> AccelRegistration::begin(Options options, Result<ServiceAddress> service) {
  if (!service) return std::unexpected(service.error());
  if (options.weight == 0) options.weight = measured_weight(options);
  std::unique_ptr<AccelRegistration> registration(new AccelRegistration(std::move(options), std::move(service)));
  const Beat first = registration->beat();
  if (first.refused) return fail(first.sentence);
  if (first.sentence.empty()) remark("rota: the service has the container of node " + registration->name());
  registration->report(first);
  registration->thread_ = std::thread([&of = *registration] { of.run(); });
  return registration;
}

AccelRegistration::~AccelRegistration() {
  leave();
  if (thread_.joinable()) thread_.join();
}

void AccelRegistration::leave() {
  const std::lock_guard lock(mutex_);
  leaves_ = true;
  changed_.notify_all();
}

std::string AccelRegistration::name() const {
  return options_.device == 0 ? options_.node : fmt::format("{}, device {}", options_.node, options_.device);
}

bool AccelRegistration::leaves_after(Duration pause) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(pause.count()), [this] { return leaves_; });
}

void AccelRegistration::run() {
  constexpr unsigned kConflict = 409;
  while (!leaves_after(options_.period)) {
    const Beat last = beat();
    report(last);
    if (last.status != kConflict) continue;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(replaced_.get(), &one, sizeof one);
    return;
  }
  if (epoch_.empty()) return;
  const auto left =
      client_.exchange({.verb = "DELETE",
                        .target = "/v1/accelerators/" + percent_encoded(options_.node) + "?epoch=" + epoch_,
                        .body = {},
                        .key = {}});
  if (!left) remark("rota: " + left.error().message);
}

AccelRegistration::Beat AccelRegistration::beat() {
  auto state = own_state(options_);
  if (!state) return {false, 0, "the container does not answer its own process, and the service is not told of it."};
  epoch_ = text_of(*state, "epoch");
  Json body{{"device", options_.device},
            {"address", options_.address},
            {"epoch", epoch_},
            {"weight", options_.weight},
            {"period", to_seconds(options_.period)}};
  if (!options_.token.empty()) body["token"] = options_.token;
  body["state"] = std::move(*state);
  const auto answer = client_.exchange({.verb = "PUT",
                                        .target = "/v1/accelerators/" + percent_encoded(options_.node),
                                        .body = json_text(body),
                                        .key = {}});
  if (!answer) return {false, 0, answer.error().message};
  constexpr unsigned kServerErrors = 500;
  if (answer->status < 300) return {false, answer->status, ""};
  std::string detail = text_of(json_from<Json>(answer->body), "detail");
  if (detail.empty()) detail = fmt::format("the service answers with HTTP status {} and no reason.", answer->status);
  return {answer->status < kServerErrors, answer->status, std::move(detail)};
}

void AccelRegistration::report(const Beat& beat) {
  if (beat.sentence == trouble_) return;
  remark("rota: " +
         (beat.sentence.empty() ? "the service knows the container of node " + name() + " again." : beat.sentence));
  trouble_ = beat.sentence;
}

}  // namespace rota::cli
