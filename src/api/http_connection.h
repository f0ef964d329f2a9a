// One connection of the HTTP server: request by request, or a stream until it goes. The same over a Unix socket, over
// TCP and over TLS.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/http_server.h"
#include "api/turns.h"
#include "api/wire.h"

namespace rota::api {

class Connection {
 public:
  virtual ~Connection() = default;
  virtual void begin() = 0;
  // Between requests at once, else behind the answer.
  virtual void stop() = 0;
  // At once.
  virtual void drop() = 0;
};

// The user or the address at the other end.
struct Peer {
  std::optional<serve::Caller> caller;  // as the kernel says; nothing: each request has to say it with a token
  std::string key;                      // its user or its address, of which there is a limited number
  bool page_port = false;               // it came by the port that was opened for browsers on this computer
};

// What all connections share. It outlives them.
class Connections {
 public:
  explicit Connections(ServerOptions asked) : options(std::move(asked)) {}

  // False: there are too many of this peer. By TCP it is a stranger at first; where there are too many strangers, the
  // oldest is dropped for it.
  bool admit(const std::shared_ptr<Connection>& connection, const Peer& peer);
  // It has shown a token of this user for the first time, and counts as that user's from then on, which is put into
  // `peer`: one address may be that of many users. False: there are too many that have.
  bool known(const std::shared_ptr<Connection>& connection, Peer& peer, std::uint32_t uid);
  void let_go(const std::shared_ptr<Connection>& connection, const Peer& peer);
  // A large request may be read now, and is under way as long as what this gives is held, which may outlive this;
  // nothing: there are enough of this user or address, or in all.
  std::shared_ptr<const void> begin_large(const std::string& asker, bool operates);
  // Whether a large answer of so many bytes may go out now; end_answer() when it has. One that `must` go out is
  // counted, and never refused.
  bool begin_answer(const std::string& peer, std::size_t bytes, bool must);
  void end_answer(const std::string& peer, std::size_t bytes);
  void stop();

  ServerOptions options;
  Handler handler;
  BearerOf bearer_of;
  bool stopping = false;
  Turns turns{std::chrono::milliseconds(2)};  // small ones that come together are still made durable together

 private:
  struct Stranger {
    std::shared_ptr<Connection> connection;
    std::string peer;
  };
  void make_room_for_stranger(const std::string& peer);

  std::set<std::shared_ptr<Connection>> all_;
  std::list<Stranger> strangers_;          // that have shown no token, the oldest first
  std::map<std::string, std::size_t> of_;  // by peer, of all others
  std::size_t remote_ = 0;                 // of these
  std::shared_ptr<std::multiset<std::string>> large_ = std::make_shared<std::multiset<std::string>>();
  std::size_t answering_ = 0;                   // bytes
  std::map<std::string, std::size_t> answers_;  // the same by peer
};

std::shared_ptr<Connection> http_connection(std::shared_ptr<Wire> wire, Connections& all, Peer peer);

}  // namespace rota::api
