#include "log/attribute_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/text.h"
#include "log/csv.h"
#include "log/line_blocks.h"
#include "log/log_top.h"

namespace rota::log {
namespace {

constexpr std::string_view kJob = "job";

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> all{kJob};
  for (const AttributeColumn& column : attribute_columns()) all.push_back(column.name);
  return all;
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    all += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + std::string(names[i]);
  }
  return all;
}

}  // namespace

class SidecarReader {
 public:
  explicit SidecarReader(std::string shown) : shown_(shown), table_(std::move(shown)) {}

  Result<AttributeTable> read(LineBlocks blocks) {
    auto read = blocks.each_line([&](std::string_view line) { return read_line(trimmed(line)); });
    if (!read) return std::unexpected(read.error());
    if (names_.empty()) {
      return fail(shown_ + ": there is no line with the names of the columns, such as job,restart,restart_cost.");
    }
    TRY(check_numbers());
    table_.finish();
    return std::move(table_);
  }

 private:
  std::unexpected<Error> wrong(const std::string& what) const { return wrong(line_, what); }
  std::unexpected<Error> wrong(std::int64_t line, const std::string& what) const {
    return fail("{}:{}: {}", shown_, line, what);
  }

  Result<void> read_line(std::string_view line) {
    ++line_;
    if (line.starts_with('#')) {
      const std::string_view note = trimmed(line.substr(1));
      if (names_.empty() && note.starts_with(kMadeBy)) table_.made_by_ = note.substr(kMadeBy.size());
    }
    if (line.empty() || line.starts_with('#')) return {};
    const auto cells = cells_.read(line);
    if (!cells) return wrong(cells.error().message);
    return names_.empty() ? read_header(**cells) : read_row(**cells);
  }

  Result<void> read_header(const std::vector<std::string_view>& cells) {
    for (const std::string_view name : cells) {
      const AttributeColumn* const column = attribute_column(name);
      if (column == nullptr && name != kJob) {
        const auto near = nearest(name, all_names());
        return wrong(fmt::format("there is no column {}{}", quoted(name),
                                 near.empty() ? fmt::format("; there are {}.", listed(all_names()))
                                              : fmt::format("; did you mean {}?", near)));
      }
      if (std::ranges::find(names_, name) != names_.end()) {
        return wrong(fmt::format("column {} is there twice.", quoted(name)));
      }
      names_.emplace_back(name);
      columns_.push_back(column);
    }
    if (std::ranges::find(names_, kJob) == names_.end()) {
      return wrong("no column is called job: it has the jobs' numbers, or * for all jobs that are not named.");
    }
    return {};
  }

  Result<void> read_row(const std::vector<std::string_view>& cells) {
    if (cells.size() != columns_.size()) {
      return wrong(fmt::format("there are {} cells under {} columns.", cells.size(), columns_.size()));
    }
    JobAttributes attributes;
    std::string_view job;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string_view cell = cells[i];
      if (columns_[i] == nullptr) job = cell;
      if (columns_[i] == nullptr || cell.empty()) continue;
      if (auto done = columns_[i]->read(cell, attributes); !done) return wrong(done.error().message);
    }
    if (auto done = check(attributes); !done) return wrong(done.error().message);
    return add(job, attributes);
  }

  Result<void> add(std::string_view job, const JobAttributes& attributes) {
    if (job == "*") {
      if (table_.has_others_) return wrong("* is there twice.");
      table_.add_others(attributes, line_);
      return {};
    }
    const auto number = parse_integer(job);
    if (!number)
      return wrong(fmt::format("a job is a number, or * for all jobs that are not named, not {}.", quoted(job)));
    table_.add(*number, attributes, line_);
    lines_.emplace_back(*number, line_);
    return {};
  }

  Result<void> check_numbers() {
    if (table_.ascending_) return {};
    std::ranges::sort(lines_);
    const auto twice = std::ranges::adjacent_find(lines_, {}, &std::pair<std::int64_t, std::int64_t>::first);
    if (twice == lines_.end()) return {};
    return wrong((twice + 1)->second, fmt::format("job {} is there twice.", twice->first));
  }

  std::string shown_;
  std::int64_t line_ = 0;
  CsvCells cells_;
  std::vector<std::string> names_;
  std::vector<const AttributeColumn*> columns_;               // which each cell is; nullptr: the job's number
  std::vector<std::pair<std::int64_t, std::int64_t>> lines_;  // of jobs
  AttributeTable table_;
};

