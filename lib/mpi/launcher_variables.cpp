// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "launcher_variables.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "proc/proc_text.hpp"

namespace mpiacq {

namespace {

/// The variables of one launcher. An empty name means that the launcher has no such variable.
struct names {
  std::string_view rank;
  std::string_view world_size;
  std::string_view local_rank;
};
constexpr std::array<names, 4> launchers = {{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMIX_RANK", "", ""},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
}};
constexpr std::array<std::string_view, 6> addresses = {"PMIX_SERVER_URI4",      "PMIX_SERVER_URI3",
                                                       "PMIX_SERVER_URI2",      "PMIX_SERVER_URI",
                                                       "OMPI_MCA_orte_hnp_uri", "SLURM_LAUNCH_NODE_IPADDR"};
constexpr std::array<std::string_view, 5> prefixes = {"OMPI_", "PMIX_", "PMI_", "SLURM", "MPI_LOCALRANKID"};

/// The launchers' variables of an environment, by name. The first variable of each name counts (getenv(3)).
class found_variables {
 public:
  explicit found_variables(std::string_view environment) {
    (void)any_of_strings(environment, [&](std::string_view entry) {
      const auto starts_entry = [&](std::string_view prefix) { return entry.starts_with(prefix); };
      const auto equals = entry.find('=');
      if (equals != std::string_view::npos && std::any_of(prefixes.begin(), prefixes.end(), starts_entry)) {
        all_.try_emplace(entry.substr(0, equals), entry.substr(equals + 1));
      }
      return false;
    });
  }
  void remove(const found_variables& others) {
    std::erase_if(all_, [&](const auto& one) { return others.all_.contains(one.first); });
  }
  [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const {
    const auto found = all_.find(name);
    return found == all_.end() ? std::nullopt : std::optional{found->second};
  }
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const {
    const std::string_view value = text(name).value_or("");
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_number = problem == std::errc{} && end == value.data() + value.size() && number >= 0;
    return is_number ? std::optional{number} : std::nullopt;
  }
  /// Slurm's numbers have 32 bits. They become arguments of a command, so any other text is dropped.
  [[nodiscard]] std::string slurm_number(std::string_view name) const {
    constexpr std::size_t most_digits = 10;
    const std::string_view value = text(name).value_or("");
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool is_number = value.size() <= most_digits && std::all_of(value.begin(), value.end(), is_digit);
    return is_number ? std::string(value) : std::string{};
  }

 private:
  std::map<std::string_view, std::string_view> all_;
};

}  // namespace

launcher_variables decode_launcher_variables(std::string_view environment, std::string_view inherited) {
  found_variables found(environment);
  if (!inherited.empty()) found.remove(found_variables(inherited));
  launcher_variables known;
  for (const names& launcher : launchers) {
    const auto value = found.text(launcher.rank);
    if (!value) continue;
    known.ranks.push_back({std::string(launcher.rank), std::string(*value), found.number(launcher.rank),
                           found.number(launcher.world_size), found.number(launcher.local_rank)});
  }
  known.pmix_namespace = found.text("PMIX_NAMESPACE").value_or("");
  known.slurm_job = found.slurm_number("SLURM_JOB_ID");
  known.slurm_step = found.slurm_number("SLURM_STEP_ID");
  known.slurm_node = found.text("SLURMD_NODENAME").value_or("");
  known.is_spawned = found.text("OMPI_PARENT_PORT") || found.text("PMI_SPAWNED") == "1";
  for (const std::string_view name : addresses) {
    if (const auto value = found.text(name)) {
      known.starter_addresses.push_back(std::string(name) + "=" + std::string(*value));
    }
  }
  return known;
}

}  // namespace mpiacq
