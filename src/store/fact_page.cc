#include "store/fact_page.h"

#include <string_view>

#include "store/field_kinds.h"
#include "store/journal_head.h"

namespace rota::store {
namespace {

// What parts are called. A part that has no name here does not compile.
template <class T>
struct PartName;
template <>
struct PartName<JobSpec> {
  static constexpr std::string_view kText = "request";
};
template <>
struct PartName<JobTerms> {
  static constexpr std::string_view kText = "terms";
};
template <>
struct PartName<Dependency> {
  static constexpr std::string_view kText = "dependency";
};
template <>
struct PartName<Placement> {
  static constexpr std::string_view kText = "place";
};
template <>
struct PartName<Share> {
  static constexpr std::string_view kText = "share";
};
template <>
struct PartName<PerNode> {
  static constexpr std::string_view kText = "on each node";
};
template <>
struct PartName<Reason> {
  static constexpr std::string_view kText = "reason";
};
template <>
struct PartName<Job> {
  static constexpr std::string_view kText = "job";
};
template <>
struct PartName<NodePowerRow> {
  static constexpr std::string_view kText = "power of a node";
};
template <>
struct PartName<LoadReading> {
  static constexpr std::string_view kText = "load";
};
template <>
struct PartName<PowerCounters> {
  static constexpr std::string_view kText = "power of all nodes";
};
template <>
struct PartName<RunHistory> {
  static constexpr std::string_view kText = "past runs";
};
template <>
struct PartName<LicenceUse> {
  static constexpr std::string_view kText = "licences";
};
template <>
struct PartName<Reservation> {
  static constexpr std::string_view kText = "reservation";
};

using Parts = KindsOf<KindList<JobSpec, JobTerms, Dependency, Placement, Share, PerNode, LicenceUse, Reason, Job,
                               NodePowerRow, LoadReading, PowerCounters, RunHistory, Reservation>>;

template <class T>
std::string type_text() {
  if constexpr (AList<T>) {
    return "list of: " + type_text<typename T::value_type>();
  } else if constexpr (AShortList<T>) {
    return "list of at most " + std::to_string(T::kMost) + ": " + type_text<typename T::value_type>();
  } else if constexpr (AStruct<T>) {
    const std::string name(PartName<T>::kText);
    std::string anchor = name;
    for (char& c : anchor) c = c == ' ' ? '-' : c;
    return "[" + name + "](#part-" + anchor + ")";
  } else if constexpr (std::same_as<T, Instant>) {
    return "instant";
  } else if constexpr (std::same_as<T, Duration>) {
    return "duration";
  } else if constexpr (AnId<T>) {
    return "id";
  } else if constexpr (std::same_as<T, bool>) {
    return "yes or no";
  } else if constexpr (std::same_as<T, std::string>) {
    return "text";
  } else if constexpr (AnEnum<T>) {
    std::string all;
    for (const std::string_view name : ValueNames<T>::names)
      all += (all.empty() ? "`" : ", `") + std::string(name) + "`";
    return all;
  } else if constexpr (std::floating_point<T>) {
    return sizeof(T) == sizeof(double) ? "figure, 8 bytes" : "figure, 4 bytes";
  } else {
    return std::string(std::signed_integral<T> ? "number" : "number from 0 on") + ", " + std::to_string(8 * sizeof(T)) +
           " bits";
  }
}

template <AStruct T>
std::string field_rows() {
  std::string rows = "| field | is | meaning | since |\n|---|---|---|---|\n";
  for_each_field<T>([&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(std::declval<T>().*field.member)>;
    rows += "| `" + std::string(field.name) + "` | " + type_text<Member>() + " | " + std::string(field.meaning) +
            " | " + std::to_string(field.since) + " |\n";
  });
  return rows;
}

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::observed:
      return "observed";
    case Origin::decided:
      return "decided";
    case Origin::kept:
      return "kept";
  }
  return "";
}

}  // namespace

std::string fact_page() {
  std::string page;
  int number = 0;
  AllKinds::for_each([&]<class Kind>(std::type_identity<Kind>) {
    page += "### `" + std::string(Fields<Kind>::name) + "`\n\nNumber " + std::to_string(number++) + ", " +
            std::string(name_of(Fields<Kind>::origin)) + ": " + std::string(Fields<Kind>::meaning) + ".\n\n" +
            field_rows<Kind>() + "\n";
  });
  Parts::for_each([&]<class Part>(std::type_identity<Part>) {
    page += "### Part: " + std::string(PartName<Part>::kText) + "\n\n" + field_rows<Part>() + "\n";
  });
  page.pop_back();
  return page;
}

std::string head_page() { return field_rows<JournalHead>(); }

}  // namespace rota::store
