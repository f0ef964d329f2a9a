#include "engine/local/become_user.h"

#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace rota::local {

bool become_user(const Run& run) {
  if (run.uid == kServiceUser || (run.uid == ::geteuid() && run.uid != 0)) return true;
  if (!run.user.empty() ? ::initgroups(run.user.c_str(), run.gid) != 0 : ::setgroups(1, &run.gid) != 0) return false;
  if (run.uid != 0) {
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {
    }
  }
  if (::setresgid(run.gid, run.gid, run.gid) != 0 || ::setresuid(run.uid, run.uid, run.uid) != 0) return false;
  return run.uid == 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

}  // namespace rota::local
