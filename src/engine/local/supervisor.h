// The processes beside the service: one spawner, which is told what to start and stays as small as a process can be,
// and one supervisor for each job, which it forks. The job is the supervisor's child, so that the service may come and
// go: the supervisor alone holds the limit, ends all processes of the job, and writes down how it ended.
#pragma once

#include <span>
#include <string_view>

namespace rota::local {

// Behind the folder: the service has had a spawner before, which waited for all of earlier lives. Supervisors that wait
// for another order are this life's own.
inline constexpr std::string_view kWithinLife = "again";

// What the program does when it is called with the hidden word `supervise`: it is the spawner of the service at the
// other end of its standard input. Arguments: the folder of the engine, and maybe kWithinLife. Returns the exit code,
// once that end is closed.
int supervise(std::span<char*> arguments);

}  // namespace rota::local
