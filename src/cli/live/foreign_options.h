// #PBS, #BSUB and #$ lines are other languages, which are put into Rota's.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/live/submit_options.h"

namespace rota::cli {

// The words of a line as options of Rota: keys of cli/live/submit_options.h with their values, and what there is no
// equal for.
struct ForeignOptions {
  std::vector<std::pair<std::string, std::string>> values = {};
  std::vector<std::string> left_out = {};  // as they stand there: no job runs elsewhere or on less without them
  std::vector<std::string> needed = {};    // without which the job might run where it must not

  void put(std::string key, std::string value) { values.emplace_back(std::move(key), std::move(value)); }
};

// Each fails with half a sentence where a value makes no sense.
Result<ForeignOptions> pbs_options(const std::vector<std::string>& words);
Result<ForeignOptions> lsf_options(const std::vector<std::string>& words);
Result<ForeignOptions> sge_options(const std::vector<std::string>& words);

// By the dialect: not Rota's own, nor Slurm's.
inline Result<ForeignOptions> foreign_options(Dialect dialect, const std::vector<std::string>& words) {
  return dialect == Dialect::pbs   ? pbs_options(words)
         : dialect == Dialect::lsf ? lsf_options(words)
                                   : sge_options(words);
}

// What they have in common.
std::unexpected<Error> wrong_value(std::string_view text, const std::string& why);  // half a sentence: "..." is no ...
// "[CC]YYMMDDhhmm[.SS]" or "hhmm" as cli/when.h reads it.
Result<std::string> digits_when(std::string_view text);
// Without the computer in front of it, and with Rota's patterns for the words that are given.
std::string path_with(std::string_view path, const std::vector<std::pair<std::string_view, std::string_view>>& words);

// The words of a line whose options are words: each is a switch, an option with the next word for its value, or needed.
class WordOptions {
 public:
  explicit WordOptions(const std::vector<std::string>& words) : words_(words) {}
  virtual ~WordOptions() = default;
  WordOptions(const WordOptions&) = delete;
  WordOptions& operator=(const WordOptions&) = delete;

  Result<ForeignOptions> read();

 protected:
  virtual bool is_switch(const std::string& word) = 0;  // and has been taken
  virtual Result<void> read_option(const std::string& name, const std::string& value) = 0;
  Result<void> put(const char* key, std::string value) {
    out_.put(key, std::move(value));
    return Result<void>{};
  }
  const std::string* next_word() { return at_ + 1 < words_.size() ? &words_[++at_] : nullptr; }

  ForeignOptions out_;

 private:
  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
};

}  // namespace rota::cli
