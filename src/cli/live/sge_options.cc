// #$ lines, as qsub of Grid Engine 8 documents them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/letters.h"
#include "base/text.h"
#include "cli/live/foreign_options.h"

namespace rota::cli {
namespace {

bool is_yes(std::string_view text) {
  const std::string word = lower(text);
  return word == "y" || word == "yes" || word == "true" || word == "1";
}

std::string sge_path(std::string_view path) {
  return path_with(path, {{"JOB_ID", "%A"}, {"JOB_NAME", "%x"}, {"TASK_ID", "%a"}, {"USER", "%u"}, {"HOSTNAME", "%N"}});
}

class Sge final : public WordOptions {
 public:
  using WordOptions::WordOptions;

 private:
  bool is_switch(const std::string& word) override {
    if (word == "-h") {
      out_.put("hold", "yes");
      return true;
    }
    if (word == "-verify") {
      out_.needed.push_back(word);
      return true;
    }  // it submits nothing
    constexpr std::array<std::string_view, 3> kNoLoss{"-notify", "-terse", "-clear"};
    if (word == "-cwd" || word == "-V" || word == "-hard") return true;  // so it is anyway
    if (std::ranges::find(kNoLoss, word) == kNoLoss.end()) return false;
    out_.left_out.push_back(word);
    return true;
  }

  Result<void> read_option(const std::string& name, const std::string& value) override {
    static const std::map<std::string_view, const char*> kSame{
        {"-N", "name"}, {"-A", "account"}, {"-wd", "folder"}, {"-i", "input"}, {"-M", "mail_user"}};
    if (const auto same = kSame.find(name); same != kSame.end()) return put(same->second, value);
    constexpr std::array<std::string_view, 11> kNoLoss{"-P",    "-S",  "-p",   "-w",     "-b",      "-R",
                                                       "-sync", "-js", "-now", "-shell", "-binding"};
    const std::string whole = fmt::format("{} {}", name, value);
    if (std::ranges::find(kNoLoss, name) != kNoLoss.end()) {
      out_.left_out.push_back(whole);
      return Result<void>{};
    }
    if (name == "-o" || name == "-e") {
      out_.put("open_mode", "append");  // as Grid Engine has it
      return put(name == "-o" ? "output" : "error", sge_path(value));
    }
    if (name == "-j") return is_yes(value) ? put("joined", value) : Result<void>{};
    if (name == "-r") return put("requeue", is_yes(value) ? "yes" : "no");
    if (name == "-v") return put("export", "ALL," + value);
    if (name == "-m") return put("mail", mail(value));
    if (name == "-t") return put("array", value);
    if (name == "-tc") return put("throttle", value);
    if (name == "-pe") return environment(value);
    if (name == "-l") return resources(value);
    if (name == "-q" && value.find_first_of("@,*") == std::string::npos) return put("partition", value);
    if (name == "-hold_jid") return waits(name, value, "afterany:");
    if (name == "-hold_jid_ad") return waits(name, value, "aftercorr:");
    if (name != "-a") {
      out_.needed.push_back(whole);
      return Result<void>{};
    }
    const auto begin = digits_when(value);
    return begin ? put("begin", *begin) : std::unexpected(begin.error());
  }

  static std::string mail(std::string_view letters) {
    std::string out;
    for (const char letter : letters) {
      const char* const word = letter == 'b' ? "BEGIN" : letter == 'e' ? "END" : letter == 'a' ? "FAIL" : nullptr;
      if (word != nullptr) out += (out.empty() ? "" : ",") + std::string(word);
    }
    return out.empty() ? "NONE" : out;
  }

  // "-pe smp 4": two words. Environments with such a name put all on one node, but for those of MPI.
  Result<void> environment(const std::string& name) {
    const std::string* const next = next_word();
    if (next == nullptr) return wrong_value("-pe " + name, "is followed by how many processors, as in -pe smp 4");
    const std::string& count = *next;
    if (!only_digits(count)) {
      out_.needed.push_back(fmt::format("-pe {} {}", name, count));
      return Result<void>{};
    }
    constexpr std::array<std::string_view, 7> kOneNode{"smp", "openmp", "thread", "share", "shm", "serial", "onenode"};
    const auto holds = [&](std::string_view word) { return lower(name).contains(word); };
    const bool several = holds("openmpi") || (holds("mpi") && !holds("smp"));
    if (!several && (name == "omp" || std::ranges::any_of(kOneNode, holds))) out_.put("nodes", "1");
    return put("processors", count);
  }

  Result<void> resources(std::string_view list) {
    for (const std::string_view piece : split(list, ',')) {
      const std::size_t equals = std::min(piece.find('='), piece.size());
      const std::string_view name = piece.substr(0, equals);
      const std::string value(piece.substr(std::min(equals + 1, piece.size())));
      constexpr std::array<std::string_view, 5> kMemory{"h_vmem", "mem_free", "virtual_free", "vf", "mem"};
      if (name == "h_rt") {
        out_.put("limit", value);
      } else if (std::ranges::find(kMemory, name) != kMemory.end()) {
        out_.put("memory_each", value);  // of each slot
      } else if (name == "gpu" || name == "gpus" || name == "ngpus") {
        out_.put("accelerators", value);
      } else if ((name == "exclusive" || name == "excl") && (equals == piece.size() || is_yes(value))) {
        out_.put("exclusive", "yes");
      } else if (name == "s_rt" || name == "h_cpu" || name == "s_cpu" || name == "s_vmem") {
        out_.left_out.push_back("-l " + std::string(piece));
      } else {
        out_.needed.push_back("-l " + std::string(piece));
      }
    }
    return {};
  }

  Result<void> waits(const std::string& name, std::string_view list, const std::string& kind) {
    std::string after;
    for (const std::string_view id : split(list, ',')) {
      if (!only_digits(id)) {
        out_.needed.push_back(fmt::format("{} {}", name, list));
        return Result<void>{};
      }
      after += (after.empty() ? "" : ",") + kind + std::string(id);
    }
    return put("after", after);
  }
};

}  // namespace

Result<ForeignOptions> sge_options(const std::vector<std::string>& words) { return Sge(words).read(); }

}  // namespace rota::cli
