#include "exchange/etcd/client.h"

#include <dlfcn.h>

#include <array>
#include <utility>

#include "base/file.h"

namespace rota::etcd {
namespace {

rota_etcd_text text_of(std::string_view text) { return {text.data(), text.size()}; }
std::string string_of(rota_etcd_text text) { return {text.data, text.size}; }

Record record_of(const rota_etcd_record& record) {
  return {string_of(record.key), string_of(record.value), record.revision, record.removed != 0};
}

std::vector<Record> records_of(const rota_etcd_record* records, std::size_t count) {
  std::vector<Record> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) all.push_back(record_of(records[i]));
  return all;
}

Outcome outcome_of(rota_etcd_outcome outcome) {
  if (outcome == ROTA_ETCD_DONE) return Outcome::done;
  return outcome == ROTA_ETCD_REFUSED ? Outcome::refused : Outcome::unknown;
}

std::vector<rota_etcd_condition> said(const std::vector<Condition>& conditions) {
  std::vector<rota_etcd_condition> all;
  for (const Condition& c : conditions) all.push_back({text_of(c.key), c.revision, c.differs ? 1 : 0});
  return all;
}

}  // namespace

struct Client::Library {
  explicit Library(void* opened) : handle(opened) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { ::dlclose(handle); }

  template <class Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(::dlsym(handle, name));
    return function != nullptr;
  }
  bool find_all() {
    return find(abi, "rota_etcd_abi") && abi() == ROTA_ETCD_ABI && find(open, "rota_etcd_open") &&
           find(close, "rota_etcd_close") && find(commit, "rota_etcd_commit") && find(grant, "rota_etcd_grant") &&
           find(keep, "rota_etcd_keep") && find(get, "rota_etcd_get") && find(watch, "rota_etcd_watch");
  }

  void* handle;
  decltype(rota_etcd_abi)* abi = nullptr;
  decltype(rota_etcd_open)* open = nullptr;
  decltype(rota_etcd_close)* close = nullptr;
  decltype(rota_etcd_commit)* commit = nullptr;
  decltype(rota_etcd_grant)* grant = nullptr;
  decltype(rota_etcd_keep)* keep = nullptr;
  decltype(rota_etcd_get)* get = nullptr;
  decltype(rota_etcd_watch)* watch = nullptr;
};

// Copies what a call brings, and has it done on the loop; nothing once `ends` is true, which the loop alone sets.
struct Client::Receiver {
  ClientEvents& events;
  Post post;
  std::shared_ptr<bool> ends = std::make_shared<bool>(false);

  template <class Call>
  void later(Call call) const {
    post([ended = ends, call = std::move(call)]() mutable {
      if (!*ended) call();
    });
  }
  static Receiver& of(void* context) { return *static_cast<Receiver*>(context); }

  static void committed(void* context, std::uint64_t request, const rota_etcd_batch_answer* given) {
    BatchAnswer answer{outcome_of(given->outcome), string_of(given->why), given->revision, given->held != 0};
    for (std::size_t i = 0; i < given->answer_count; ++i) {
      const rota_etcd_step_answer& step = given->answers[i];
      answer.steps.push_back({step.done != 0, step.found != 0, step.found != 0 ? record_of(step.otherwise) : Record{}});
    }
    Receiver& self = of(context);
    self.later([&to = self.events, request, answer = std::move(answer)] { to.committed(request, answer); });
  }
  static void granted(void* context, std::uint64_t request, rota_etcd_outcome outcome, rota_etcd_text why,
                      std::int64_t lease) {
    Receiver& self = of(context);
    self.later([&to = self.events, request, outcome, why = string_of(why), lease] {
      to.granted(request, outcome_of(outcome), why, lease);
    });
  }
  static void got(void* context, std::uint64_t request, rota_etcd_outcome outcome, rota_etcd_text /*why*/,
                  const rota_etcd_record* found) {
    Receiver& self = of(context);
    std::optional<Record> record;
    if (found != nullptr) record = record_of(*found);
    self.later([&to = self.events, request, outcome, record = std::move(record)]() mutable {
      to.got(request, outcome_of(outcome), std::move(record));
    });
  }
  static void listed(void* context, std::int64_t revision, const rota_etcd_record* records, std::size_t count,
                     int more) {
    Receiver& self = of(context);
    self.later([&to = self.events, revision, all = records_of(records, count), more]() mutable {
      to.listed(revision, std::move(all), more != 0);
    });
  }
  static void changed(void* context, std::int64_t revision, const rota_etcd_record* records, std::size_t count) {
    Receiver& self = of(context);
    self.later([&to = self.events, revision, all = records_of(records, count)] { to.changed(revision, all); });
  }
  static void connection(void* context, rota_etcd_text why) {
    Receiver& self = of(context);
    self.later([&to = self.events, why = string_of(why)] { to.connection(why); });
  }
};

