// Control groups: a folder of its own for each job in every hierarchy that may be written to (version 2, delegated to
// the service, or version 1), by which its memory is limited, its processors are fenced in and none of its processes is
// lost sight of. All of it is optional: what cannot be used is told once, as a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rota::local {

struct CgroupBases {
  struct Base {
    std::string folder;  // of this service; jobs get folders in it
    bool memory = false;
    bool cores = false;
  };
  std::vector<Base> bases;  // one in each hierarchy
  std::string warning;      // what is lacking, for people; empty: nothing

  bool limits_memory() const;
  // The folders that a job of this name is to get: only where something is to be limited, as they are dear to make.
  std::vector<std::string> for_job(const std::string& name, bool memory, bool cores) const;
};

// Finds them below the cgroups of this process and makes them; `name` tells this service from others.
CgroupBases find_cgroups(const std::string& name);
void remove_bases(const CgroupBases& bases);  // those without jobs

// Makes a job's folder in a base, for these cores (none: all of the base's) and so much memory (0: no limit). False,
// and nothing is left of it, if that does not work.
bool make_cgroup(const std::string& folder, const std::vector<std::uint32_t>& cores, std::int64_t memory);
bool set_cores(const std::string& folder, const std::vector<std::uint32_t>& cores);
bool join_cgroup(const std::string& folder);  // the calling process
// Whether it fences cores in and does nothing else: neither counts what its processes use nor limits their memory.
bool only_fences(const std::string& folder);
struct CgroupUse {
  std::int64_t user = 0;    // milliseconds of processor time, as in all that follows of what was ever in there;
  std::int64_t system = 0;  // 0: that is not counted
  std::int64_t memory = 0;  // bytes, the most at one time, what is kept of files included; 0: that is not counted
};
CgroupUse use_in(const std::vector<std::string>& folders);
bool ran_out_of_memory(const std::vector<std::string>& folders);
// Removes the groups in the bases that are empty, but those `in_use`: a killed supervisor has not removed its own.
void remove_left(const CgroupBases& bases, const std::vector<std::string>& in_use);
void remove_cgroups(const std::vector<std::string>& folders);

std::string listed(const std::vector<std::uint32_t>& cores);  // "0,1,5"

}  // namespace rota::local
