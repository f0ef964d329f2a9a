// The nodes of a Slurm cluster, from what `scontrol show node` prints to the terms of a cluster file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "site/slurm_records.h"

namespace rota::site {

// What Slurm says and a cluster file cannot, as sentences for people, each told once with how many it is about.
class SlurmRemarks {
 public:
  explicit SlurmRemarks(bool names = true) : names_(names) {}  // false: tells how many and not which
  bool names() const { return names_; }
  void left_out(const std::string& what, std::string_view of);  // `of`: a node or partition that it is about
  void guessed(const std::string& what, std::string_view of);
  std::vector<std::string> left_out() const { return sentences(left_out_); }
  std::vector<std::string> guessed() const { return sentences(guessed_); }
  const std::map<std::string, std::vector<std::string>>& left_out_of() const { return left_out_; }  // names by what

 private:
  using About = std::map<std::string, std::vector<std::string>>;
  std::vector<std::string> sentences(const About& about) const;
  bool names_;
  About left_out_, guessed_;
};

struct SlurmNode {
  std::string name;
  std::int64_t weight = 1;
  std::int64_t processors = 1;
  std::int64_t memory = 0;  // bytes; 0: not told
  std::int64_t accelerators = 0;
  std::string accelerator_type;  // empty: not told
  std::vector<std::string> features;

  bool alike(const SlurmNode& other) const;  // all but the name
};

// In the order in which Slurm gives them to jobs: by weight, and as they were printed.
Result<std::vector<SlurmNode>> nodes_of_slurm(const std::vector<SlurmRecord>& records, bool memory_counts,
                                              SlurmRemarks& remarks);

}  // namespace rota::site
