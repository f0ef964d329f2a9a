// The C interface between an accelerator container and a backend: a shared object that computes on one kind of device.
// A container opens `librota-accel-NAME.so` (accel/backend.h), or any path that a user names: a site's own operations
// are a shared object with this interface. Plain C, so that another compiler may build it; no exception and no memory
// that one side allocates and the other one frees crosses it.
//
// The way of a task: plan() decides from the task's header alone how large its buffer, its result and its scratch
// are, before one byte of the payload is accepted. Then the container receives the payload into the beginning of the
// buffer, clears the rest of it, and calls run(), which leaves the result in the same buffer: nothing is copied. The
// container owns both memories; a backend keeps no pointer to them after run().
//
// A container runs a backend in a process of its own, which is started anew where it crashes; both map the memory that
// tasks lie in.
//
// Threads: open(), share(), run() and close() of one device are called by one thread. plan() and state() may be called
// by another thread while run() computes. Two devices are independent. A backend prints nothing, installs no signal
// handler and starts no process.
//
// Errors: a function that fails gives an error below and a sentence in `why`, cut to `size` with its zero.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ROTA_ACCEL_BACKEND_ABI = 1 };  // a backend fits where rota_accel_backend.abi is equal

enum {
  ROTA_ACCEL_NAME_BYTES = 32,  // an operation's name has so many at most, with the zero behind it
  ROTA_ACCEL_PARAMETERS = 6
};

// What becomes of a task. The numbers stand in frames, too (accel/wire.h).
enum rota_accel_outcome {
  ROTA_ACCEL_DONE = 0,
  ROTA_ACCEL_BAD_TASK = 1,     // final: the task is wrong, here and anywhere else
  ROTA_ACCEL_NUMERIC = 2,      // final: singular, or not positive definite; that is an answer
  ROTA_ACCEL_CANCELLED = 3,    // final: run() has seen cancelled()
  ROTA_ACCEL_TIME_LIMIT = 4,   // final: it computed for longer than its limit; a container says so, no backend does
  ROTA_ACCEL_UNSUPPORTED = 5,  // elsewhere: another backend may have the operation
  ROTA_ACCEL_NO_MEMORY = 6,    // elsewhere, or later
  ROTA_ACCEL_DEVICE_LOST = 7,  // elsewhere: the container gives the device no more tasks
  ROTA_ACCEL_LEAVING = 8       // elsewhere: the container drains or has gone; no backend says so
};

typedef struct rota_accel_device rota_accel_device;  // the backend's own

typedef struct {
  char operation[ROTA_ACCEL_NAME_BYTES];      // one of those in rota_accel_backend.operations; ends with a zero
  int64_t parameters[ROTA_ACCEL_PARAMETERS];  // what they mean is the operation's matter; any values: check them
  uint64_t payload_bytes;                     // as the sender announces them; plan() says whether they are right
} rota_accel_header;

// All in bytes. The container refuses a plan whose buffer does not hold the payload and the result.
typedef struct {
  uint64_t buffer_bytes;   // the payload lies at its beginning
  uint64_t result_offset;  // where in the buffer run() leaves the result
  uint64_t result_bytes;
  uint64_t scratch_bytes;  // beside the buffer, while run() computes; its contents are arbitrary
} rota_accel_plan;

typedef struct {
  rota_accel_header header;
  rota_accel_plan plan;
  void* buffer;   // aligned to 4096 bytes; behind the payload it is zero
  void* scratch;  // aligned to 4096 bytes; NULL where the plan has none
  // Not 0: the task is not wanted any more. To be asked at least once in 100 ms where that is possible.
  int (*cancelled)(void* context);
  void* context;
} rota_accel_run;

// The live state of a device. What is not known is -1.
typedef struct {
  int64_t memory_bytes;       // that the device has, or the node where the device has none of its own
  int64_t memory_used_bytes;  // by all programs
  int64_t busy_permille;      // how busy the device is, by its own account
  int64_t temperature;        // degrees Celsius
  int64_t errors;             // that the device has counted since it was started
} rota_accel_state;

typedef struct {
  int abi;  // ROTA_ACCEL_BACKEND_ABI
  const char* name;
  const char* const* operations;  // names of letters, digits and -; NULL behind the last one
  // `config`: what the user has written behind the backend's name, never NULL. The description is one line for people.
  int (*open)(const char* config, rota_accel_device** device, char* why, size_t size);
  void (*describe)(rota_accel_device* device, char* text, size_t size);
  int (*plan)(rota_accel_device* device, const rota_accel_header* header, rota_accel_plan* plan, char* why,
              size_t size);
  int (*run)(rota_accel_device* device, const rota_accel_run* run, char* why, size_t size);
  void (*state)(rota_accel_device* device, rota_accel_state* state);
  void (*close)(rota_accel_device* device);
  // The memory that every buffer and every scratch lies in, once, before the first run(): a device may pin it. May be
  // NULL.
  void (*share)(rota_accel_device* device, void* memory, size_t bytes);
} rota_accel_backend;

// The only symbol of a backend. What it gives lives as long as the object is open.
const rota_accel_backend* rota_accel_backend_entry(void);

#ifdef __cplusplus
}
#endif
