// rota: one binary, one subcommand each for what a person wants to do. Only wiring lives here.
#include <cstdio>
#include <exception>

#include "cli/command.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app{"Rota schedules batch jobs on clusters: rehearse a policy on your own job log.", "rota"};
  app.require_subcommand(1);
  app.set_version_flag("--version", ROTA_VERSION, "print the version");
  rota::cli::Action action;
  rota::cli::add_simulate(app, action);
  rota::cli::add_verify(app, action);
  rota::cli::add_convert(app, action);
  rota::cli::add_generate(app, action);
  rota::cli::add_reproduce(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? rota::cli::kDone : rota::cli::kUsage;
  }
  const auto code = action();
  if (code) return *code;
  std::fprintf(stderr, "rota: %s\n", code.error().message.c_str());
  return rota::cli::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("rota: out of memory. Give it more, or a smaller workload.\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rota: defect in Rota: %s. Please report it with the command that you ran.\n", e.what());
  }
  return rota::cli::kFailed;
}
