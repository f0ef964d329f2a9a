// What may be asked of a job when it is submitted: one table, from which come the options of `rota submit` and `rota
// run`, and the directives in a script (cli/live/directives.h). Values stay text here; cli/live/submit_request.h reads
// them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "cli/command_line.h"

namespace rota::cli {

// Whose habits a value follows: of Slurm's, a bare number of --time counts minutes and one of --mem megabytes; of PBS's
// that counts seconds and bytes, of LSF's minutes and megabytes, of Grid Engine's seconds and bytes.
enum class Dialect { rota, slurm, pbs, lsf, sge };

struct SubmitOption {
  std::string_view key;    // under which its value is kept: several options may set one
  std::string_view names;  // "-t,--limit,--time"
  std::string_view value;  // "TIME"; empty: a switch, which sets `set`
  std::string_view set;
  std::string_view meaning;
  std::string_view slurm = {};  // what stands for a value that is left out in a #SBATCH line; empty: none may be
};

struct SubmitValue {
  std::string text;
  Dialect dialect = Dialect::rota;
  std::string where;  // "--limit", "line 3 of job.sh: --time": what an error begins with
};

// By key.
using SubmitValues = std::map<std::string, SubmitValue, std::less<>>;

bool only_digits(std::string_view text);  // one at least

std::span<const SubmitOption> submit_options();

// `weaker` becomes both, where `stronger` decides what it names. Where several options say the same in different ways,
// as --mem and --mem-per-cpu do, one in the stronger takes all of them out of the weaker.
void overrule(SubmitValues& weaker, SubmitValues stronger);

// The option that has this name, as "-t" or "--time"; nullptr: none.
const SubmitOption* submit_option(std::string_view name);

// What is given on the command line goes to `values`, which outlives the command. Given twice it is refused.
Option declare_submit_option(Command command, SubmitValues& values, const SubmitOption& option);
// Declares them all; of each the last one holds, as in a script.
void declare_submit_options(Command command, SubmitValues& values);

}  // namespace rota::cli
