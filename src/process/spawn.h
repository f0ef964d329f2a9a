// Starts a program beside this process, with no signal held back.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace rota::process {

struct Spawning {
  std::vector<std::string> words;           // the program and its arguments
  std::vector<std::pair<int, int>> files;   // descriptors of this process, and what they are there
  std::vector<std::string> variables = {};  // before those of this process
  bool searched = false;                    // the program is looked up in PATH
  // In a process group of its own, away from any terminal, with no other descriptors, and no signal is ignored.
  bool apart = false;
};

// 0: errno says why not.
pid_t spawn(const Spawning& what);

}  // namespace rota::process
