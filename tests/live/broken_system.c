// Loaded before the C library, it breaks what a service asks of the system:
//   BROKEN_CALL=sync|pwrite  fails with the error BROKEN_ERROR from the call on that comes after BROKEN_AFTER others;
//   BROKEN_CLOCK=FILE        the clock of the day is wrong by as many seconds as the file says;
//   BROKEN_SLEEP=FILE        the computer has slept for as many seconds as the file says: all clocks that count it are ahead;
//   BROKEN_FILE=PATH         who opens it to read never comes back, whatever signal comes; PATH.hangs is there then.
// Only in the process that it was loaded into first: what that one starts is left alone, but with BROKEN_FILE.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static const char* call;
static const char* clock_file;
static const char* sleep_file;
static const char* hanging_file;
static long left;
static int error;

__attribute__((constructor)) static void read_settings(void) {
  call = getenv("BROKEN_CALL");
  left = getenv("BROKEN_AFTER") ? atol(getenv("BROKEN_AFTER")) : 0;
  error = getenv("BROKEN_ERROR") ? atoi(getenv("BROKEN_ERROR")) : EIO;
  clock_file = getenv("BROKEN_CLOCK");
  if (call) call = strdup(call);
  if (clock_file) clock_file = strdup(clock_file);
  sleep_file = getenv("BROKEN_SLEEP");
  if (sleep_file) sleep_file = strdup(sleep_file);
  hanging_file = getenv("BROKEN_FILE");
  if (hanging_file) hanging_file = strdup(hanging_file);
  unsetenv("BROKEN_CALL");
  if (!hanging_file) unsetenv("LD_PRELOAD");
}

int open(const char* path, int how, ...) {
  va_list more;
  va_start(more, how);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  if (hanging_file && (how & O_ACCMODE) == O_RDONLY && strcmp(path, hanging_file) == 0) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    char mark[4096];
    snprintf(mark, sizeof(mark), "%s.hangs", path);
    syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (;;) pause();
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, how, mode);
}

static int breaks(const char* name) {
  if (!call || strcmp(call, name) != 0 || left-- > 0) return 0;
  errno = error;
  return 1;
}

int fsync(int file) { return breaks("sync") ? -1 : (int)syscall(SYS_fsync, file); }
int fdatasync(int file) { return breaks("sync") ? -1 : (int)syscall(SYS_fdatasync, file); }

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t place) {
  return breaks("pwrite") ? -1 : syscall(SYS_pwrite64, file, bytes, size, place);
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t place) { return pwrite64(file, bytes, size, place); }

static long seconds_in(const char* path) {
  char text[32] = "";
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const long seconds = read(file, text, sizeof(text) - 1) > 0 ? atol(text) : 0;
  close(file);
  return seconds;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int done = real(clock, now);
  if (done != 0) return done;
  if (clock_file && clock == CLOCK_REALTIME) now->tv_sec += seconds_in(clock_file);
  if (sleep_file && (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME)) now->tv_sec += seconds_in(sleep_file);
  return done;
}
