// Leases: granted, and kept alive for as long as that is asked for and etcd knows them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include <etcd.grpc.pb.h>
#include "etcd_client/stream.h"

namespace rota::etcd {

class LeaseKeeper {
 public:
  LeaseKeeper(Connection& connection, const rota_etcd_calls& calls);

  void grant(std::uint64_t request, std::int64_t seconds);
  void keep(std::int64_t lease);

 private:
  using KeepAlive = Stream<etcdserverpb::LeaseKeepAliveRequest, etcdserverpb::LeaseKeepAliveResponse>;
  struct Lease {
    milliseconds interval{1000};             // a third of the time it was granted for
    Clock::time_point asked = Clock::now();  // for more time, or at first for the lease
    Clock::time_point kept_until = {};
    bool is_kept = false;     // until then
    bool is_waiting = false;  // for an answer to what was asked
  };

  void beat(std::int64_t lease);
  void ask(std::int64_t id, Lease& lease);
  void open();
  void reopen();
  void received(const etcdserverpb::LeaseKeepAliveResponse& response);

  Connection& connection_;
  const rota_etcd_calls& calls_;
  std::map<std::int64_t, Lease> leases_;
  std::shared_ptr<KeepAlive> stream_;
  std::size_t stream_endpoint_ = 0;
};

}  // namespace rota::etcd
