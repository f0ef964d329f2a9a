// Whether this computer is on its way down.
#pragma once

namespace rota::local {

// Systemd is about to end all processes; or it says that it stops, which costs a process and is asked only where
// something was told to end (SIGTERM), as all of the same unit are. False where there is no systemd.
bool system_goes_down(bool told_to_end);

}  // namespace rota::local
