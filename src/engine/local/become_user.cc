#include "engine/local/become_user.h"

#include <grp.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace rota::local {

namespace {

// A session keyring of its own, as a login gives: that of the service is root's, and would be all users'. Made as root,
// since users may have few. Where keys are kept from all, there is nothing to share.
bool leave_keys() {
  return ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0 || errno == ENOSYS || errno == EPERM;
}

}  // namespace

bool become_user(const RunRequest& run) {
  if (run.uid == kServiceUser || (run.uid == ::geteuid() && run.uid != 0)) return true;
  if (!leave_keys()) return false;
  if (!run.user.empty() ? ::initgroups(run.user.c_str(), run.gid) != 0 : ::setgroups(1, &run.gid) != 0) return false;
  if (run.uid != 0) {
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {
    }
  }
  if (::setresgid(run.gid, run.gid, run.gid) != 0 || ::setresuid(run.uid, run.uid, run.uid) != 0) return false;
  ::syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_SESSION_KEYRING);  // what the user has elsewhere
  return run.uid == 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

}  // namespace rota::local