Result<AttributeTable> AttributeTable::parse(std::string_view text, const std::string& shown) {
  return SidecarReader(shown).read(LineBlocks::over(text, shown));
}

Result<AttributeTable> AttributeTable::read(const std::string& path) {
  auto blocks = TRY(LineBlocks::open(path));
  return SidecarReader(blocks.shown()).read(std::move(blocks));
}

std::uint32_t AttributeTable::Names::index_of(const std::string& name, std::int64_t line) {
  if (name.empty()) return kNone;
  const auto [found, fresh] = index.emplace(name, static_cast<std::uint32_t>(names.size()));
  if (fresh) names.push_back({name, line});
  return found->second;
}

std::uint32_t AttributeTable::wish_of(const NodeWishTexts& texts, std::int64_t line) {
  if (texts.empty()) return kNone;
  const auto [found, fresh] = wish_index_.emplace(texts, static_cast<std::uint32_t>(wishes_.size()));
  if (fresh) wishes_.push_back({texts, line});
  return found->second;
}

AttributeTable::Row AttributeTable::row_of(const JobAttributes& attributes, std::int64_t line) {
  Row row;
  row.memory = attributes.memory;
  row.input = attributes.input;
  row.restart_cost = attributes.restart_cost;
  row.nodes = attributes.nodes;
  row.site = sites_.index_of(attributes.site, line);
  for (const NamedLicences& each : attributes.licences)
    row.licences.emplace_back(licences_.index_of(each.name, line), each.count);
  row.accelerators = attributes.accelerators;
  row.accelerator_type = accelerator_types_.index_of(attributes.accelerator_type, line);
  row.wish = wish_of(attributes.wish, line);
  row.priority = attributes.priority;
  row.restart = attributes.restart;
  row.anywhere = attributes.anywhere;
  const auto too_many = [](const NamedLicences& each) { return each.count > MoreLicences::kMostCount; };
  const bool several = attributes.licences.size() > 1;
  if (attributes.licences.size() > kMostLicenceKinds || (several && std::ranges::any_of(attributes.licences, too_many)))
    line_with_many_licences_ = line_with_many_licences_ == 0 ? line : line_with_many_licences_;
  if (attributes.accelerators > 0 && line_with_accelerators_ == 0) line_with_accelerators_ = line;
  if (attributes.tasks.count > 0 && line_with_tasks_ == 0) line_with_tasks_ = line;
  return row;
}

void AttributeTable::add(std::int64_t job, const JobAttributes& attributes, std::int64_t line) {
  ascending_ = ascending_ && (of_.empty() || of_.back().first < job);
  of_.emplace_back(job, row_of(attributes, line));
  if (attributes.tasks.count > 0) tasks_.of_named.emplace(job, attributes.tasks);
}

void AttributeTable::add_others(const JobAttributes& attributes, std::int64_t line) {
  has_others_ = true;
  of_others_ = row_of(attributes, line);
  if (attributes.tasks.count > 0) tasks_.of_others = attributes.tasks;
}

void AttributeTable::finish() {
  if (!ascending_) {
    std::ranges::stable_sort(of_, {}, &std::pair<std::int64_t, Row>::first);
    const auto doubled = std::ranges::unique(of_, {}, &std::pair<std::int64_t, Row>::first);
    of_.erase(doubled.begin(), doubled.end());
    ascending_ = true;
  }
  of_.shrink_to_fit();
  if (!tasks_.of_others) return;
  for (const auto& [job, attributes] : of_) tasks_.of_named.emplace(job, std::nullopt);  // named, and without tasks
}

