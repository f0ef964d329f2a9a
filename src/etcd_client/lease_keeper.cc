#include "etcd_client/lease_keeper.h"

#include <algorithm>
#include <string>
#include <utility>

namespace rota::etcd {

namespace pb = etcdserverpb;

namespace {

milliseconds third_of(std::int64_t seconds) { return std::max(milliseconds{seconds * 1000 / 3}, milliseconds{100}); }

}  // namespace

LeaseKeeper::LeaseKeeper(Connection& connection, const rota_etcd_calls& calls)
    : connection_(connection), calls_(calls) {
  connection_.on_move([this] { reopen(); });
}

void LeaseKeeper::grant(std::uint64_t request, std::int64_t seconds) {
  pb::LeaseGrantRequest wanted;
  wanted.set_ttl(seconds);
  const auto asked = Clock::now();
  connection_.call<pb::Lease>(
      &pb::Lease::Stub::AsyncLeaseGrant, wanted, [this, request, asked](const Answer<pb::LeaseGrantResponse>& answer) {
        const std::int64_t lease = answer.response.id();
        if (answer.outcome == ROTA_ETCD_DONE) {
          leases_[lease] = {.interval = third_of(answer.response.ttl()), .asked = asked};
        }
        calls_.granted(calls_.context, request, answer.outcome, {answer.why.data(), answer.why.size()}, lease);
      });
}

// A program that does nothing any more does not ask for it, and loses the lease.
void LeaseKeeper::keep(std::int64_t id) {
  Lease& lease = leases_[id];
  lease.kept_until = Clock::now() + 2 * lease.interval;
  if (!std::exchange(lease.is_kept, true)) beat(id);
}

// Twice in each interval: an answer that has not come by half of it will not come in time, and there must be time for
// the other members.
void LeaseKeeper::beat(std::int64_t id) {
  const auto found = leases_.find(id);
  if (found == leases_.end()) return;
  Lease& lease = found->second;
  if (Clock::now() > lease.kept_until) {
    lease.is_kept = false;
    return;
  }
  const milliseconds half = lease.interval / 2;
  connection_.thread().after(half, [this, id] { beat(id); });
  if (!stream_) return open();
  const auto since = Clock::now() - lease.asked;
  if (!lease.is_waiting && since >= lease.interval - half / 2) return ask(id, lease);
  if (!lease.is_waiting || since < half * 3 / 4) return;
  connection_.failed(stream_endpoint_, "a lease was not renewed in " + std::to_string(half.count()) + " ms");
}

void LeaseKeeper::ask(std::int64_t id, Lease& lease) {
  pb::LeaseKeepAliveRequest request;
  request.set_id(id);
  lease.asked = Clock::now();
  lease.is_waiting = true;
  stream_->write(std::move(request));
}

void LeaseKeeper::open() {
  if (stream_ || std::ranges::none_of(leases_, [](const auto& lease) { return lease.second.is_kept; })) return;
  stream_endpoint_ = connection_.endpoint();
  stream_ = KeepAlive::open<pb::Lease>(connection_, &pb::Lease::Stub::AsyncLeaseKeepAlive,
                                       [this](const pb::LeaseKeepAliveResponse& response) { received(response); });
  for (auto& [id, lease] : leases_) {
    if (lease.is_kept) ask(id, lease);
  }
}

void LeaseKeeper::reopen() {
  if (!stream_) return;
  std::exchange(stream_, nullptr)->drop();
  for (auto& [id, lease] : leases_) lease.is_waiting = false;
  connection_.thread().after(kReopenAfter, [this] { open(); });
}

void LeaseKeeper::received(const pb::LeaseKeepAliveResponse& response) {
  const auto found = leases_.find(response.id());
  if (found == leases_.end()) return;
  found->second.is_waiting = false;
  if (response.ttl() > 0) {
    found->second.interval = third_of(response.ttl());
    return;
  }
  leases_.erase(found);
}

}  // namespace rota::etcd
