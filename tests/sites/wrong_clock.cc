// A clock of the computer that is a minute ahead, for one process: preloaded, it gives that process another real time,
// and waits until a real time are as long as they would be. What counts from a start (CLOCK_MONOTONIC, timers) is left
// alone.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <atomic>
#include <cstdarg>
#include <ctime>

namespace {

constexpr time_t kAhead = 60;

// Without a guard of the language, which waits by syscall() itself: two threads may both look the name up.
template <class Function>
struct Real {
  const char* name;
  std::atomic<Function*> found = nullptr;

  template <class... Words>
  auto operator()(Words... words) {
    Function* to = found.load();
    if (to == nullptr) found = to = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
    return to(words...);
  }
};

constinit Real<int(clockid_t, timespec*)> real_gettime{"clock_gettime"};
constinit Real<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)> real_wait{"pthread_cond_clockwait"};
constinit Real<long(long, ...)> real_syscall{"syscall"};

bool is_real(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

timespec as_it_is(const timespec& told) { return {told.tv_sec - kAhead, told.tv_nsec}; }

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* at) {
  const int done = real_gettime(clock, at);
  if (done == 0 && is_real(clock)) at->tv_sec += kAhead;
  return done;
}

int gettimeofday(timeval* at, void* /*zone*/) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *at = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* at) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (at != nullptr) *at = now.tv_sec;
  return now.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  const timespec at = as_it_is(*until);
  return real_wait(condition, mutex, CLOCK_REALTIME, &at);
}

// What gRPC waits by.
long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long words[6];
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  timespec at{};
  if (number == SYS_futex && (words[1] & FUTEX_CLOCK_REALTIME) != 0 && words[3] != 0) {
    at = as_it_is(*reinterpret_cast<const timespec*>(words[3]));
    words[3] = reinterpret_cast<long>(&at);
  }
  return real_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // extern "C"