AttributeTable AttributeTable::together(const AttributeTable& sidecar, const AttributeTable& of_log) {
  AttributeTable both(sidecar.shown_);
  both.of_others_ = sidecar.of_others_;
  both.has_others_ = sidecar.has_others_;
  both.licences_ = sidecar.licences_;
  both.accelerator_types_ = sidecar.accelerator_types_;
  both.wishes_ = sidecar.wishes_;
  both.wish_index_ = sidecar.wish_index_;
  both.sites_ = sidecar.sites_;
  both.tasks_ = sidecar.tasks_;
  both.line_with_tasks_ = sidecar.line_with_tasks_;
  both.line_with_accelerators_ = sidecar.line_with_accelerators_;
  both.line_with_many_licences_ = sidecar.line_with_many_licences_;
  for (const auto& [job, row] : of_log.of_) {
    const JobAttributes logged = of_log.attributes_of(job);
    JobAttributes attributes = sidecar.attributes_of(job);
    if (attributes.nodes == 0) attributes.nodes = logged.nodes;
    if (attributes.memory == 0) attributes.memory = logged.memory;
    if (attributes.licences.empty()) attributes.licences = logged.licences;
    if (attributes.accelerators == 0) {
      std::tie(attributes.accelerator_type, attributes.accelerators) =
          std::tie(logged.accelerator_type, logged.accelerators);
    }
    if (attributes.wish.empty()) attributes.wish = logged.wish;
    both.add(job, attributes, 1);
  }
  for (const auto& [job, row] : sidecar.of_) {
    if (!std::ranges::binary_search(of_log.of_, job, {}, &std::pair<std::int64_t, Row>::first)) {
      both.add(job, sidecar.attributes_of(job), 1);
    }
  }
  both.finish();
  return both;
}

const AttributeTable::Row& AttributeTable::of(std::int64_t job) const {
  const auto found = std::ranges::lower_bound(of_, job, {}, &std::pair<std::int64_t, Row>::first);
  return found == of_.end() || found->first != job ? of_others_ : found->second;
}

JobAttributes AttributeTable::attributes_of(std::int64_t job) const {
  const Row& row = of(job);
  JobAttributes attributes;
  attributes.memory = row.memory;
  attributes.input = row.input;
  attributes.restart_cost = row.restart_cost;
  attributes.nodes = row.nodes;
  if (row.site != kNone) attributes.site = sites_.names[row.site].text;
  for (const auto& [name, count] : row.licences) attributes.licences.push_back({licences_.names[name].text, count});
  attributes.accelerators = row.accelerators;
  if (row.accelerator_type != kNone) attributes.accelerator_type = accelerator_types_.names[row.accelerator_type].text;
  if (row.wish != kNone) attributes.wish = wishes_[row.wish].texts;
  attributes.priority = row.priority;
  attributes.restart = row.restart;
  attributes.anywhere = row.anywhere;
  if (const TaskSpec* const tasks = tasks_.of(job)) attributes.tasks = *tasks;
  return attributes;
}

SidecarWriter::SidecarWriter(std::ostream& out, std::vector<const AttributeColumn*> columns)
    : out_(out), columns_(std::move(columns)) {
  if (columns_.empty()) {
    for (const AttributeColumn& column : attribute_columns()) columns_.push_back(&column);
  }
  out_ << kJob;
  for (const AttributeColumn* const column : columns_) out_ << ',' << column->name;
  out_ << '\n';
}

Result<void> SidecarWriter::row(std::int64_t job, const JobAttributes& attributes) {
  if (attributes == JobAttributes{}) return {};
  row_ = std::to_string(job);
  for (const AttributeColumn* const column : columns_) {
    cell_.clear();
    column->write(attributes, cell_);
    if (cell_.find_first_of("\n\r") != std::string::npos) {
      return fail("job {}: {} {} cannot stand in a CSV file. Write JSON lines, or choose another name.", job,
                  column->name, quoted(cell_));
    }
    row_ += ',';
    row_ += csv_text(cell_);
  }
  row_ += '\n';
  out_ << row_;
  ++rows_;
  return {};
}

}  // namespace rota::log
