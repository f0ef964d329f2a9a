// Names of output files with what differs from job to job: %j id, %A id of the array (else the job's), %a index, %x
// name, %u user, %N first node, %r restarts, %% a percent sign; with a number between, padded with zeros: %4j. Of
// Slurm's also %J, as %j; %b, the last digit of the index; %n and %t, 0, and %s, "batch": node, task and step of a
// script.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rota::serve {

struct PatternWords {
  std::int64_t job = 0;
  std::int64_t array = 0;
  std::int64_t index = 0;
  std::string name = {};
  std::string user = {};
  std::string node = {};
  std::int32_t restarts = 0;
};

// Fails with a sentence where nothing stands for a sign behind "%" in one of them.
Result<void> check_patterns(std::initializer_list<std::string_view> patterns);
// Whether each task of an array has a file of its own.
bool tells_tasks_apart(std::string_view pattern);

// A name in it becomes part of one file name: slashes become underscores, and it never is "." or "..". What is no such
// letter stays as it is.
std::string fill_in(std::string_view pattern, const PatternWords& words);
// Only what is known at a job's home, numbers, name and user: the rest stays a pattern.
std::string fill_in_at_home(std::string_view pattern, const PatternWords& words);

}  // namespace rota::serve
