#include "etcd_client/watch_reader.h"

#include <utility>

#include "etcd_client/transaction.h"

namespace rota::etcd {

namespace pb = etcdserverpb;

namespace {

constexpr std::int64_t kRecordsInPage = 1000;
constexpr milliseconds kAgainAfterRefusal{1000};

}  // namespace

WatchReader::WatchReader(Connection& connection, const rota_etcd_calls& calls)
    : connection_(connection), calls_(calls) {
  connection_.on_move([this] { reopen(); });
}

void WatchReader::start(std::string first, std::string end) {
  first_ = std::move(first);
  end_ = std::move(end);
  list();
}

void WatchReader::list() {
  pages_.clear();
  revision_ = 0;
  read_page(first_);
}

void WatchReader::read_page(std::string from) {
  pb::RangeRequest request;
  request.set_key(from);
  request.set_range_end(end_);
  request.set_limit(kRecordsInPage);
  request.set_revision(revision_);
  connection_.call<pb::KV>(
      &pb::KV::Stub::AsyncRange, request,
      [this, from = std::move(from)](const Answer<pb::RangeResponse>& answer) { page_came(from, answer); });
}

void WatchReader::page_came(const std::string& from, const Answer<pb::RangeResponse>& answer) {
  ClientThread& thread = connection_.thread();
  const auto code = answer.status.error_code();
  if (code == grpc::StatusCode::OUT_OF_RANGE) return thread.after(kReopenAfter, [this] { list(); });  // compacted
  if (!answer.status.ok()) {
    if (answer.outcome == ROTA_ETCD_REFUSED) connection_.trouble_began(Trouble::watch, answer.why);
    const auto delay = answer.outcome == ROTA_ETCD_REFUSED ? kAgainAfterRefusal : kReopenAfter;
    return thread.after(delay, [this, from] { read_page(from); });
  }
  connection_.trouble_ended(Trouble::watch);
  if (pages_.empty()) revision_ = answer.response.header().revision();
  pages_.push_back(answer.response);
  const pb::RangeResponse& page = pages_.back();
  if (page.more() && !page.kvs().empty()) return read_page(page.kvs(page.kvs_size() - 1).key() + '\0');
  deliver_list();
  open();
}

// Only when it is complete: where etcd forgets the revision between two pages, all of them are void.
void WatchReader::deliver_list() {
  std::vector<rota_etcd_record> records;
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    records.clear();
    for (const pb::KeyValue& record : pages_[i].kvs()) records.push_back(record_of(record, false));
    calls_.listed(calls_.context, revision_, records.data(), records.size(), i + 1 < pages_.size() ? 1 : 0);
  }
  pages_ = {};
}

void WatchReader::open() {
  if (stream_) return;
  stream_ = Changes::open<pb::Watch>(connection_, &pb::Watch::Stub::AsyncWatch,
                                     [this](const pb::WatchResponse& response) { received(response); });
  pb::WatchRequest request;
  pb::WatchCreateRequest& create = *request.mutable_create_request();
  create.set_key(first_);
  create.set_range_end(end_);
  create.set_start_revision(revision_ + 1);
  create.set_fragment(true);
  stream_->write(std::move(request));
}

void WatchReader::reopen() {
  if (!stream_) return;
  std::exchange(stream_, nullptr)->drop();
  events_.clear();
  connection_.thread().after(kReopenAfter, [this] { open(); });
}

void WatchReader::received(const pb::WatchResponse& response) {
  if (response.canceled()) return cancelled(response);
  connection_.trouble_ended(Trouble::watch);
  events_.insert(events_.end(), response.events().begin(), response.events().end());
  if (!response.fragment()) deliver_events();
}

void WatchReader::cancelled(const pb::WatchResponse& response) {
  std::exchange(stream_, nullptr)->drop();
  events_.clear();
  if (response.compact_revision() > 0) return list();
  connection_.trouble_began(Trouble::watch, "etcd does not let this client watch: " + response.cancel_reason() + ".");
  connection_.thread().after(kAgainAfterRefusal, [this] { open(); });
}

void WatchReader::deliver_events() {
  const std::vector<pb::Event> events = std::exchange(events_, {});
  std::vector<rota_etcd_record> records;
  for (auto event = events.begin(); event != events.end();) {
    const std::int64_t revision = event->kv().mod_revision();
    records.clear();
    for (; event != events.end() && event->kv().mod_revision() == revision; ++event) {
      records.push_back(record_of(event->kv(), event->type() == pb::Event::DELETE));
    }
    if (revision <= revision_) continue;
    revision_ = revision;
    calls_.changed(calls_.context, revision, records.data(), records.size());
  }
}

}  // namespace rota::etcd
