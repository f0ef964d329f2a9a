#include "accel/client/client_abi.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "accel/client/client.h"
#include "accel/client/late_client.h"

// The C interface over the client.
struct rota_accel_client {
  std::unique_ptr<rota::accel::TaskClient> client;
};

namespace {

void put(std::string_view text, char* into, std::size_t size) {
  if (size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(into, text.data(), length);
  into[length] = '\0';
}

std::chrono::milliseconds or_else(std::int64_t given, std::chrono::milliseconds otherwise) {
  constexpr std::int64_t kMost = 1'000'000'000;
  return given <= 0 ? otherwise : std::chrono::milliseconds(std::min(given, kMost));
}

}  // namespace

int rota_accel_client_abi(void) { return ROTA_ACCEL_CLIENT_ABI; }

rota_accel_client* rota_accel_open(const rota_accel_options* options, char* why, size_t size) {
  rota::accel::ClientOptions given;
  given.shown = options->address == nullptr ? "" : options->address;
  given.address = rota::accel::parse_address(given.shown);
  if (options->token != nullptr) given.token = options->token;
  given.patience = or_else(options->patience_ms, given.patience);
  given.give_up = or_else(options->give_up_ms, given.give_up);
  if (const auto* none = std::get_if<rota::accel::NoAddress>(&given.address)) {
    put(none->why, why, size);
    return nullptr;
  }
  if (given.token.size() > rota::accel::kMostToken) {
    put("a token has at most 256 bytes", why, size);
    return nullptr;
  }
  const auto* node = std::get_if<rota::accel::NodeAddress>(&given.address);
  if (node != nullptr && node->late)
    return new rota_accel_client{std::make_unique<rota::accel::LateClient>(std::move(given))};
  return new rota_accel_client{std::make_unique<rota::accel::Client>(std::move(given))};
}

void rota_accel_close(rota_accel_client* client) { delete client; }

uint64_t rota_accel_submit(rota_accel_client* client, const rota_accel_order* order) {
  const std::string_view name = order->operation == nullptr ? "" : order->operation;
  if (name.empty() || name.size() >= ROTA_ACCEL_NAME_BYTES) return 0;
  rota::accel::Order given;
  std::ranges::copy(name, given.submit.header.operation);
  std::ranges::copy(order->parameters, given.submit.header.parameters);
  given.submit.header.payload_bytes = order->payload_bytes;
  given.submit.limit_ms = order->limit_ms;
  given.payload = {static_cast<const std::byte*>(order->payload), order->payload_bytes};
  given.result = {static_cast<std::byte*>(order->result), order->result == nullptr ? 0 : order->result_room};
  given.tag = order->tag;
  return client->client->submit(given);
}

uint64_t rota_accel_ask_state(rota_accel_client* client, void* tag) { return client->client->ask_state(tag); }
void rota_accel_cancel(rota_accel_client* client, uint64_t task) { client->client->cancel(task); }
int rota_accel_event(rota_accel_client* client) { return client->client->event_file(); }

int rota_accel_next(rota_accel_client* client, rota_accel_end* end, int timeout_ms) {
  auto next = client->client->next(timeout_ms);
  if (!next) return 0;
  end->task = next->task;
  end->tag = next->tag;
  end->outcome = next->outcome.outcome;
  end->runs = next->runs;
  end->result = next->outcome.outcome == ROTA_ACCEL_DONE ? next->result.data() : nullptr;
  end->result_bytes = next->result.size();
  put(next->outcome.why, end->why, sizeof end->why);
  static_cast<void>(next->own.release());  // the caller's now
  return 1;
}

void rota_accel_free(void* result) { std::free(result); }
