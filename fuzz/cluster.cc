// Whatever a cluster file holds, reading it gives a machine whose parts agree, or a sentence.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/text.h"
#include "site/cluster_file.h"

namespace {

void check_machine(const rota::Machine& machine) {
  std::int64_t processors = 0;
  for (const rota::Node& node : machine.nodes) {
    CHECK(!node.name.empty() && node.processors >= 1 && node.memory >= 0, "a node can be used");
    CHECK(machine.partitions.empty() || !node.partitions.empty(), "every node is in a partition");
    processors += node.processors;
  }
  CHECK(machine.processors > 0 && (machine.nodes.empty() || processors == machine.processors),
        "processors are counted");
  CHECK(machine.partitions.empty() != machine.default_partition.valid(),
        "there is a default where there are partitions");
  for (const rota::Partition& partition : machine.partitions) {
    CHECK(!partition.name.empty() && partition.processors > 0, "a partition can be used");
    CHECK(partition.default_time <= partition.max_time && partition.default_time.count() > 0, "its times agree");
    CHECK(machine.nodes.empty() || partition.min_nodes <= partition.nodes.size(), "some job can run in it");
    for (const rota::NodeId node : partition.nodes) CHECK(node.value < machine.nodes.size(), "its nodes are there");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto machine = rota::site::parse_cluster(text, "fuzz.toml", 2000);
  if (machine) {
    check_machine(*machine);
  } else {
    const std::string& said = machine.error().message;
    CHECK(said.starts_with("fuzz.toml") && rota::is_utf8(said), "it says where, in text");
    CHECK(said.ends_with('.') || said.ends_with('?'), "it says why, in a sentence");
  }
  return 0;
}
