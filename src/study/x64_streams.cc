#include "study/x64_streams.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "log/gzip.h"
#include "report/formatted.h"

// The files as they are, each between two symbols.
#define ROTA_EMBED(symbol, file)                                                                  \
  __asm__(".section .rodata\n.global " #symbol "\n" #symbol ":\n.incbin \"" ROTA_STREAMS "/" file \
          "\"\n.global " #symbol "_end\n" #symbol "_end:\n.byte 0\n.previous\n")
ROTA_EMBED(rota_stream_skipping, "skipping.gz");
ROTA_EMBED(rota_stream_strict, "strict.gz");

extern "C" {
extern const char rota_stream_skipping;
extern const char rota_stream_skipping_end;
extern const char rota_stream_strict;
extern const char rota_stream_strict_end;
}

namespace rota::study {
namespace {

constexpr std::uint32_t kProcessorsPerNode = 8;

Result<log::Workload> read_stream(std::string_view packed, const std::string& name) {
  log::GzipReader reader(packed, name);
  std::string text;
  while (!reader.done()) {
    TRY(reader.append_to(text));
  }
  log::Workload workload;
  workload.name = name;
  JobSpec job;
  job.limit = seconds(3600);
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() != 3) continue;  // behind the last line end
    ++job.number;
    job.submit += seconds(parse_integer(fields[0]).value());
    job.processors = kProcessorsPerNode * static_cast<std::uint32_t>(parse_integer(fields[2]).value());
    workload.jobs.push_back(job);
    workload.run_times.push_back(seconds(parse_integer(fields[1]).value()));
  }
  return workload;
}

}  // namespace

Result<log::Workload> x64_stream(X64Stream stream) {
  if (stream == X64Stream::skipping) {
    return read_stream({&rota_stream_skipping, &rota_stream_skipping_end}, "x64-blades-pf");
  }
  return read_stream({&rota_stream_strict, &rota_stream_strict_end}, "x64-blades-pc");
}

std::shared_ptr<const Machine> x64_machine(std::int64_t nodes) {
  Machine machine;
  machine.name = "x64_blades";
  machine.racks = {""};
  Partition partition;
  partition.name = "x64_blades";
  partition.max_time = seconds(3600);
  partition.default_time = seconds(3600);
  partition.min_nodes = 2;
  partition.max_nodes = 64;
  for (std::int64_t i = 0; i < nodes; ++i) {
    Node node;
    node.name = report::formatted("n%03lld", static_cast<long long>(i + 1));
    node.processors = 8;
    node.partitions = {PartitionId{0}};
    node.power.boot = seconds(300);
    machine.nodes.push_back(node);
    partition.nodes.push_back(NodeId{static_cast<std::uint32_t>(i)});
  }
  machine.processors = partition.processors = 8 * nodes;
  machine.partitions.push_back(partition);
  machine.default_partition = PartitionId{0};
  return std::make_shared<const Machine>(std::move(machine));
}

std::string x64_cluster_text(std::int64_t nodes) {
  const std::string names = report::formatted("\"n[001-%03lld]\"\n", static_cast<long long>(nodes));
  return fmt::format(
      "name = \"x64_blades\"\n\n[[nodes]]\nnames = {}processors = 8\nboot_time = \"5m\"\n\n[[partitions]]\nname = "
      "\"x64_blades\"\nnodes = {}default = true\nmax_time = \"1h\"\ndefault_time = \"1h\"\nmin_nodes = 2\nmax_nodes = "
      "64\n",
      names, names);
}

}  // namespace rota::study
