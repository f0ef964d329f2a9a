// How a service comes by its engine: it is handed what makes one, for what an engine is wired to is known only once the
// configuration is read and the state is this service's.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "control/live_engine.h"
#include "control/manager_jobs.h"
#include "control/run_request.h"
#include "model/machine.h"
#include "site/service_file.h"

namespace rota::serve {

// What the engine of a service is wired to. All of it outlives the engine.
struct EngineSite {
  boost::asio::io_context& io;
  Loop& loop;
  RunSource& source;
  const Machine& machine;
  std::string folder;  // where it may keep what must outlive the service
  ManagerJobs& jobs;   // of a manager that it watches
  const site::ServiceSettings& settings;
  std::function<Instant(std::int64_t unix_milliseconds)> instant_of = {};
};
using EngineMaker = std::function<std::unique_ptr<LiveEngine>(const EngineSite&)>;

}  // namespace rota::serve
