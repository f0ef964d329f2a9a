#include "log/submit_line.h"

#include <gtest/gtest.h>

#include <utility>

namespace rota::log {
namespace {

TEST(SubmitLine, TellsTheThrottleOfAnArrayAmongTheOptionsOfSbatchAlone) {
  for (const auto& [line, most] : {std::pair{"sbatch --array=1-200%4 job.sh", 4U},
                                   {"sbatch -p a|b --array 0,2-8:2%12 job.sh", 12U},
                                   {"sbatch -a1-3%2 x", 2U},
                                   {"sbatch --array=1-200 job.sh", 0U},
                                   {"sbatch job.sh 50%4 -a half%2", 0U},
                                   {"sbatch --array=1-200 job.sh --array=1-9%3", 0U},
                                   {"sbatch --array=1-9%3 train.sh -a 1-8%2", 3U},
                                   {"sbatch --array=1-9%3 -Ha1-8%2 --arr 1-9%5 job.sh", 5U},
                                   {"sbatch --array=1-9%3 --array=1-9 job.sh", 0U},
                                   {"sbatch -p long --time 10 -k --exclusive --requeue -a 1-9%3 job.sh", 3U},
                                   {"sbatch --dependency --array=1-9%3 job.sh", 0U},
                                   {"sbatch --comment  --array=1-9%3 job.sh", 3U},
                                   {"sbatch --exclusive user -a 1-9%3", 0U},
                                   {"sbatch -N2 -- -a 1-9%3", 0U},
                                   {"sbatch --wrap=run it --array=1-9%3", 0U},
                                   {"sbatch --array=1-9%0 x", 0U},
                                   {"sbatch --wait -a 1-9%3 x", 3U},
                                   {"sbatch --tasks-per-node 2 --cluster c1 -a 1-9%3 x", 3U},
                                   {"sbatch -a", 0U},
                                   {"", 0U}})
    EXPECT_EQ(throttle_of_submit_line(line), most) << line;
}

TEST(SubmitLine, TellsWhatMayGoOnAnyNodes) {
  EXPECT_TRUE(submit_line_goes_anywhere("sbatch -n8 -t1 --wrap sleep 5"));
  EXPECT_TRUE(submit_line_goes_anywhere("sbatch --ntasks=8 --wrap=hostname"));
  for (const char* const bound :
       {"sbatch -n8 job.sh", "sbatch -n1 --wrap=hostname", "sbatch -n8 -N1 --wrap=hostname",
        "sbatch -n2 -c4 --wrap=hostname", "sbatch -n8 --ntasks-per-node=8 --wrap=hostname", ""})
    EXPECT_FALSE(submit_line_goes_anywhere(bound)) << bound;
}

}  // namespace
}  // namespace rota::log
