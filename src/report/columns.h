// Job tables made small for a web page: each column is a row of variable-length numbers (LEB128: seven bits a byte,
// lowest first) in which a 0 is followed by how many more 0s come, and all of it is base64. page/data.js reads it back.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "report/outcome.h"

namespace rota::report {

class ColumnWriter {
 public:
  void add(std::uint64_t number);
  void add_signed(std::int64_t number);  // zigzag: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
  void end_column();                     // a run of zeros does not go on into the next column

  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  void put(std::uint64_t number);
  std::vector<std::uint8_t> bytes_;
  std::uint64_t zeros_ = 0;  // added but not yet written
};

void write_base64(std::ostream& out, const std::vector<std::uint8_t>& bytes);

// How times are told in the columns below: whole units since `base`.
struct TimeScale {
  Instant base = kEpoch;
  std::int64_t unit = 1;  // milliseconds: 1000 where every time is a whole second, else 1
};

// 1000 if every time of these jobs is a whole second after the epoch, else 1.
std::int64_t time_unit(const std::vector<Job>& jobs);

// What all policies share, in order of submission: number (signed, difference to the previous one), submit (signed
// difference), processors, user + 1 (0: unknown), limit, and the run time of these jobs (0: did not end). Times in
// units.
ColumnWriter shared_columns(const std::vector<Job>& jobs, const TimeScale& scale);

// What one policy made of them: time from submission to start + 1 (0: did not end); how much of that is no wait (what
// was kept of earlier runs); time from start to end (signed, difference to that in the shared columns of `shared`); how
// much of that it stood still; 0 for no first promise, else 1 + signed of start - first promise; and a word of
// backfilled (bit 0), state (bits 1-4, as JobState) and kills (from bit 5), exclusive-or that of a completed job.
ColumnWriter outcome_columns(const std::vector<Job>& jobs, const std::vector<Job>& shared, const TimeScale& scale);

// What the jobs lacked that others were started beside (StartNote::lacks), each text once, rising.
std::vector<std::string> lacked_by(const std::vector<StartNote>& notes);

// Why each job started when it did, and where, as the notes of the first jobs tell it: 0 for a job without a note, else
// 1 + Rule; 1 + number of the job whose promise mattered, 0 for none; 1 + index of what that one lacked among
// lacked_by(notes), 0 for none; how many nodes it has; then, for all jobs one after the other, the index of each node,
// and how many processors are held there.
ColumnWriter start_columns(const std::vector<StartNote>& notes, const std::vector<std::string>& lacked,
                           std::size_t jobs);

}  // namespace rota::report
