// rota reproduce STUDY: makes the figures of a published study again and says which agree.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <thread>

#include "base/text.h"
#include "cli/command.h"
#include "cli/grace_study.h"

namespace rota::cli {
namespace {

struct GraceFlags {
  GraceStudy study;
  bool json = false;
};

constexpr double kUnbounded = 1e300;

template <class... Values>
std::string text(const char* format, Values... values) {
  std::array<char, 256> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

// "77.7 ±2.1"; a line for what does not exist. Padded by hand: the sign has two bytes.
std::string with_margin(const Estimate& e, int digits, double scale) {
  if (e.count == 0) return text("%15s", "-");
  return text("%8.*f", digits, e.mean * scale) + " \u00b1" + text("%-5.*f", digits, e.margin * scale);
}

std::string line_of(const GraceRow& row) {
  return text("%5lld  %-24s", static_cast<long long>(row.jobs), row.policy.c_str()) + with_margin(row.makespan, 0, 1) +
         with_margin(row.utilization, 1, 100) + with_margin(row.response_ratio, 2, 1) +
         with_margin(row.completion, 1, 100) + with_margin(row.kills, 1, 1) + "\n";
}

std::string wanted(const GraceCell& cell) {
  if (cell.low < -kUnbounded) return text("at most %g", cell.high);
  if (cell.high > kUnbounded) return "above 0";
  return cell.low == cell.high ? text("%g", cell.low) : text("%g to %g", cell.low, cell.high);
}

std::string line_of(const GraceCell& cell) {
  return text("%-7s %-44s %8.2f   %-12s %s", cell.ok() ? "ok" : "MISSED", cell.claim.c_str(), cell.found,
              wanted(cell).c_str(), cell.paper.c_str()) +
         "\n";
}

std::string table_of(const GraceFindings& findings, std::int64_t seeds) {
  std::string out =
      "Linpack mix on 16 processors, means over " + grouped(seeds) + " seeds with 95 % confidence intervals\n";
  out += text("%5s  %-24s%15s%15s%15s%15s%15s\n", "jobs", "policy", "makespan s", "utilization %", "response ratio",
              "completion %", "kills");
  for (const GraceRow& row : findings.rows) out += line_of(row);
  out += text("\n%-7s %-44s %8s   %-12s %s\n", "", "mean over the sizes", "found", "wanted", "in the paper");
  for (const GraceCell& cell : findings.cells) out += line_of(cell);
  return out;
}

std::string json_of(const Estimate& e) {
  if (e.count == 0) return "null";
  return text(R"({"mean": %.9g, "margin": %.9g, "runs": %lld})", e.mean, e.margin, static_cast<long long>(e.count));
}

std::string json_bound(double bound) { return std::abs(bound) > kUnbounded ? "null" : text("%.9g", bound); }

std::string json_of(const GraceFindings& findings, std::int64_t seeds) {
  std::string out =
      text("{\n  \"study\": \"grace\",\n  \"seeds\": %lld,\n  \"rows\": [", static_cast<long long>(seeds));
  const char* separator = "\n";
  for (const GraceRow& r : findings.rows) {
    out +=
        separator +
        text(R"(    {"jobs": %lld, "policy": "%s", "makespan_s": )", static_cast<long long>(r.jobs), r.policy.c_str()) +
        json_of(r.makespan) + R"(, "utilization": )" + json_of(r.utilization) + R"(, "response_ratio": )" +
        json_of(r.response_ratio) + R"(, "backfill_completion": )" + json_of(r.completion) + R"(, "killed": )" +
        json_of(r.kills) + "}";
    separator = ",\n";
  }
  out += "\n  ],\n  \"cells\": [";
  separator = "\n";
  for (const GraceCell& c : findings.cells) {
    out += separator + text(R"(    {"claim": "%s", "found": )", c.claim.c_str()) +
           (c.found == c.found ? text("%.9g", c.found) : "null") + R"(, "low": )" + json_bound(c.low) +
           R"(, "high": )" + json_bound(c.high) +
           text(R"(, "paper": "%s", "ok": %s})", c.paper.c_str(), c.ok() ? "true" : "false");
    separator = ",\n";
  }
  return out + "\n  ]\n}\n";
}

Result<int> reproduce_grace(const GraceFlags& flags) {
  const auto findings = study_grace(flags.study);
  if (!findings) return std::unexpected(findings.error());
  std::cout << (flags.json ? json_of(*findings, flags.study.seeds) : table_of(*findings, flags.study.seeds));
  if (!std::cout.flush()) return fail("standard output could not be written to; is the disk full?");
  return std::all_of(findings->cells.begin(), findings->cells.end(), [](const GraceCell& c) { return c.ok(); })
             ? kDone
             : kFailed;
}

void add_grace(CLI::App& reproduce, Action& action) {
  auto flags = std::make_shared<GraceFlags>();
  flags->study.threads = std::max(1U, std::thread::hardware_concurrency());
  CLI::App* app = reproduce.add_subcommand(
      "grace", "RB_HAR: backfilled jobs that overrun go on when that harms nobody (Li and Lei 2018)");
  app->footer("Exit code 1: a figure is not where it should be.\n\nThe rules and the job mix: docs/reproduce.md.");
  app->add_option("--seeds", flags->study.seeds, "workloads of each size, with seeds 0, 1, 2, ...")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{100'000}))
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--sizes", flags->study.sizes, "jobs of a workload, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->type_name("N[,N...]")
      ->capture_default_str();
  app->add_flag("--json", flags->json, "print the figures as JSON");
  app->callback([&action, flags] { action = [flags] { return reproduce_grace(*flags); }; });
}

}  // namespace

void add_reproduce(CLI::App& app, Action& action) {
  CLI::App* reproduce = app.add_subcommand("reproduce", "make the figures of a published study again, and compare");
  reproduce->require_subcommand(1);
  reproduce->footer("Examples:\n  rota reproduce grace --seeds 10");
  add_grace(*reproduce, action);
}

}  // namespace rota::cli
