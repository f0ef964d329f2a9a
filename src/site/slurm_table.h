// What `sacctmgr -P show` prints: a line of names, and rows with bars between their cells.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "site/slurm_nodes.h"

namespace rota::site {

// What sacctmgr is asked for. Behind the first few stand the limits that Slurm may keep.
inline constexpr const char* kQosFormat =
    "Name,Priority,UsageFactor,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,GrpSubmit,GrpWall,MaxTRES,MaxTRESPerNode,"
    "MaxTRESMins,MaxWall,MaxTRESPU,MaxJobsPU,MaxSubmitPU,MaxTRESPA,MaxJobsPA,MaxSubmitPA,MinTRES,Flags,Preempt,"
    "PreemptMode,PreemptExemptTime,GraceTime";
inline constexpr const char* kAssociationFormat =
    "Cluster,Account,User,Partition,ParentName,Share,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,GrpSubmit,GrpWall,"
    "MaxTRES,MaxTRESPerNode,MaxTRESMins,MaxWall,MaxJobs,MaxSubmit";

// Its views are valid as long as the text is.
class SlurmTable {
 public:
  static Result<SlurmTable> read(std::string_view text, const std::string& shown, std::string_view command,
                                 SlurmRemarks& remarks);

  // Which column bears one of these names, in small letters; fails where none does.
  Result<std::size_t> column(std::initializer_list<std::string_view> names, const std::string& shown,
                             std::string_view command) const;
  const std::vector<std::string_view>& names() const { return rows_.front(); }
  std::size_t size() const { return rows_.size() - 1; }
  std::string_view cell(std::size_t row, std::size_t column) const;

 private:
  std::vector<std::vector<std::string_view>> rows_;
};

}  // namespace rota::site
