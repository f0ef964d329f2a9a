// A job that waits to be told to go on, while a process dies beside it.
#pragma once

#include <gtest/gtest.h>

#include <sys/types.h>

#include <fstream>
#include <string>

#include "engine/local/desk_test.h"
#include "engine/local/processes.h"
#include "process/process_table.h"

namespace rota::local {

inline constexpr const char* kUntilGo = "echo $$ >> pid; while [ ! -e go ]; do sleep 0.01; done; echo end >> out";

class LocalRestartTest : public testing::Test {
 protected:
  LocalRestartTest() { desk_.open(); }
  void go() const { std::ofstream(desk_.work() + "/go") << "go"; }
  pid_t job_pid() const { return std::stoi(desk_.file("pid")); }
  pid_t supervisor() const { return process::look_at(job_pid()).value().parent; }
  bool gone(pid_t pid) {
    return desk_.wait([&] {
      const auto process = process::look_at(pid);
      return !process || process->zombie;
    });
  }
  Desk desk_;
};

}  // namespace rota::local
