// /metrics, for Prometheus.
#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "api/routes.h"
#include "base/json_bytes.h"
#include "serve/federation_desk.h"

namespace rota::api {
namespace {

class Page {
 public:
  void head(const std::string& name, const char* type, const char* help) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  void value(const std::string& name, std::int64_t number) { text_ += fmt::format("{} {}\n", name, number); }
  void value(const std::string& name, double number) {
    text_ += fmt::format("{} {}\n", name, std::isfinite(number) ? nlohmann::json(number).dump() : "+Inf");
  }
  void one(const std::string& name, const char* type, const char* help, std::int64_t number) {
    head(name, type, help);
    value(name, number);
  }
  std::string text() { return std::move(text_); }

 private:
  std::string text_;
};

void add_jobs(serve::Answers& answers, const serve::ServiceStatus& status, Page& page) {
  std::map<std::string_view, std::int64_t> states{{"PENDING", 0}, {"RUNNING", 0}};
  states["PENDING"] = static_cast<std::int64_t>(status.waiting + status.barred);
  answers.each_running([&](JobId id) {
    ++states[answers.jobs().state_of(*answers.jobs().job(id))];
    return true;
  });
  page.head("rota_jobs", "gauge", "jobs that are known, by state");
  for (const auto& [state, count] : states) page.value(fmt::format("rota_jobs{{state=\"{}\"}}", state), count);
  page.head("rota_jobs_pending", "gauge", "jobs that wait, by reason");
  for (const auto& [reason, count] : answers.pending_counts().look())
    page.value(fmt::format("rota_jobs_pending{{reason=\"{}\"}}", reason), count);
}

void add_nodes(const serve::Answers& answers, const serve::ServiceStatus& status, Page& page) {
  page.head("rota_nodes", "gauge", "nodes by power state");
  const std::pair<const char*, PowerState> states[] = {{"on", PowerState::on},
                                                       {"booting", PowerState::booting},
                                                       {"shutting_down", PowerState::shutting_down},
                                                       {"off", PowerState::off}};
  for (const auto& [word, state] : states)
    page.value(fmt::format("rota_nodes{{power=\"{}\"}}", word), status.nodes.at(state));
  page.head("rota_licences", "gauge", "licences by name and use");
  for (const serve::LicenceUseShown& use : answers.licences()) {
    const std::string of = fmt::format("rota_licences{{name=\"{}\",use=\"", use.licence.name);
    page.value(of + "free\"}", use.free);
    page.value(of + "elsewhere\"}", use.elsewhere);
    page.value(of + "jobs\"}", use.used());
  }
}

// Where the power rule reckons any.
void add_loads(const Machine& machine, const std::vector<LoadReading>& loads, Page& page) {
  if (loads.empty()) return;
  const auto label = [&](const LoadReading& of) {
    return fmt::format("partition=\"{}\"", of.partition.valid() ? machine.partitions[of.partition.value].name : "");
  };
  page.head("rota_load_factor", "gauge", "what the work in the queue is of what the nodes can do, by the power rule");
  for (const LoadReading& of : loads) page.value(fmt::format("rota_load_factor{{{}}}", label(of)), of.load);
  page.head("rota_queued_work_node_seconds", "gauge",
            "what jobs that wait and run may use of nodes, at least and at most");
  for (const LoadReading& of : loads) {
    const std::string name = fmt::format("rota_queued_work_node_seconds{{{},estimate=\"", label(of));
    page.value(name + "least\"}", static_cast<double>(of.least_work) / 1000);
    page.value(name + "most\"}", static_cast<double>(of.most_work) / 1000);
  }
  page.head("rota_fragment_nodes", "gauge", "idle nodes that are too few for any job that waits");
  for (const LoadReading& of : loads) page.value(fmt::format("rota_fragment_nodes{{{}}}", label(of)), of.fragments);
}

// Where the service is one of several sites.
void add_sites(const serve::FederationDesk* federation, Page& page) {
  if (federation == nullptr) return;
  const std::vector<serve::SiteShown> sites = federation->all_sites();
  const auto each = [&](const std::string& name, const char* help, auto number_of) {
    page.head(name, "gauge", help);
    for (const serve::SiteShown& site : sites)
      page.value(fmt::format("{}{{site=\"{}\"}}", name, site.name), std::int64_t{number_of(site)});
  };
  using Shown = serve::SiteShown;
  each("rota_site_alive", "1 while a site of the federation is alive", [](const Shown& s) { return s.alive ? 1 : 0; });
  each("rota_site_offers", "jobs of a site that are on offer", [](const Shown& s) { return s.offered; });
  each("rota_site_jobs", "jobs of the federation that a site has", [](const Shown& s) { return s.taken; });
  page.one("rota_etcd_reachable", "gauge", "1 while etcd answers", federation->trouble().empty() ? 1 : 0);
}

void add_accelerators(const Ask& ask, Page& page) {
  const serve::AcceleratorDesk& desk = ask.service.accelerators();
  if (desk.containers().empty()) return;
  const auto& nodes = ask.answers().machine().nodes;
  std::int64_t served = 0;
  std::int64_t all = 0;
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    all += nodes[n].has_gone() ? 0 : 1;
    served += !nodes[n].has_gone() && desk.host_of({n}).valid() ? 1 : 0;
  }
  page.one("rota_accelerator_containers", "gauge", "accelerator containers that are registered",
           static_cast<std::int64_t>(desk.containers().size()));
  page.head("rota_accelerator_nodes", "gauge", "nodes, by whether a container computes their tasks");
  page.value("rota_accelerator_nodes{served=\"yes\"}", served);
  page.value("rota_accelerator_nodes{served=\"no\"}", all - served);
  page.head("rota_accelerator_container", "gauge", "what containers have said last, by their members of that name");
  for (const auto& [place, container] : desk.containers()) {
    const auto state = json_from<nlohmann::json>(container.card.state);
    for (const char* name : {"waiting", "receiving", "complete", "computing", "answering", "clients", "memory",
                             "memory_used", "submitted", "done", "failed", "bytes_in", "bytes_out", "computed_us"}) {
      if (const auto found = state.find(name); found != state.end() && found->is_number())
        page.value(fmt::format("rota_accelerator_container{{node=\"{}\",device=\"{}\",of=\"{}\"}}",
                               nodes[place.node.value].name, place.device, name),
                   found->get<double>());
    }
  }
}

// Where the service watches a cluster that another manager runs.
void add_readings(const std::optional<Readings>& readings, Page& page) {
  if (!readings) return;
  page.one("rota_readings_total", "counter", "readings of the watched manager", readings->done);
  page.one("rota_failed_readings_total", "counter", "readings that failed", readings->failed);
  page.one("rota_manager_calls_total", "counter", "commands of the manager that were run to read it", readings->calls);
  page.one("rota_unread_rows_total", "counter", "rows of jobs that made no sense", readings->unread_rows);
  page.head("rota_reading_seconds", "gauge", "how long the latest reading took");
  page.value("rota_reading_seconds", static_cast<double>(readings->latest.count()) / 1000);
}

}  // namespace

