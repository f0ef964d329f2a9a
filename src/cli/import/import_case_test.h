// A folder with what a small Slurm cluster has printed, and the import of it.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "cli/command.h"

namespace rota::cli {

class ImportTest : public testing::Test {
 protected:
  ImportTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "rota-import-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directory(folder_ / "saved");
    put("saved/config.txt", kConfig);
    put("saved/nodes.txt", "NodeName=n1 CPUTot=4 Weight=1\n");
    put("saved/partitions.txt", "PartitionName=batch Nodes=n1 Default=YES MaxTime=60\n");
    put("saved/sacct.txt", kNames + row("1", "batch"));
  }
  ~ImportTest() override { std::filesystem::remove_all(folder_); }

  static inline const std::string kConfig =
      "ClusterName = kea\nSchedulerType = sched/backfill\nSelectType = select/cons_tres\n"
      "SelectTypeParameters = CR_CPU\nSLURM_VERSION = 22.05.8\n";
  static inline const std::string kNames = "JobIDRaw|Partition|Submit|Start|End|ElapsedRaw|State|AllocCPUS\n";
  static std::string row(const std::string& id, const std::string& partition) {
    return fmt::format("{}|{}|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:15|10|COMPLETED|2\n", id,
                       partition);
  }
  std::string path(const std::string& name) const { return folder_ / name; }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

  // "" where it went well, else its sentence.
  std::string import(std::vector<std::string> more = {}, std::string from = "") const {
    CommandLine line;
    Action action;
    add_import(line.root(), action);
    std::vector<std::string> words{"import", "slurm", path("site"), "--from", from.empty() ? path("saved") : from};
    words.insert(words.end(), more.begin(), more.end());
    if (const auto parsed = line.parse(std::move(words)); !parsed) return parsed.error().text;
    testing::internal::CaptureStdout();
    const auto code = action();
    testing::internal::GetCapturedStdout();
    return code ? "" : code.error().message;
  }
  std::string whole_report() const { return read_file(path("site/report.txt")).value(); }
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  std::filesystem::path folder_;
};

}  // namespace rota::cli
