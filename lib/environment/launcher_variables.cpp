// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "launcher_variables.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "proc/proc_text.hpp"

namespace mpiacq {

namespace {

constexpr std::array<std::string_view, 6> addresses = {"PMIX_SERVER_URI4",      "PMIX_SERVER_URI3",
                                                       "PMIX_SERVER_URI2",      "PMIX_SERVER_URI",
                                                       "OMPI_MCA_orte_hnp_uri", "SLURM_LAUNCH_NODE_IPADDR"};
/// How the variables of launchers begin. All other variables are passed over.
constexpr std::array<std::string_view, 13> beginnings = {
    "OMPI_", "PMIX_", "PMI_",        "SLURM",       "MPI_LOCAL",         "FLUX_",  "PALS_",
    "RANK=", "WORLD", "LOCAL_RANK=", "LOCAL_WORLD", "TORCHELASTIC_RUN_", "MASTER_"};

/// The launchers' variables of an environment, by name. The first variable of each name counts (getenv(3)).
class found_variables {
 public:
  explicit found_variables(std::string_view environment) {
    (void)any_of_strings(environment, [&](std::string_view entry) {
      const auto starts_entry = [&](std::string_view prefix) { return entry.starts_with(prefix); };
      const auto equals = entry.find('=');
      if (equals != std::string_view::npos && std::any_of(beginnings.begin(), beginnings.end(), starts_entry)) {
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

bool is_spawned(const found_variables& found) {
  return found.text("OMPI_PARENT_PORT") || found.text("PMI_SPAWNED") == "1";
}

std::optional<launcher_statement> statement_of(const known_launcher& launcher, const found_variables& found) {
  const auto value = found.text(launcher.rank);
  if (!value) return std::nullopt;
  bool is_its_own = true;
  for_each_word(launcher.companions, [&](std::string_view name) { is_its_own = is_its_own && found.text(name); });
  if (!is_its_own) return std::nullopt;
  launcher_statement made;
  made.launcher = &launcher;
  made.stated = {std::string(launcher.rank), std::string(*value), found.number(launcher.rank),
                 found.number(launcher.world_size), found.number(launcher.local_rank)};
  made.local_size = found.number(launcher.local_size);
  for_each_word(launcher.job, [&](std::string_view name) {
    made.job.emplace_back(found.text(name).value_or("").substr(0, launcher_statement::most_of_job_value));
  });
  return made;
}

std::vector<launcher_statement> statements_in(const found_variables& found) {
  std::vector<launcher_statement> all;
  for (const known_launcher& launcher : known_launchers()) {
    if (auto one = statement_of(launcher, found)) all.push_back(std::move(*one));
  }
  return all;
}

}  // namespace

bool launcher_statement::names_job() const {
  return std::any_of(job.begin(), job.end(), [](const std::string& value) { return !value.empty(); });
}

bool launcher_statement::names_job_completely() const {
  return std::none_of(job.begin(), job.end(), [](const std::string& value) { return value.empty(); });
}

bool mentions_a_rank(std::string_view environment) {
  const auto launchers = known_launchers();
  return any_of_strings(environment, [&](std::string_view entry) {
    return std::any_of(launchers.begin(), launchers.end(), [&](const known_launcher& one) {
      return entry.size() > one.rank.size() && entry[one.rank.size()] == '=' && entry.starts_with(one.rank);
    });
  });
}

launcher_statements decode_launcher_statements(std::string_view environment) {
  const found_variables found(environment);
  return {statements_in(found), is_spawned(found)};
}

launcher_variables decode_launcher_variables(std::string_view environment, std::string_view inherited) {
  found_variables found(environment);
  if (!inherited.empty()) found.remove(found_variables(inherited));
  launcher_variables known;
  for (launcher_statement& one : statements_in(found)) known.ranks.push_back(std::move(one.stated));
  known.pmix_namespace = found.text("PMIX_NAMESPACE").value_or("");
  known.slurm_job = found.slurm_number("SLURM_JOB_ID");
  known.slurm_step = found.slurm_number("SLURM_STEP_ID");
  known.slurm_node = found.text("SLURMD_NODENAME").value_or("");
  known.is_spawned = is_spawned(found);
  for (const std::string_view name : addresses) {
    if (const auto value = found.text(name)) {
      known.starter_addresses.push_back(std::string(name) + "=" + std::string(*value));
    }
  }
  return known;
}

}  // namespace mpiacq
