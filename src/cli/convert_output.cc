#include "cli/convert_output.h"

#include <array>

#include "log/json_batsim.h"

namespace rota::cli {
namespace {

constexpr const char* kLeftOut =
    "jobs of which more is known than SWF has fields for: left out; see --write-attributes";

constexpr const char* kLeftOutOfBatsim = "jobs of which more is known than Batsim has fields for: left out";

// All that is said of a job: the nodes and memory of its row too, where its attributes say nothing of these.
log::JobAttributes all_of(const log::SwfRow& row, const log::JobAttributes& attributes) {
  log::JobAttributes all = attributes;
  if (all.nodes == 0) all.nodes = row.nodes;
  if (all.memory == 0) all.memory = row.node_memory;
  return all;
}

class SwfOutput final : public ConvertOutput {
 public:
  SwfOutput(std::ostream& out, std::ostream* sidecar, log::ImportReport& report) : writer_(out), report_(report) {
    if (sidecar != nullptr) sidecar_.emplace(*sidecar);
  }

  void comment(std::string_view line) override {
    commented_ = true;
    writer_.comment(line);
  }

  void top(const log::LogTop& top) override {
    top_ = &top;
    if (!commented_) writer_.top(top);
    for (Names& names : names_) names.written = (top.*names.of).size();
  }

  Result<void> job(const log::SwfRow& row, const log::JobAttributes& attributes) override {
    for (Names& names : names_) {
      const log::NumberedNames& all = top_->*names.of;
      if (all.size() > names.written) writer_.names(names.key, all, names.written);
      names.written = all.size();
    }
    writer_.row(row);
    if (!sidecar_) {
      if (all_of(row, attributes) != log::JobAttributes{}) report_.note(kLeftOut, row.line);
      return {};
    }
    return sidecar_->row(row[log::SwfField::number], all_of(row, attributes));
  }

 private:
  struct Names {
    const char* key;
    log::NumberedNames log::LogTop::* of;
    std::size_t written = 0;
  };

  log::SwfWriter writer_;
  log::ImportReport& report_;
  std::optional<log::SidecarWriter> sidecar_;
  const log::LogTop* top_ = nullptr;
  bool commented_ = false;
  std::array<Names, 4> names_{{{"Queue", &log::LogTop::queues},
                               {"Partition", &log::LogTop::partitions},
                               {"User", &log::LogTop::users},
                               {"Group", &log::LogTop::groups}}};
};

class JsonOutput final : public ConvertOutput {
 public:
  explicit JsonOutput(std::ostream& out) : writer_(out) {}
  void comment(std::string_view /*line*/) override {}  // top() has what it says
  void top(const log::LogTop& top) override { writer_.top(top); }
  Result<void> job(const log::SwfRow& row, const log::JobAttributes& attributes) override {
    writer_.job(row, all_of(row, attributes));
    return {};
  }

 private:
  log::JsonLinesWriter writer_;
};

class BatsimOutput final : public ConvertOutput {
 public:
  BatsimOutput(std::ostream& out, log::ImportReport& report) : writer_(out), report_(report) {}
  void comment(std::string_view /*line*/) override {}
  void top(const log::LogTop& top) override { writer_.processors(top.processors); }
  Result<void> job(const log::SwfRow& row, const log::JobAttributes& attributes) override {
    if (all_of(row, attributes) != log::JobAttributes{}) report_.note(kLeftOutOfBatsim, row.line);
    writer_.job(row);
    return {};
  }

 private:
  log::BatsimWriter writer_;
  log::ImportReport& report_;
};

}  // namespace

std::unique_ptr<ConvertOutput> batsim_output(std::ostream& out, log::ImportReport& report) {
  return std::make_unique<BatsimOutput>(out, report);
}

std::unique_ptr<ConvertOutput> swf_output(std::ostream& out, std::ostream* sidecar, log::ImportReport& report) {
  return std::make_unique<SwfOutput>(out, sidecar, report);
}

std::unique_ptr<ConvertOutput> json_output(std::ostream& out) { return std::make_unique<JsonOutput>(out); }

}  // namespace rota::cli
