// Control groups: a folder of its own for each job in every hierarchy that may be written to (version 2, delegated to
// the service, or version 1), by which its memory is limited, its processors are fenced in and none of its processes is
// lost sight of. All of it is optional: what cannot be used is told once, as a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rota::local {

struct CgroupBases {
  std::vector<std::string> folders;  // of this service, one in each hierarchy; jobs get folders in them
  bool limits_memory = false;
  std::string warning;  // what is lacking, for people; empty: nothing
};

// Finds them below the cgroups of this process and makes them; `name` tells this service from others.
CgroupBases find_cgroups(const std::string& name);
void remove_bases(const CgroupBases& bases);  // those without jobs

// Makes a job's folder in a base, for these cores (none: all of the base's) and so much memory (0: no limit). False,
// and nothing is left of it, if that does not work.
bool make_cgroup(const std::string& folder, const std::vector<std::uint32_t>& cores, std::int64_t memory);
bool set_cores(const std::string& folder, const std::vector<std::uint32_t>& cores);
bool join_cgroup(const std::string& folder);  // the calling process
bool ran_out_of_memory(const std::vector<std::string>& folders);
void remove_cgroups(const std::vector<std::string>& folders);

std::string listed(const std::vector<std::uint32_t>& cores);  // "0,1,5"

}  // namespace rota::local