void answer_metrics(const Ask& ask) {
  serve::Answers& answers = ask.answers();
  const serve::ServiceStatus status = answers.status();
  const serve::ProcessorUse& use = status.use;
  Page page;
  add_jobs(answers, status, page);
  page.one("rota_processors", "gauge", "processors in all", answers.machine().processors);
  page.one("rota_processors_busy", "gauge", "processors that a running job holds", use.busy);
  page.one("rota_processors_free", "gauge", "processors that a job may start on", use.free);
  page.one("rota_processors_out_of_service", "gauge",
           "processors that no job holds on nodes that drain, are drained or are down", use.out_of_service);
  page.one("rota_processors_asleep", "gauge", "processors that no job holds on nodes that are off, boot or go to sleep",
           use.asleep);
  add_nodes(answers, status, page);
  add_loads(answers.machine(), status.loads, page);
  add_sites(ask.service.federation(), page);
  add_accelerators(ask, page);
  add_readings(status.readings, page);
  page.one("rota_cycles_total", "counter", "scheduling cycles", status.cycles);
  page.one("rota_facts_total", "counter", "facts written", static_cast<std::int64_t>(status.facts));
  page.one("rota_refusals_total", "counter", "what the engine or the passing of time told that contradicted the state",
           status.refusals);
  page.one("rota_refused_requests_total", "counter", "what people asked for that the state does not allow",
           status.refused_requests);
  page.one("rota_refused_plans_total", "counter", "plans that the referee refused", status.refused_plans);
  page.one("rota_followers", "gauge", "connections that follow the events",
           static_cast<std::int64_t>(ask.service.events().followers()));
  page.one("rota_plain_mode", "gauge", "1 while jobs start in order of the queue because a plan was refused",
           status.plain ? 1 : 0);
  ask.reply->send({200, "text/plain; version=0.0.4", page.text(), {}});
}

}  // namespace rota::api
