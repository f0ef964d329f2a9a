// What a recorded profile is made of: logs read from text, and rehearsed on counted processors under the policies that
// people run most. No time is measured here. Usage: rota_training FOLDER, for a log to be written and read again.
#include <cstdio>
#include <fstream>
#include <string>

#include "engine/sim/rehearsal.h"
#include "generate/generate.h"
#include "log/log.h"

namespace rota {
namespace {

class Jobs final : public sim::Source {
 public:
  explicit Jobs(const log::Workload& workload) : workload_(workload) {}
  bool next(sim::Arrival& arrival) override {
    if (next_ == workload_.jobs.size()) return false;
    arrival = {workload_.jobs[next_], workload_.run_times[next_]};
    ++next_;
    return true;
  }

 private:
  const log::Workload& workload_;
  std::size_t next_ = 0;
};

class Nobody final : public JobSink {
  void job_gone(JobId, const Job&) override {}
};

Result<void> rehearse(const log::Workload& workload, std::string_view policy, std::int64_t processors,
                      const Machine* machine = nullptr) {
  const auto chain = Chain::parse(policy);
  if (!chain) return std::unexpected(chain.error());
  Jobs jobs(workload);
  Nobody nobody;
  sim::RehearsalOptions how;
  how.processors = processors;
  how.machine = how.engine.metered = machine;
  return sim::Rehearsal(how, *chain, jobs, nobody).run();
}

// So many processors on nodes of four that can sleep.
Machine nodes(std::int64_t processors) {
  Machine machine;
  machine.processors = processors / 4 * 4;
  for (std::int64_t i = 0; i < processors / 4; ++i) {
    Node& node = machine.nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.processors = 4;
    node.power.idle = 100'000;
  }
  machine.racks.emplace_back();
  return machine;
}

Result<log::Workload> through_a_file(generate::Generator& generator, const std::string& path) {
  const auto recipe = generator.recipe();
  if (!recipe) return std::unexpected(recipe.error());
  {
    std::ofstream out(path);
    generate::write_generated(out, *recipe);
  }
  return log::read_log(path, {});
}

// Two machines for the same jobs: one that is large enough for them, and a smaller one with a deep queue.
Result<void> train(const std::string& folder) {
  for (const auto& generator : generate::all_generators()) {
    if (generator->model() != "lublin" && generator->model() != "poisson") continue;
    const auto workload = through_a_file(*generator, folder + "/training.swf");
    if (!workload) return std::unexpected(workload.error());
    const Machine machine = nodes(workload->processors);
    for (const char* policy : {"easy", "easy+power=demand"}) {
      if (auto done = rehearse(*workload, policy, machine.processors, &machine); !done) return done;
    }
    for (const char* policy : {"easy", "easy", "easy++", "fcfs", "rb-har"}) {
      for (const std::int64_t percent : {100, 90}) {
        if (auto done = rehearse(*workload, policy, workload->processors * percent / 100); !done) return done;
      }
    }
  }
  return {};
}

}  // namespace
}  // namespace rota

int main(int argc, char** argv) {
  const auto done = rota::train(argc > 1 ? argv[1] : ".");
  if (!done) std::fprintf(stderr, "rota_training: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
