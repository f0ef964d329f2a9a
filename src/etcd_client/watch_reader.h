// Everything under one prefix: listed in pages at one revision, then watched from the next one on, over as many streams
// as it takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <etcd.grpc.pb.h>
#include "etcd_client/stream.h"

namespace rota::etcd {

class WatchReader {
 public:
  WatchReader(Connection& connection, const rota_etcd_calls& calls);

  void start(std::string first, std::string end);

 private:
  using Changes = Stream<etcdserverpb::WatchRequest, etcdserverpb::WatchResponse>;

  void list();
  void read_page(std::string from);
  void page_came(const std::string& from, const Answer<etcdserverpb::RangeResponse>& answer);
  void deliver_list();
  void open();
  void reopen();
  void received(const etcdserverpb::WatchResponse& response);
  void cancelled(const etcdserverpb::WatchResponse& response);
  void deliver_events();

  Connection& connection_;
  const rota_etcd_calls& calls_;
  std::string first_, end_;    // the keys lie between them, or are the first
  std::int64_t revision_ = 0;  // delivered last; while pages come, theirs; 0: none
  std::vector<etcdserverpb::RangeResponse> pages_;
  std::shared_ptr<Changes> stream_;
  std::vector<etcdserverpb::Event> events_;  // a response that comes in fragments
};

}  // namespace rota::etcd
