#include "report/summary_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/comparison.h"
#include "report/verdict.h"

namespace rota::report {
namespace {

using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json power_json(const PowerUse& p) {
  Json json;
  json["work_share"] = p.share(p.work);
  json["idle_share"] = p.share(p.idle);
  json["off_share"] = p.share(p.off);
  json["energy_kwh"] = number(p.used());
  json["always_on_kwh"] = p.energy < 0 ? Json(nullptr) : Json(PowerUse::kilowatt_hours(p.always_on));
  json["jobs_kwh"] = p.energy < 0 ? Json(nullptr) : Json(PowerUse::kilowatt_hours(p.jobs));
  json["saved_kwh"] = number(p.saved());
  json["cost"] = number(p.cost);
  json["always_on_cost"] = number(p.always_on_cost);
  json["saved_cost"] = number(p.saved_cost());
  json["co2_kg"] = number(p.co2_kilograms());
  json["cycles"] = p.cycles;
  json["cycles_per_node_day"] = p.cycles_per_node_day();
  json["cycles_of_one_node_at_most"] = p.most_cycles;
  json["failed_boots"] = p.failed_boots;
  json["switched_in_a_minute_at_most"] = p.most_switched;
  json["step_in_a_minute_at_most_kw"] =
      p.largest_step < 0 ? Json(nullptr) : Json(static_cast<double>(p.largest_step) * 1e-6);
  for (const LoadUse& load : p.loads) {
    Json row{{"looks", load.looks}, {"fragments_mean", load.fragments}};
    row["partition"] = load.partition.empty() ? Json(nullptr) : Json(load.partition);
    row["mean"] = std::isfinite(load.mean) ? Json(load.mean) : Json(nullptr);
    row["most"] = std::isfinite(load.most) ? Json(load.most) : Json(nullptr);
    json["loads"].push_back(std::move(row));
  }
  return json;
}

Json tasks_json(const TaskUse& t) {
  Json json;
  json["jobs"] = t.jobs;
  json["done"] = t.done();
  json["on_cpus"] = t.on_cpu;
  json["on_own_accelerators"] = t.local;
  json["on_remote_accelerators"] = t.remote;
  json["redone"] = t.redone;
  json["remote_share"] = t.remote_share();
  json["accelerators"] = t.accelerators;
  json["accelerator_use"] = t.use();
  json["bytes_moved"] = t.bytes;
  json["bound"] = t.bound;
  json["rebound"] = t.rebound;
  json["checks"] = t.checks;
  return json;
}

Json trust_json(const Trust& trust) {
  return {{"jobs", trust.jobs},
          {"wait_mean_ratio", number(trust.ratio())},
          {"wait_correlation", number(trust.correlation)}};
}

Json intervals_json(const std::vector<Interval>& intervals) {
  Json all = Json::array();
  for (const Interval& interval : intervals) {
    Json json{{"figure", interval.figure},
              {"mean", interval.mean.mean},
              {"margin", interval.mean.margin},
              {"copies", interval.mean.count}};
    if (interval.difference) {
      json["difference"] = interval.difference->mean;
      json["difference_margin"] = interval.difference->margin;
      json["noise"] = interval.noise();
    }
    all.push_back(std::move(json));
  }
  return all;
}

Json drawn_json(const Drawn& drawn) {
  const auto bound = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  return {{"value", bound(drawn.value)}, {"low", bound(drawn.low)}, {"high", bound(drawn.high)}};
}

// Figures over weeks that are drawn anew, and by how much they are better than those of the first policy that has some.
Json weeks_json(const Summary& s, const Summary& first) {
  Json figures = Json::object();
  for (const Rule& rule : rules()) {
    Json& into = figures[rule.name] = drawn_json(drawn(rule, *s.weeks));
    if (&s != &first && s.weeks->size() == first.weeks->size())
      into["better_by"] = drawn_json(drawn_gain(rule, *first.weeks, *s.weeks));
  }
  return {{"blocks", s.weeks->size()}, {"told", s.weeks_told}, {"figures", std::move(figures)}};
}

Json exchanged_json(const Exchanged& e) {
  return {{"jobs_in", e.jobs_in},       {"jobs_out", e.jobs_out}, {"inputs_in", e.inputs_in},
          {"inputs_out", e.inputs_out}, {"bytes_in", e.bytes_in}, {"bytes_out", e.bytes_out}};
}

void set_waits(const Summary& s, Json& json) {
  json["wait_mean_s"] = number(s.wait_mean);
  json["wait_median_s"] = number(s.wait_median);
  json["wait_p95_s"] = number(s.wait_p95);
  json["wait_max_s"] = number(s.wait_max);
}

void set_service(const Summary& s, Json& json) {
  json["rejected_jobs"] = s.rejected;
  json["unfinished_jobs"] = s.unfinished;
  json["makespan_s"] = to_seconds(s.makespan);
  json["utilization"] = number(s.utilization);
  if (s.accelerators_used) json["accelerator_utilization"] = *s.accelerators_used;
  if (s.memory_used) json["memory_utilization"] = *s.memory_used;
  set_waits(s, json);
  json["bounded_slowdown_mean"] = number(s.bounded_slowdown);
  json["response_ratio_mean"] = number(s.response_ratio);
}

// For all jobs, or for those of one party.
void set_dispatches(const Summary& s, bool of_all, Json& json) {
  const auto tell = [&](const char* name, auto value) {
    json[name] = s.counts_dispatches ? Json(value) : Json(nullptr);
  };
  tell("backfilled_starts", s.backfilled_starts);
  if (of_all) json["backfill_completion"] = number(s.backfill_completion);
  tell("killed_dispatches", s.killed);
  tell("preempted_dispatches", s.preempted);
  tell("migrations", s.migrations);
  if (of_all) tell("lost_work_processor_s", s.lost_work);
  tell("timed_out_jobs", s.timed_out);
  tell("delayed_jobs", s.delayed);
}

Json site_json(const Summary& s) {
  Json json;
  json["site"] = s.site;
  json["processors"] = s.processors;
  json["jobs"] = s.jobs;
  json["rejected_jobs"] = s.rejected;
  json["utilization"] = number(s.utilization);
  set_waits(s, json);
  json["preempted_dispatches"] = s.preempted;
  json["migrations"] = s.migrations;
  json.update(exchanged_json(s.exchanged));
  if (s.power) json["power"] = power_json(*s.power);
  json["plan_hash"] = hexadecimal(s.plan_hash);
  return json;
}

Json one(const Summary& s) {
  Json json;
  json["workload"] = s.workload;
  json["policy"] = s.policy;
  json["processors"] = s.processors;
  json["jobs"] = s.jobs;
  if (s.warm_up > 0) json["warm_up_jobs"] = s.warm_up;
  set_service(s, json);
  set_dispatches(s, true, json);
  json["delay_mean_s"] = number(s.delay_mean);
  json["fairness_users"] = number(s.users.index);
  json["fairness_groups"] = number(s.groups.index);
  if (s.recorded) json["recorded"] = true;
  if (s.recorded) json["unrecorded_jobs"] = s.unrecorded;
  if (s.own) json["of_the_site"] = true;
  if (s.of_slurm && !s.recorded) json["slurm_can_be_set_to_it"] = s.slurm_can;
  if (s.of_slurm && s.slurm_can) json["slurm_conf"] = s.slurm_lines;
  if (s.trust) json["beside_recorded"] = trust_json(*s.trust);
  if (!s.intervals.empty()) json["intervals"] = intervals_json(s.intervals);
  if (s.power) json["power"] = power_json(*s.power);
  if (s.power) json["power"]["less_than_first_kwh"] = number(s.less_than_first);
  if (s.tasks) json["tasks"] = tasks_json(*s.tasks);
  if (!s.sites.empty()) {
    json["moved_jobs"] = s.exchanged.jobs_in;
    json["moved_inputs"] = s.exchanged.inputs_in;
    json["moved_bytes"] = s.exchanged.bytes_in;
    json["sites"] = Json::array();
    for (const Summary& site : s.sites) json["sites"].push_back(site_json(site));
  }
  json["cycles"] = s.cycles;
  json["referee_checks"] = s.referee_checks;
  json["plan_hash"] = hexadecimal(s.plan_hash);
  json["cpu_s"] = s.cpu_seconds;
  return json;
}

// The summary of the jobs of one party.
Json part_json(const Summary& s) {
  Json json;
  json["policy"] = s.policy;
  json["jobs"] = s.jobs;
  set_service(s, json);
  set_dispatches(s, false, json);
  if (s.recorded) json["unrecorded_jobs"] = s.unrecorded;
  if (s.trust) json["beside_recorded"] = trust_json(*s.trust);
  return json;
}

// What to choose, for each workload, where the rehearsal can be trusted.
Json verdicts_json(std::span<const Summary> summaries) {
  Json all = Json::array();
  for (std::size_t first = 0; first < summaries.size();) {
    const std::span<const Summary> rows = summaries.subspan(first, same_workload(summaries, first));
    Json chosen = Json::array();
    for (const std::size_t i : choose(rows).chosen) chosen.push_back(rows[i].policy);
    Json trusted = nullptr;
    Json figures_trusted = nullptr;
    if (const Summary* const own = row_of_site(rows); own && likeness(*own->trust) != Likeness::unknown) {
      trusted = !cannot_be_trusted(rows);
      figures_trusted = likeness(*own->trust) == Likeness::close;
    }
    all.push_back({{"workload", rows.front().workload},
                   {"trusted", std::move(trusted)},
                   {"figures_trusted", std::move(figures_trusted)},
                   {"chosen", std::move(chosen)},
                   {"text", verdict(rows)},
                   {"left_out", rows.front().left_out}});
    first += rows.size();
  }
  return all;
}

}  // namespace

std::string to_json(std::span<const Summary> summaries, std::span<const PartySummaries> parties) {
  Json rehearsals = Json::array();
  for (const Summary& summary : summaries) {
    rehearsals.push_back(one(summary));
    if (!summary.weeks) continue;
    const auto first =
        std::ranges::find_if(summaries, [&](const Summary& s) { return s.weeks && s.workload == summary.workload; });
    rehearsals.back()["weeks"] = weeks_json(summary, *first);
  }
  Json document;
  document["format"] = "rota-summary-1";
  document["rehearsals"] = std::move(rehearsals);
  document["verdicts"] = verdicts_json(summaries);
  if (!parties.empty()) document["parties"] = Json::array();
  for (const PartySummaries& one : parties) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < one.rows.size(); ++i) {
      rows.push_back(part_json(one.rows[i]));
      if (i >= one.shares.size() || !one.shares[i]) continue;
      rows.back()["share_owed"] = one.shares[i]->owed;
      rows.back()["share_used"] = one.shares[i]->used;
      rows.back()["share_counted_s"] = one.shares[i]->waited;
    }
    document["parties"].push_back({{"workload", one.rows.front().workload},
                                   {"by", kPartyKinds[static_cast<std::size_t>(one.kind)]},
                                   {"party", one.party},
                                   {"rehearsals", std::move(rows)}});
  }
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rota::report
