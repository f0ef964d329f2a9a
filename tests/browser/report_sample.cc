// report_sample KIND FILE.html: reports of made-up rehearsals, for the browser to open. KIND: few, many (300,000 jobs
// on 80,640 processors), hostile (names that try to break out of the page), nothing (no job ran, and no workload at
// all).
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "report/html.h"
#include "report/sample_test.h"

namespace rota::report {
namespace {

std::vector<Outcome> rehearsals(std::int64_t jobs, std::int64_t processors) {
  const auto source = sample_jobs(jobs, processors, 42);
  std::vector<Outcome> outcomes{rehearsed(source, processors, false), rehearsed(source, processors, true)};
  for (std::size_t i = 0; i < 1200; ++i) {
    const Job& job = outcomes[1].jobs[i % outcomes[1].jobs.size()];
    outcomes[1].grants.push_back({.job = job.spec.number,
                                  .at = job.end,
                                  .until = job.end + seconds(60),
                                  .beneficiary = job.spec.number + 1,
                                  .promise = job.end + seconds(90),
                                  .free = static_cast<std::int64_t>(i % 8),
                                  .needed = 4});
  }
  return outcomes;
}

std::vector<Outcome> sample(const std::string& kind) {
  if (kind == "many") return rehearsals(300'000, 80'640);
  if (kind == "nothing") {
    Outcome empty;
    empty.workload = "empty";
    empty.policy = "easy";
    return {empty};
  }
  std::vector<Outcome> outcomes = rehearsals(400, 64);
  outcomes[0].unix_start = outcomes[1].unix_start = 1'296'705'900;
  if (kind == "hostile") {
    const std::string name = "</script><script>document.title='taken'</script><!--<img src=x onerror=alert(1)>\xff";
    for (Outcome& outcome : outcomes) outcome.workload = outcome.policy = name;
    Outcome refused = outcomes[1];  // of another workload: one job, more than the cluster has
    refused.workload = "{{title}}";
    refused.jobs.resize(1);
    refused.jobs[0].state = JobState::rejected;
    outcomes.push_back(refused);
  }
  return outcomes;
}

}  // namespace
}  // namespace rota::report

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: report_sample few|many|hostile|nothing FILE.html\n", stderr);
    return 2;
  }
  std::ofstream out(argv[2], std::ios::binary);
  rota::report::write_html(out, rota::report::sample(argv[1]), {.title = argv[1], .version = "test", .command = ""});
  out.close();
  return out ? 0 : 1;
}
