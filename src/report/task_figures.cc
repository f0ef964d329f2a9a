// The figures of tasks and accelerators.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "report/comparison.h"
#include "report/readable.h"

namespace rota::report {
namespace {

double of_tasks(const Summary& s, double (*value)(const TaskUse&)) {
  return s.tasks ? value(*s.tasks) : std::numeric_limits<double>::quiet_NaN();
}
std::string whole(double value) { return readable_number(value, 0); }
std::string percent(double share) { return readable_number(share * 100, 1); }
std::string gibibytes(double bytes) { return readable_number(bytes / (1U << 30U), 1); }

constexpr std::array kTasks{
    Figure{"tasks", "done", "", "Tasks of jobs that were finished, wherever.", Better::neither,
           [](const Summary& s) { return of_tasks(s, [](const TaskUse& t) { return static_cast<double>(t.done()); }); },
           whole},
    Figure{"tasks", "accelerated", "%", "Of them, those that an accelerator computed.", Better::neither,
           [](const Summary& s) { return of_tasks(s, [](const TaskUse& t) { return t.accelerated_share(); }); },
           percent},
    Figure{"tasks", "remote", "%", "Of them, those that an accelerator of another node computed.", Better::neither,
           [](const Summary& s) { return of_tasks(s, [](const TaskUse& t) { return t.remote_share(); }); }, percent},
    Figure{"tasks", "redone", "",
           "Tasks that were begun in vain: a job was stopped, an accelerator was sent to sleep, or a CPU was at their "
           "limit.",
           Better::lower,
           [](const Summary& s) { return of_tasks(s, [](const TaskUse& t) { return static_cast<double>(t.redone); }); },
           whole},
    Figure{"accelerators", "use", "%",
           "Share of their time, from the first submission to the end, in which they computed.", Better::higher,
           [](const Summary& s) { return of_tasks(s, [](const TaskUse& t) { return t.use(); }); }, percent},
    Figure{"accelerators", "moved", "GiB", "Data that was moved between nodes for them, there and back.", Better::lower,
           [](const Summary& s) { return of_tasks(s, [](const TaskUse& t) { return static_cast<double>(t.bytes); }); },
           gibibytes},
    Figure{"binding", "bound", "",
           "Nodes, or under bind=slot processors of jobs, that were bound to a node with accelerators.",
           Better::neither,
           [](const Summary& s) { return of_tasks(s, [](const TaskUse& t) { return static_cast<double>(t.bound); }); },
           whole},
    Figure{
        "binding", "rebound", "", "How often one of them was bound to another node with accelerators.", Better::lower,
        [](const Summary& s) { return of_tasks(s, [](const TaskUse& t) { return static_cast<double>(t.rebound); }); },
        whole},
};

}  // namespace

std::span<const Figure> task_figures() { return kTasks; }

bool tells_tasks(std::span<const Summary> summaries) {
  return std::ranges::any_of(summaries, [](const Summary& s) { return s.tasks.has_value(); });
}

}  // namespace rota::report