Client::Client(std::unique_ptr<Library> library, std::unique_ptr<Receiver> receiver)
    : library_(std::move(library)), receiver_(std::move(receiver)) {}

Client::~Client() {
  *receiver_->ends = true;
  if (client_ != nullptr) library_->close(client_);
}

Result<std::unique_ptr<Client>> Client::open(const ClientOptions& options, ClientEvents& events, Post post) {
  void* handle = nullptr;
  for (const std::string& place : places_of_shared_object("librota-etcd.so")) {
    if (handle == nullptr) handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr)
    return fail("the client of etcd cannot be opened ({}); docs/sites.md says where it comes from.", ::dlerror());
  auto library = std::make_unique<Library>(handle);
  if (!library->find_all())
    return fail("the client of etcd is of another version than this program; take both from one build.");
  std::unique_ptr<Client> client(
      new Client(std::move(library), std::unique_ptr<Receiver>(new Receiver{events, std::move(post)})));
  std::vector<rota_etcd_text> endpoints;
  for (const std::string& endpoint : options.endpoints) endpoints.push_back(text_of(endpoint));
  const rota_etcd_options given{endpoints.data(),           endpoints.size(),
                                text_of(options.authority), text_of(options.certificate),
                                text_of(options.key),       options.patience.count()};
  const rota_etcd_calls calls{client->receiver_.get(), &Receiver::committed, &Receiver::granted,   &Receiver::got,
                              &Receiver::listed,       &Receiver::changed,   &Receiver::connection};
  std::array<char, 512> why{};
  client->client_ = client->library_->open(&given, &calls, why.data(), why.size());
  if (client->client_ == nullptr) return fail("the client of etcd cannot begin: {}", why.data());
  return client;
}

void Client::commit(std::uint64_t request, const std::vector<Condition>& conditions, const std::vector<Step>& steps) {
  std::vector<std::vector<rota_etcd_condition>> their_conditions;
  std::vector<std::vector<rota_etcd_write>> their_writes;
  std::vector<rota_etcd_step> all;
  for (const Step& step : steps) {
    their_conditions.push_back(said(step.conditions));
    std::vector<rota_etcd_write>& writes = their_writes.emplace_back();
    for (const Write& w : step.writes) writes.push_back({text_of(w.key), text_of(w.value), w.lease, w.removes ? 1 : 0});
    all.push_back({their_conditions.back().data(), their_conditions.back().size(), writes.data(), writes.size(),
                   text_of(step.otherwise)});
  }
  const auto own = said(conditions);
  const rota_etcd_batch batch{own.data(), own.size(), all.data(), all.size()};
  library_->commit(client_, request, &batch);
}

void Client::grant(std::uint64_t request, std::int64_t seconds) { library_->grant(client_, request, seconds); }
void Client::keep(std::int64_t lease) { library_->keep(client_, lease); }
void Client::get(std::uint64_t request, std::string_view key) { library_->get(client_, request, text_of(key)); }
void Client::watch(std::string_view first, std::string_view end) {
  library_->watch(client_, text_of(first), text_of(end));
}

}  // namespace rota::etcd
