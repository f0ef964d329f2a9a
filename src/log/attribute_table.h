// The attributes of the jobs of one workload, as its sidecar or its JSON lines say them: names are not yet looked up in
// any cluster file.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "log/job_attributes.h"
#include "model/tasks.h"

namespace rota::log {

class AttributeTable {
 public:
  // A row is a job's, with names as indexes of licences(), accelerator_types(), wishes() and sites(); kNone: nothing is
  // said.
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Row {
    std::int64_t memory = 0;
    std::int64_t input = 0;
    Duration restart_cost{0};
    std::uint32_t nodes = 0;
    std::uint32_t site = kNone;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> licences = {};  // which, and how many
    std::uint32_t accelerator_type = kNone;
    std::uint32_t wish = kNone;
    std::int32_t priority = 0;
    std::uint8_t accelerators = 0;
    Restart restart = Restart::never;
    bool anywhere = true;
  };
  struct Name {
    std::string text;
    std::int64_t line = 0;  // where it was said first
  };
  struct Wish {
    NodeWishTexts texts;
    std::int64_t line = 0;
  };

  // A sidecar, CSV. Errors name file and line.
  static Result<AttributeTable> read(const std::string& path);
  static Result<AttributeTable> parse(std::string_view text, const std::string& shown);

  explicit AttributeTable(std::string shown) : shown_(std::move(shown)) {}  // what to call the file in messages
  void add(std::int64_t job, const JobAttributes& attributes, std::int64_t line);
  // To be called once everything is added; of what is said of a job twice the first holds.
  void finish();

  // What a sidecar says of jobs, and where it says nothing what their log does.
  static AttributeTable together(const AttributeTable& sidecar, const AttributeTable& of_log);

  bool empty() const { return of_.empty() && !has_others_; }
  const Row& of(std::int64_t job) const;  // what is said of all jobs that are not named, if it is not
  JobAttributes attributes_of(std::int64_t job) const;
  const TaskTable& tasks() const { return tasks_; }
  const std::vector<Name>& licences() const { return licences_.names; }
  const std::vector<Name>& accelerator_types() const { return accelerator_types_.names; }
  const std::vector<Wish>& wishes() const { return wishes_; }
  const std::vector<Name>& sites() const { return sites_.names; }
  // The first where a job has tasks, or asks for accelerators; 0: none does.
  std::int64_t line_with_tasks() const { return line_with_tasks_; }
  std::int64_t line_with_accelerators() const { return line_with_accelerators_; }
  // The first where a job asks for licences of more kinds, or for more of one of several, than a job can hold; 0: none.
  std::int64_t line_with_many_licences() const { return line_with_many_licences_; }
  const std::string& shown() const { return shown_; }
  // The command that made a sidecar, where its first lines name one.
  const std::string& made_by() const { return made_by_; }
  // Whether what is said is said of all jobs alike, whichever they are.
  bool names_no_job() const { return of_.empty(); }

 private:
  friend class SidecarReader;
  struct Names {
    std::vector<Name> names;
    std::map<std::string, std::uint32_t, std::less<>> index;
    std::uint32_t index_of(const std::string& name, std::int64_t line);
  };
  std::uint32_t wish_of(const NodeWishTexts& texts, std::int64_t line);
  Row row_of(const JobAttributes& attributes, std::int64_t line);
  void add_others(const JobAttributes& attributes, std::int64_t line);

  std::string shown_;
  std::string made_by_;
  Row of_others_;
  bool has_others_ = false;
  std::vector<std::pair<std::int64_t, Row>> of_;  // by job number, once finished
  bool ascending_ = true;
  Names licences_;
  Names accelerator_types_;
  std::vector<Wish> wishes_;
  std::map<NodeWishTexts, std::uint32_t> wish_index_;
  Names sites_;
  TaskTable tasks_;
  std::int64_t line_with_tasks_ = 0;
  std::int64_t line_with_accelerators_ = 0;
  std::int64_t line_with_many_licences_ = 0;
};

// Writes a sidecar row by row. What becomes of the writing is told by the stream.
class SidecarWriter {
 public:
  // The line with the names of the columns; empty: all columns.
  explicit SidecarWriter(std::ostream& out, std::vector<const AttributeColumn*> columns = {});
  // A row, or none where nothing is said. Fails where a name has in it what CSV cannot hold.
  Result<void> row(std::int64_t job, const JobAttributes& attributes);
  std::int64_t rows() const { return rows_; }

 private:
  std::ostream& out_;
  std::vector<const AttributeColumn*> columns_;
  std::string row_, cell_;
  std::int64_t rows_ = 0;
};

}  // namespace rota::log
