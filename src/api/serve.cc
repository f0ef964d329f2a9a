#include "api/serve.h"

#include <grp.h>
#include <malloc.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <functional>
#include <optional>

#include "api/http_server.h"
#include "api/listen_address.h"
#include "api/page_door.h"
#include "api/rehearser.h"
#include "api/routes.h"
#include "api/systemd.h"
#include "api/tokens.h"
#include "base/open_files.h"
#include "base/text.h"
#include "process/worker.h"
#include "store/writer_lock.h"

namespace rota::api {
namespace {

std::string user_name(std::uint32_t uid) {
  const passwd* user = ::getpwuid(uid);
  return user ? user->pw_name : std::to_string(uid);
}

// The folder that the socket is in, where it is not there yet: for its owner only, or for all where all may connect.
void make_folder_of(const std::string& path, bool for_all_users) {
  const auto slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) ::mkdir(path.substr(0, slash).c_str(), for_all_users ? 0755 : 0700);
}

std::string summary(const serve::Service& service) {
  const serve::ServiceStatus status = service.answers().status();
  return fmt::format("{} running, {} waiting, policy {}", amount(static_cast<std::int64_t>(status.running), "job"),
                     grouped(static_cast<std::int64_t>(status.waiting + status.barred)), service.policy());
}

// The user that a token, a session of the page or the code for one stands for, as this computer knows them today.
std::optional<Bearer> bearer_of(const serve::Service& service, const Tokens& tokens, PageDoor& door,
                                std::string_view text) {
  const serve::RealLoop& clock = service.answers().clock();
  if (auto bearer = door.bearer(text, clock.now())) {
    serve::Caller& caller = bearer->caller;
    caller.operates = caller.operates && service.operators().include(caller.uid);
    return user_name(caller.uid) == caller.user ? bearer : std::nullopt;
  }
  const std::int64_t now = clock.unix_milliseconds(clock.now()) / 1000;
  const Token* token = tokens.shown(text, now);
  if (token == nullptr) return std::nullopt;
  const passwd* user = ::getpwuid(token->uid);
  if (user == nullptr || token->user != user->pw_name) return std::nullopt;  // gone, or the number is another user's
  return Bearer{{token->uid, user->pw_gid, token->user, token->operates && service.operators().include(token->uid)},
                token->read_only};
}

// Listens beside its socket where the configuration says so, and gives the addresses.
Result<std::vector<std::string>> listen_remote(HttpServer& server, const site::ServiceSettings& settings) {
  if (settings.listen.empty()) return std::vector<std::string>{};
  std::unique_ptr<TlsFiles> tls;
  if (!settings.tls_key.empty()) {
    tls = TRY(TlsFiles::open(settings.tls_certificate, settings.tls_key));
  }
  return server.listen_remote(settings.listen, std::move(tls));
}

// Listens for browsers on this computer, and gives the address.
Result<std::string> listen_for_page(HttpServer& server, const ServeOptions& options) {
  auto address = server.listen_for_page();
  if (address)
    options.say(fmt::format("answers at {} too, to browsers by `rota page` and to who has a token", *address));
  return address;
}

// Left to itself the threshold rises with what is freed, and what large requests and tables that have grown leave
// behind stays here as holes: a quarter of all, with a million jobs.
void give_back_large_memory() {
  constexpr int kOwnPages = 1 << 20;  // bytes, from which on memory that is freed goes back to the system
  ::mallopt(M_MMAP_THRESHOLD, kOwnPages);
}

// Where few files may be open, some are for others, and for jobs.
ServerOptions door_of(const ServeOptions& options, int listening) {
  ServerOptions door{.path = options.socket, .for_all_users = ::geteuid() == 0, .listening = listening};
  const std::size_t files = most_open_files();
  if (files / 8 >= door.most_of_one) return door;
  door.most_of_one = door.most_strangers_of_one = std::max<std::size_t>(files / 8, 4);
  door.most_strangers = door.most_remote = std::max<std::size_t>(files / 4, 4);
  options.say(
      fmt::format("warning: the service may have only {} files open, of which each job that runs and everybody who "
                  "asks takes one; raise the limit (`ulimit -n`, or LimitNOFILE= of its unit)",
                  files));
  return door;
}

}  // namespace

Result<void> serve_until_stopped(const ServeOptions& options) {
  const bool root = ::geteuid() == 0;
  // Nothing is opened by right of a group that only root happens to be in.
  if (root && ::setgroups(0, nullptr) != 0) return fail("groups cannot be left, which root has to be able to.");
  give_back_large_memory();
  boost::asio::io_context io(1);
  auto socket = TRY(socket_handed_over());
  make_folder_of(options.socket, root);
  raise_open_files();  // every connection and every job that runs takes one
  // From here on a client that connects waits while the state is being read, instead of being refused.
  auto server = HttpServer::open(io, door_of(options, socket));
  serve::ServiceOptions own = options.service;
  own.say = options.say;
  if (!server) {  // nothing is begun that no client could reach; but which process has the state is said first
    const std::string database = own.state_folder + "/rota.db";
    if (::access(database.c_str(), F_OK) != 0) return std::unexpected(server.error());
    auto free = store::WriterLock::take(database);
    return std::unexpected(free ? server.error() : free.error());
  }
  std::optional<Tokens> tokens;
  PageDoor door([&] { return listen_for_page(**server, options); });
  std::vector<std::string> remote;
  own.before_acting = [&](const site::ServiceSettings& settings) -> Result<void> {
    tokens = TRY(Tokens::open(own.state_folder));
    remote = TRY(listen_remote(**server, settings));
    if (!remote.empty()) door.stands_at(browser_address(settings.listen, remote.front()));
    return {};
  };
  auto service = TRY(serve::Service::open(io, own));
  const auto caller_of = [&service](std::uint32_t uid, std::uint32_t gid) {
    return serve::Caller{uid, gid, user_name(uid), service->operators().include(uid)};
  };
  process::Worker worker(io);
  Rehearser rehearser(io);
  (*server)->answer(
      caller_of, [&](std::string_view text) { return bearer_of(*service, *tokens, door, text); },
      routes({*service, *tokens, worker, rehearser, door}));
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  // Stops behind the answers to clients that wait for the outcome of a change; another may always come with one more.
  int patience = 10;
  const std::function<void()> stop = [&] {
    if (service->health() && service->uncommitted() && --patience > 0)
      return service->when_durable([&](const Result<void>&) { boost::asio::post(io, stop); });
    (*server)->stop();
    service->stop();
    io.stop();
  };
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (!error) stop();
  });
  service->on_failure([&] { boost::asio::post(io, stop); });
  if (!service->health()) return service->health();
  for (const std::string& address : remote) options.say(fmt::format("answers at {} too, to who has a token", address));
  options.say("ready: " + summary(*service));
  for (const std::string& warning : service->answers().warnings()) options.say("warning: " + warning);
  ServiceNotes notes(io, [&] { return summary(*service); });
  notes.ready();
  options.ready();
  io.run();
  notes.stopping();
  if (!service->health()) return service->health();
  options.say("stopped: " + summary(*service));
  return {};
}

}  // namespace rota::api
