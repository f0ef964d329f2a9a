// The C interface of librota-accel.so: tasks for an accelerator container, asynchronously. `rota accel run` and the
// Python module (rota_accel.py) use it. docs/accelerators.md lists the operations and what their parameters mean.
//
// A client connects when it has tasks, and again when the connection or the container is lost: tasks that were under
// way are then run again, on another container where the service has bound the node to one, and of each task exactly
// one end is reported. Its payload must stay as it is until then, and so must the memory for its result, which may hold
// anything meanwhile.
//
// Threads: all functions may be called on any thread, but for rota_accel_close(), which is the last call. A client has
// one thread of its own, which never calls back. Cost: rota_accel_submit() copies nothing of the payload and returns at
// once; there is no limit to the tasks that are submitted, of which so many are under way as the container allows.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "accel/backend_abi.h"  // enum rota_accel_outcome

#ifdef __cplusplus
extern "C" {
#endif

enum { ROTA_ACCEL_CLIENT_ABI = 1 };  // what rota_accel_client_abi() gives: header and library fit if these are equal

typedef struct rota_accel_client rota_accel_client;

// Texts end with a zero and are copied.
typedef struct {
  // HOST:PORT, [V6]:PORT, or the path of a Unix socket, with a '/'. NODE@/PATH: the container that the service at this
  // socket has for the node, asked for each connection; that is what jobs find in ROTA_ACCEL. late:NODE@/PATH: all
  // containers of the node's rack
  const char* address;
  const char* token;    // that the container asks for on TCP; NULL: none, or that which the service names
  int64_t patience_ms;  // without a sign of the container while it has tasks, until it counts as lost; 0: 10,000
  int64_t give_up_ms;   // without a container that accepts tasks, until they end with ROTA_ACCEL_LEAVING; 0: 60,000
} rota_accel_options;

typedef struct {
  const char* operation;
  int64_t parameters[ROTA_ACCEL_PARAMETERS];
  const void* payload;
  uint64_t payload_bytes;
  void* result;          // where the result goes; NULL: into memory that the library allocates
  uint64_t result_room;  // bytes there; a larger result ends the task with ROTA_ACCEL_BAD_TASK
  uint32_t limit_ms;     // a task that computes for longer ends with ROTA_ACCEL_TIME_LIMIT; 0: none
  void* tag;             // comes back with the end
} rota_accel_order;

typedef struct {
  uint64_t task;
  void* tag;
  int outcome;    // enum rota_accel_outcome
  uint32_t runs;  // times that it was sent to a container
  void* result;   // ROTA_ACCEL_DONE: the bytes; else NULL. Memory of the library's, aligned to 64, is the caller's now
  uint64_t result_bytes;
  char why[256];  // a sentence, where it is not done
} rota_accel_end;

int rota_accel_client_abi(void);

// NULL and a sentence in `why`, cut to `size` with its zero, where the options make no sense. A container that cannot
// be reached is no error.
rota_accel_client* rota_accel_open(const rota_accel_options* options, char* why, size_t size);
// Tasks that have not ended are cancelled, and nothing more is reported of them.
void rota_accel_close(rota_accel_client* client);

// The number of the task, never 0; 0: the operation's name is longer than 31 bytes, or empty.
uint64_t rota_accel_submit(rota_accel_client* client, const rota_accel_order* order);
// Asks for the state of the container: the result is a text in JSON without a zero behind it.
uint64_t rota_accel_ask_state(rota_accel_client* client, void* tag);
// The task ends with ROTA_ACCEL_CANCELLED, unless its end comes first.
void rota_accel_cancel(rota_accel_client* client, uint64_t task);

// A descriptor that is readable while an end waits, for poll(); not to be read or closed.
int rota_accel_event(rota_accel_client* client);
// The next end, for at most so many milliseconds, -1: for ever. 1: there is one; 0: none came.
int rota_accel_next(rota_accel_client* client, rota_accel_end* end, int timeout_ms);
// Frees a result that the library has allocated.
void rota_accel_free(void* result);

#ifdef __cplusplus
}
#endif
