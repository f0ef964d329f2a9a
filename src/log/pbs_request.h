// What a job of PBS asks for, as the Resource_List of its accounting records says it: of OpenPBS and PBS Professional
// in chunks (select=2:ncpus=8:mem=16gb:ngpus=1), of Torque and old PBS in nodes (nodes=2:ppn=8:gpus=1), and on machines
// of Cray in processes (mppwidth=64, mppnppn=4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/job_attributes.h"

namespace rota::log {

struct PbsRequest {
  std::int64_t processors = -1;      // -1: not told, as the others
  std::int64_t limit = -1;           // seconds
  std::int64_t memory = -1;          // bytes in all
  std::int64_t process_memory = -1;  // bytes for each processor (Torque's pmem)
  std::int64_t chunks = 0;           // of select, or nodes; 0: not told
  std::int64_t accelerators = 0;     // in all
  std::string accelerator_type;
  std::vector<NamedLicences> licences;
  std::string other;      // a resource that nodes may lack and Rota does not know; empty: none
  bool one_node = false;  // place=pack
  bool spread = false;    // each chunk on a node of its own: place=scatter, or nodes
  bool uneven = false;    // chunks of several kinds
  // For Cray's ALPS, which runs jobs on nodes that PBS does not know: processes, processors for each of them, and how
  // many go to a node. 0: not told.
  std::int64_t width = 0, depth = 0, per_node = 0;

  // Takes one entry, "ncpus" and its value. The error is a whole sentence without file and line.
  Result<void> read_resource(std::string_view name, std::string_view value);

 private:
  Result<void> take_select(std::string_view value, bool torque);
  void take_licence(std::string_view name, std::int64_t count);
  std::int64_t chunk_processors_ = 0, chunk_memory_ = 0, chunk_accelerators_ = 0;  // sums over all chunks
  friend Result<JobAttributes> attributes_of(const PbsRequest& request, std::int64_t hosts);
  friend std::int64_t processors_of(const PbsRequest& request);
};

std::int64_t processors_of(const PbsRequest& request);  // asked for; -1: not told
// For each node; `hosts` is how many it had, 0: not told. Fails where there are more accelerators than a node may have.
Result<JobAttributes> attributes_of(const PbsRequest& request, std::int64_t hosts);

// "96:00:00", "1:30" (minutes and seconds), "5400" or "2:00:00:00" as seconds.
Result<std::int64_t> parse_pbs_time(std::string_view text);
// "10gb", "2031040kb", "1024" (bytes), "2tw" (words of 8 bytes). At most 2^60.
Result<std::int64_t> parse_pbs_size(std::string_view text);

// What stands in exec_host or exec_vnode.
struct PbsPlace {
  std::int64_t processors = 0;
  std::int64_t hosts = 0;  // different ones
};
PbsPlace parse_exec_host(std::string_view text);   // "n1/0*8+n2/0*8", "n1/0+n1/1", "n1/0-7"
PbsPlace parse_exec_vnode(std::string_view text);  // "(n1:ncpus=8:mem=1gb)+(n2:ncpus=8)"

}  // namespace rota::log
