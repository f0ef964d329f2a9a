// The client of etcd, as the exchange uses it: a shared object (exchange/etcd/client_abi.h) that is opened when it is
// needed, and whose calls come on the thread of the loop. What each request and each call means stands there.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exchange/etcd/client_abi.h"

namespace rota::etcd {

struct Record {
  std::string key = {};
  std::string value = {};
  std::int64_t revision = 0;
  bool removed = false;
};
struct Condition {
  std::string key;
  std::int64_t revision = 0;
  bool differs = false;
};
struct Write {
  std::string key;
  std::string value = {};
  std::int64_t lease = 0;
  bool removes = false;
};
struct Step {
  std::vector<Condition> conditions = {};
  std::vector<Write> writes = {};
  std::string otherwise = {};
};
struct StepAnswer {
  bool done = false;
  bool found = false;
  Record otherwise = {};
};
enum class Outcome : std::uint8_t { done, refused, unknown };
struct BatchAnswer {
  Outcome outcome = Outcome::unknown;
  std::string why = {};
  std::int64_t revision = 0;
  bool held = false;
  std::vector<StepAnswer> steps = {};
};

inline constexpr std::size_t kMostSteps = 60;  // in one batch

// Receives what comes from etcd.
class ClientEvents {
 public:
  virtual ~ClientEvents() = default;
  virtual void committed(std::uint64_t request, const BatchAnswer& answer) = 0;
  virtual void granted(std::uint64_t request, Outcome outcome, const std::string& why, std::int64_t lease) = 0;
  // nothing: there is no such record, where the outcome is `done`
  virtual void got(std::uint64_t request, Outcome outcome, std::optional<Record> record) = 0;
  virtual void listed(std::int64_t revision, std::vector<Record> records, bool more) = 0;
  virtual void changed(std::int64_t revision, const std::vector<Record>& records) = 0;
  virtual void connection(const std::string& why) = 0;
};

struct ClientOptions {
  std::vector<std::string> endpoints;                      // HOST:PORT
  std::string authority = {}, certificate = {}, key = {};  // PEM; empty: without
  std::chrono::milliseconds patience{1500};
};

class Client {
 public:
  // Has its argument called on the thread of the loop, later, in the order in which it was asked; on any thread.
  using Post = std::function<void(std::function<void()>)>;

  // Fails with a sentence where the shared object is not there or does not fit, or the options make no sense. Events
  // come until the client is destroyed.
  static Result<std::unique_ptr<Client>> open(const ClientOptions& options, ClientEvents& events, Post post);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  void commit(std::uint64_t request, const std::vector<Condition>& conditions, const std::vector<Step>& steps);
  void grant(std::uint64_t request, std::int64_t seconds);
  void keep(std::int64_t lease);
  void get(std::uint64_t request, std::string_view key);
  void watch(std::string_view first, std::string_view end);

 private:
  struct Library;
  struct Receiver;
  Client(std::unique_ptr<Library> library, std::unique_ptr<Receiver> receiver);

  std::unique_ptr<Library> library_;
  std::unique_ptr<Receiver> receiver_;
  rota_etcd_client* client_ = nullptr;
};

}  // namespace rota::etcd
