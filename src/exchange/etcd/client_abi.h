// The C interface between the program and the client of etcd, a shared object of its own: gRPC stays out of the
// program, which opens the object only where its configuration names endpoints of etcd (exchange/etcd/client.h).
//
// Requests return at once. What comes of them is a call of rota_etcd_calls, by the client's own thread: a call must
// not wait, and what it is given is valid only until it returns. Requests may be made on any thread, also in a call,
// until rota_etcd_close(), after whose return there are no calls. Texts have no terminating zero. Keys and values are
// bytes. No request is sent again by the client: what became of one with ROTA_ETCD_UNKNOWN may be known later from a
// watch, and the same request may be made again.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ROTA_ETCD_ABI = 2 };  // what rota_etcd_abi() gives: program and client fit if these are equal

typedef struct rota_etcd_client rota_etcd_client;

typedef struct {
  const char* data;
  size_t size;
} rota_etcd_text;

typedef struct {
  rota_etcd_text key;
  rota_etcd_text value;
  int64_t revision;  // etcd's mod_revision: that of the latest change, or of the removal
  int removed;       // in a watch: it is not there any more, and has no value
} rota_etcd_record;

// That a record stands as it did at a revision.
typedef struct {
  rota_etcd_text key;
  int64_t revision;  // 0: there is no such record
  int differs;       // holds where it does not stand so
} rota_etcd_condition;

typedef struct {
  rota_etcd_text key;
  rota_etcd_text value;
  int64_t lease;  // the record goes when this does; 0: none
  int removes;    // the record, if there is one; value and lease do not count
} rota_etcd_write;

// Writes that are done together where all conditions hold. No key stands in two writes.
typedef struct {
  const rota_etcd_condition* conditions;
  size_t condition_count;
  const rota_etcd_write* writes;
  size_t write_count;
  rota_etcd_text otherwise;  // the record that is read where a condition does not hold; empty: none
} rota_etcd_step;

// One transaction: where its own conditions hold, each step is done or not by itself. No key stands in the writes of
// two steps. At most 60 steps.
typedef struct {
  const rota_etcd_condition* conditions;
  size_t condition_count;
  const rota_etcd_step* steps;
  size_t step_count;
} rota_etcd_batch;

enum rota_etcd_outcome {
  ROTA_ETCD_DONE = 0,
  ROTA_ETCD_REFUSED = 1,  // nothing was changed, and nothing will be: etcd has said so (a lease that is over, no right,
                          // a wrong request)
  ROTA_ETCD_UNKNOWN = 2   // no answer: it may have been done, or may yet be
};

typedef struct {
  int done;                    // its conditions held
  int found;                   // they did not, and the record of `otherwise` was there:
  rota_etcd_record otherwise;  // as it stands
} rota_etcd_step_answer;

typedef struct {
  enum rota_etcd_outcome outcome;
  rota_etcd_text why;  // a sentence, where it is not done
  int64_t revision;    // etcd's, at which the answer was true
  int held;            // the batch's own conditions did, and there is an answer for each step; else there is none
  const rota_etcd_step_answer* answers;
  size_t answer_count;
} rota_etcd_batch_answer;

typedef struct {
  void* context;
  void (*committed)(void* context, uint64_t request, const rota_etcd_batch_answer* answer);
  void (*granted)(void* context, uint64_t request, enum rota_etcd_outcome outcome, rota_etcd_text why, int64_t lease);
  // What rota_etcd_get() asked for, as it stands or has stood since then; NULL: there is no such record, or it is not
  // known whether there is.
  void (*got)(void* context, uint64_t request, enum rota_etcd_outcome outcome, rota_etcd_text why,
              const rota_etcd_record* record);
  // All records of the watched keys at one revision, in order of their keys, in as many calls as it takes; all but
  // the last with `more`. A first call follows the request, or comes whenever changes were missed (etcd has forgotten
  // them): what was known before is void.
  void (*listed)(void* context, int64_t revision, const rota_etcd_record* records, size_t count, int more);
  // All changes of one revision among the watched keys, the revisions in order, none left out, none twice.
  void (*changed)(void* context, int64_t revision, const rota_etcd_record* records, size_t count);
  // The connection: a sentence where it was lost or cannot be made, empty once it stands again. For people.
  void (*connection)(void* context, rota_etcd_text why);
} rota_etcd_calls;

typedef struct {
  const rota_etcd_text* endpoints;  // HOST:PORT; the first is used, the next one when that fails, and so on around
  size_t endpoint_count;
  rota_etcd_text authority;    // PEM, of the authority that vouches for the members; empty: no TLS
  rota_etcd_text certificate;  // PEM, of this client,
  rota_etcd_text key;          // and its key; both empty: none
  int64_t patience;            // milliseconds until a request without an answer is UNKNOWN
} rota_etcd_options;

int rota_etcd_abi(void);

// NULL and a sentence in `why`, cut to `size` with its zero, where the options make no sense. A cluster that cannot be
// reached is no error: the client goes on trying.
rota_etcd_client* rota_etcd_open(const rota_etcd_options* options, const rota_etcd_calls* calls, char* why,
                                 size_t size);
void rota_etcd_close(rota_etcd_client* client);

// `request` names it in committed().
void rota_etcd_commit(rota_etcd_client* client, uint64_t request, const rota_etcd_batch* batch);
// A lease of so many seconds, from 2 on.
void rota_etcd_grant(rota_etcd_client* client, uint64_t request, int64_t seconds);
// Keeps it from running out for two thirds of the time that it was granted for, from now on: a program that stops
// asking loses its lease. No answer: that a lease is over shows in the watch.
void rota_etcd_keep(rota_etcd_client* client, int64_t lease);
// One record. `request` names it in got().
void rota_etcd_get(rota_etcd_client* client, uint64_t request, rota_etcd_text key);
// Once for each client: every key from `first` to before `end`, first as it stands, then as it changes.
void rota_etcd_watch(rota_etcd_client* client, rota_etcd_text first, rota_etcd_text end);

#ifdef __cplusplus
}
#endif
