// rota accel run: tasks for a container, and what comes of them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/live/accel.h"
#include "cli/live/accel_images.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

struct AccelRunFlags {
  AccelFlags at;
  std::string operation;
  std::int64_t order = 0;
  std::int64_t seed = 0;
  bool seeded = false;
  std::string payload, answer;  // sizes
  std::string file, output;
  std::vector<std::string> images;  // files
  std::int64_t tasks = 1;
  std::int64_t limit = 0;  // seconds
};

struct Outcomes {
  std::int64_t done = 0, again = 0;
  std::uint64_t received = 0;
  std::optional<std::string> first_failure;
  std::int64_t failed = 0;
};

Result<std::int64_t> size_of(const std::string& text, const char* option) {
  if (text.empty()) return 0;
  const auto size = parse_size(text);
  if (!size) return fail("{} takes a size such as 50M, not {}.", option, rota::quoted(text));
  return *size;
}

Result<std::string> payload_of(const AccelRunFlags& flags) {
  constexpr std::size_t kMost = std::size_t{16} << 30U;
  if (!flags.file.empty()) return read_file(flags.file, kMost);
  const auto size = TRY(size_of(flags.payload, "--payload"));
  if (static_cast<std::size_t>(size) > kMost) return fail("--payload: at most 16G.");
  return std::string(static_cast<std::size_t>(size), '\0');
}

Result<void> write(const std::string& path, const rota_accel_end& end) {
  OutputFile file = TRY(OutputFile::create(path));
  file.stream().write(static_cast<const char*>(end.result), static_cast<std::streamsize>(end.result_bytes));
  return file.commit();
}

Result<Outcomes> collect(rota_accel_client* client, const AccelRunFlags& flags) {
  Outcomes outcomes;
  for (std::int64_t i = 0; i < flags.tasks; ++i) {
    rota_accel_end end{};
    rota_accel_next(client, &end, -1);
    const std::unique_ptr<void, void (*)(void*)> result(end.result, &rota_accel_free);
    if (end.runs > 1) ++outcomes.again;
    if (end.outcome != ROTA_ACCEL_DONE) {
      ++outcomes.failed;
      if (!outcomes.first_failure) outcomes.first_failure = end.why;
      continue;
    }
    ++outcomes.done;
    outcomes.received += end.result_bytes;
    if (!flags.output.empty()) TRY(write(flags.output, end));
  }
  return outcomes;
}

Result<int> run(const AccelRunFlags& flags) {
  if (!flags.output.empty() && flags.tasks > 1) return fail("-o takes the result of one task; leave --tasks away.");
  const bool shows = !flags.images.empty();
  const ImageTask images = TRY(read_images(flags.images));
  const std::string payload = shows ? images.payload : TRY(payload_of(flags));
  const auto answer = TRY(size_of(flags.answer, "--answer"));
  const AccelClient client = TRY(flags.at.open());
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < flags.tasks; ++i) {
    rota_accel_order order{.operation = flags.operation.c_str(),
                           .parameters = {flags.order, flags.seeded ? 1 : 0, flags.seed + i, answer, 0, 0},
                           .payload = payload.data(),
                           .payload_bytes = payload.size(),
                           .result = nullptr,
                           .result_room = 0,
                           .limit_ms = static_cast<std::uint32_t>(flags.limit * 1000),
                           .tag = nullptr};
    const std::array<std::int64_t, 3> of_images{images.width, images.height, std::ssize(flags.images)};
    if (shows) std::ranges::copy(of_images, order.parameters);
    if (rota_accel_submit(client.get(), &order) == 0)
      return fail("the name of an operation has 1 to 31 characters; `rota accel status` lists them.");
  }
  const Outcomes outcomes = TRY(collect(client.get(), flags));
  const double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::uint64_t sent = static_cast<std::uint64_t>(outcomes.done) * payload.size();
  TRY(printed(fmt::format("{} done in {:.3f} s, {:.1f} a second; sent {}, received {}{}\n",
                          amount(outcomes.done, "task"), time, static_cast<double>(outcomes.done) / time,
                          format_size(static_cast<std::int64_t>(sent)),
                          format_size(static_cast<std::int64_t>(outcomes.received)),
                          outcomes.again == 0 ? "" : fmt::format("; {} run again", grouped(outcomes.again)))));
  if (outcomes.failed > 0)
    return fail("{} failed, the first because: {}.", amount(outcomes.failed, "task"), *outcomes.first_failure);
  return kDone;
}

}  // namespace

void add_accel_run(Command group, Action& action) {
  auto flags = std::make_shared<AccelRunFlags>();
  Command command = group.add_subcommand("run", "run tasks on a container");
  command.description(
      "A matrix is sent (--file: doubles, column by column) or made from a seed where it is computed; then --payload "
      "and --answer are how many bytes travel all the same. A task whose container is lost is run again.");
  command
      .add_option("OPERATION", flags->operation, "lu, qr, cholesky, gemm, noop, features, or one of your own backend's")
      .required();
  command.add_option("--n", flags->order, "the order of the matrix; of noop: microseconds to wait").type_name("N");
  command
      .add_option_function(
          "--seeded",
          [flags](const std::string& text) {
            const auto seed = parse_integer(text);
            if (!seed) throw UsageError{"--seeded takes a whole number"};
            flags->seed = *seed;
            flags->seeded = true;
          },
          "make the matrix from this seed, that of the next task from the next one")
      .type_name("SEED");
  command.add_option("--file", flags->file, "the payload; - is standard input").type_name("FILE").excludes("--seeded");
  command
      .add_option("--images", flags->images,
                  "the payload of features, colour or lbp: JPEG files, or PPM files of one size")
      .type_name("FILE...")
      .excludes("--file");
  command.add_option("--payload", flags->payload, "send so many zero bytes").type_name("SIZE").excludes("--file");
  command.add_option("--answer", flags->answer, "with --seeded: so many bytes of the result come back")
      .type_name("SIZE");
  command.add_option("-o,--output", flags->output, "write the result to this file").type_name("FILE");
  command.add_option("--tasks", flags->tasks, "how many").range(1, 100'000'000).capture_default_str();
  command.add_option("--limit", flags->limit, "seconds that a task may compute; 0: any").range(0, 4'000'000);
  flags->at.declare(command);
  command.footer(
      "Examples:\n  rota accel run lu --n 1000 --seeded 1 --payload 10M --answer 10M --tasks 20\n"
      "  rota accel run cholesky --n 500 --file matrix --output factor --at node7:7400 --token-file token\n"
      "  rota accel run features --images *.jpg --output features");
  command.callback([&action, flags] { action = [flags] { return run(*flags); }; });
}

}  // namespace rota::cli
