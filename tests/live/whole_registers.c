// Loaded before user-mode Linux (computer.py): on a processor with larger registers than that knows of, Linux takes only all of
// them together, and refuses the part that it sets (EFAULT). The rest stays as it is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

static char all[1 << 16];  // one computer has one processor

long ptrace(enum __ptrace_request request, ...) {
  static long (*next)(enum __ptrace_request, ...);
  if (!next) next = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
  va_list rest;
  va_start(rest, request);
  const pid_t pid = va_arg(rest, pid_t);
  void* const address = va_arg(rest, void*);
  void* const data = va_arg(rest, void*);
  va_end(rest);
  if (request == PTRACE_SETREGSET && (long)address == NT_X86_XSTATE) {
    const struct iovec* part = data;
    struct iovec whole = {all, sizeof(all)};
    if (next(PTRACE_GETREGSET, pid, address, &whole) == 0 && whole.iov_len > part->iov_len) {
      memcpy(all, part->iov_base, part->iov_len);
      return next(request, pid, address, &whole);
    }
  }
  return next(request, pid, address, data);
}
