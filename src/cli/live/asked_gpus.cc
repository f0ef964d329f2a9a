#include "cli/live/asked_gpus.h"

#include <fmt/core.h>

#include "base/letters.h"
#include "base/text.h"
#include "cli/live/submit_value.h"

namespace rota::cli {
namespace {

// "gpu:2(S:0-1)" also says near which socket.
std::string without_sockets(std::string text) {
  for (std::size_t open = 0; (open = text.find("(S:")) != std::string::npos;)
    text.erase(open, std::min(text.find(')', open), text.size() - 1) - open + 1);
  return text;
}

std::unexpected<Error> contradiction(const std::string& what) {
  return fail("The accelerators in all, on each node and for each task do not fit together: {}; leave one of them out.",
              what);
}

}  // namespace

Result<AskedGpus> asked_gpus(const SubmitValue& value) {
  AskedGpus out;
  if (lower(value.text) == "none") return out;
  const bool gres = value.where.ends_with("--gres");
  const std::string text = without_sockets(value.text);
  for (const std::string_view piece : split(text, ',')) {
    auto words = split(piece, ':');
    const bool gpu = words.front() == "gpu" || words.front() == "accelerator";
    if (gpu) words.erase(words.begin());
    std::int64_t number = 1;
    if (!words.empty() && only_digits(words.back())) {
      number = parse_integer(words.back()).value_or(kMostCounted + 1);
      words.pop_back();
    }
    if (gres && !gpu && number == 0) continue;
    const std::string type(words.empty() ? "" : words[0]);
    const bool named = words.empty() || (words.size() == 1 && !type.empty() && is_utf8(type));
    if (number > kMostCounted - out.number || !named || (gres && !gpu))
      return wrong_value(value, "accelerators such as gpu:2 or gpu:a100:2");
    if (number == 0) continue;
    if (out.number > 0 && type != out.type) return wrong_value(value, "accelerators of one type");
    out.number += number;
    out.type = type;
  }
  return out;
}

Result<void> fit_to_gpus(const GpuWishes& wishes, JobShape& shape) {
  const auto number = [](const std::optional<AskedGpus>& one) { return one ? one->number : 0; };
  const std::int64_t each = number(wishes.each), on_node = number(wishes.on_node);
  std::int64_t all = number(wishes.all);
  std::string type;
  for (const auto* wish : {&wishes.all, &wishes.on_node, &wishes.each}) {
    if (!*wish || (*wish)->type.empty()) continue;
    if (!type.empty() && type != (*wish)->type) return contradiction(fmt::format("{} is not {}", type, (*wish)->type));
    type = (*wish)->type;
  }
  if (all == 0 && shape.says_tasks && each > 0 && shape.tasks <= kMostCounted / each) all = shape.tasks * each;
  if (all > 0 && on_node > 0) {
    const std::int64_t nodes = all / on_node;
    const std::int64_t most = std::max(shape.nodes, shape.most_nodes);
    if (all % on_node != 0 || (shape.says_nodes && (nodes < shape.nodes || nodes > most)))
      return contradiction(fmt::format("{} in all are not {} on each of {} nodes", all, on_node,
                                       shape.says_nodes ? std::to_string(shape.nodes) : "some"));
    if (shape.says_tasks && shape.tasks < nodes)
      return contradiction(fmt::format("{} tasks have no place on {} nodes", shape.tasks, nodes));
    shape.nodes = shape.most_nodes = nodes;
    if (!shape.says_tasks) shape.tasks = nodes;
    shape.says_nodes = true;
  }
  if (each == 0) return {};
  if (all == 0) all = on_node * shape.nodes;
  if (all == 0) return {};
  if (all % each != 0 || (shape.says_tasks && shape.tasks != all / each))
    return contradiction(fmt::format("{} in all are not {} for each of {} tasks", all, each,
                                     shape.says_tasks ? std::to_string(shape.tasks) : "some"));
  shape.tasks = all / each;
  shape.says_tasks = true;
  return {};
}

}  // namespace rota::cli
