// A service over a fresh state in memory, for targets that ask it something: the real one in all but its engine, which
// starts nothing. What it is asked comes from a fuzzer and names commands, and these must not run.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "api/page_door.h"
#include "api/rehearser.h"
#include "api/routes.h"
#include "api/tokens.h"
#include "base/check.h"
#include "process/worker.h"
#include "serve/idle_engine_test.h"

namespace rota::fuzz {

// An empty folder, gone with this.
class Folder {
 public:
  Folder() {
    std::string name =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm/rota-fuzz-XXXXXX" : "/tmp/rota-fuzz-XXXXXX";
    CHECK(::mkdtemp(name.data()) != nullptr, "a folder can be made");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class ServedState {
 public:
  ServedState() : worker_(io_), rehearser_(io_), tokens_(read_tokens()) {
    std::ofstream(folder_.path() + "/rota.toml") << kConfiguration;
    auto service = serve::Service::open(io_, {.engine = serve::idle_engine(),
                                              .state_folder = folder_.path() + "/state",
                                              .configuration = folder_.path() + "/rota.toml",
                                              .policy = {},
                                              .socket = folder_.path() + "/socket",
                                              .version = "fuzz"});
    CHECK(service.has_value(), "a fresh state is served");
    service_ = std::move(*service);
    handler_ = api::routes({*service_, tokens_, worker_, rehearser_, door_});
  }
  ~ServedState() { service_->stop(); }

  boost::asio::io_context& io() { return io_; }
  void soon(std::function<void()> call) { boost::asio::post(io_, std::move(call)); }
  const api::Handler& handler() const { return handler_; }

  static serve::Caller caller(bool operates) {
    return operates ? serve::Caller{0, 0, "root", true} : serve::Caller{65534, 65534, "nobody", false};
  }

  // Lets it work until that is so, and a little longer for what comes behind.
  void work_until(const std::function<bool()>& done) {
    constexpr int kTurns = 1000;
    constexpr int kTurnsBehind = 64;
    for (int turn = 0; !done(); ++turn) {
      CHECK(turn < kTurns, "everybody is answered");
      io_.run_one_for(std::chrono::milliseconds(10));
    }
    for (int turn = 0; turn < kTurnsBehind && io_.poll_one() > 0; ++turn) {
    }
    CHECK(service_->health().has_value(), "the service goes on");
  }

  // The one for the next input: a new one from time to time, so that none grows without an end.
  static ServedState& next() {
    constexpr int kInputs = 500;
    static std::unique_ptr<ServedState> state;
    static int inputs = 0;
    if (!state || ++inputs % kInputs == 0) {
      ::signal(SIGCHLD, SIG_IGN);
      ::signal(SIGPIPE, SIG_IGN);
      state.reset();
      state = std::make_unique<ServedState>();
    }
    return *state;
  }

 private:
  static constexpr const char* kConfiguration =
      "name = \"fuzz\"\nlicences = \"solver:2\"\n[[nodes]]\nnames = \"n[1-3]\"\nprocessors = 2\nmemory = \"1G\"\n"
      "[[partitions]]\nname = \"short\"\nnodes = \"n[1-2]\"\nmax_time = \"1h\"\ndefault = true\n"
      "[[partitions]]\nname = \"all\"\nnodes = \"n[1-3]\"\n[service]\nmax_array = 50\nmax_jobs = 1000\n";

  api::Tokens read_tokens() {
    auto tokens = api::Tokens::open(folder_.path());
    CHECK(tokens.has_value(), "no tokens are no trouble");
    return std::move(*tokens);
  }

  Folder folder_;
  boost::asio::io_context io_;
  process::Worker worker_;
  api::Rehearser rehearser_;
  api::PageDoor door_{[] { return fail("nothing is opened here."); }};
  api::Tokens tokens_;
  std::unique_ptr<serve::Service> service_;
  api::Handler handler_;
};

}  // namespace rota::fuzz
