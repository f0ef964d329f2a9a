// What may come, as the service forecasts it, and how well forecasts did on a log.
#pragma once

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/live/service.h"

namespace rota::cli {

struct NodeForecastFlags {
  bool asked = false;
  int hours = 24;
  int futures = 500;
};

// `rota nodes --forecast`
void declare_node_forecast(Command command, NodeForecastFlags& flags);
Result<int> show_node_forecast(const ServiceFlags& service, const NodeForecastFlags& flags, bool header);

// `rota forecast calibrate`
void add_calibrate(Command forecast, Action& action);

}  // namespace rota::cli
