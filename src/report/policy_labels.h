// What policies are called in sentences, tables and names of files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/metrics.h"

namespace rota::report {

// For each of the texts, which stand beside each other, itself; of one that is longer than 40 characters its first
// word, with a number from 1 on, in this order, where another of them begins with the same word.
std::vector<std::string> policy_labels(std::span<const std::string> texts);

void call_by_labels(std::span<Summary> summaries);

// What the labels of rows stand for, each once: (label, text).
std::vector<std::pair<std::string, std::string>> labelled(std::span<const Summary> summaries);

}  // namespace rota::report
