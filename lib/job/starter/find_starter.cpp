// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "starter/find_starter.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fmt/format.h>

#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/process_user.hpp"
#include "mpiacq/process/tracer.hpp"
#include "proc/local_host.hpp"
#include "proc/process_state.hpp"
#include "starter/missing_symbols.hpp"
#include "starter/mpi2dd_starter.hpp"

namespace mpiacq {

namespace {
constexpr std::size_t most_generations = 64;
}  // namespace

std::string with_executable(process_id pid) {
  const std::string executable = executable_of(pid);
  return executable.empty() ? fmt::format("{}", pid.value()) : fmt::format("{} ({})", pid.value(), executable);
}

result<void> still_has_user(const found_starter& found, user_id now) {
  if (!found.user || (now == *found.user && now != no_user)) return {};
  return fail(error_code::process_gone,
              fmt::format("process {}, which was found as the starter, has ended, or has changed its user, meanwhile",
                          found.pid.value()));
}

std::vector<process_id> processes_of_this_node() {
  std::vector<process_id> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (const auto pid = process_id{std::atoll(entry->d_name)}; pid.value() > 0) all.push_back(pid);
  }
  return all;
}

std::vector<process_id> ancestors_of(process_id pid) {
  std::vector<process_id> all;
  for (auto parent = parent_of(pid); parent && parent->value() > 1 && all.size() < most_generations;
       parent = parent_of(*parent)) {
    all.push_back(*parent);
  }
  return all;
}

namespace {

/// What a process offers, seen from outside while it runs.
struct sight {
  process_id pid;
  bool has_interface = false;
  std::shared_ptr<const process_table> table;  ///< null where there is none yet
  std::string lacks;
};

result<sight> look_at(process_id pid, const debug_file_search& search) {
  process_memory memory(pid);
  page_cache cache(memory);
  auto symbols = process_symbols::open(pid, cache, search);
  if (!symbols) return fail(std::move(symbols).error());
  sight seen{pid, false, nullptr, {}};
  // Without a writer nothing is asked for: what is there is told, and that is all.
  mpir::acquisition eye;
  const auto actions = eye.at_attach(target{cache, nullptr, (*symbols)->abi(), **symbols, user_of(pid)});
  if (!actions) return fail(actions.error());
  seen.has_interface = eye.symbols() != nullptr && eye.symbols()->complete();
  if (eye.table() && !eye.table()->empty()) seen.table = eye.table();
  if (!seen.has_interface && eye.symbols() != nullptr) {
    seen.lacks = missing_symbols_sentence(*eye.symbols(), (*symbols)->modules(), (*symbols)->executable_is_stripped())
                     .value_or("");
  }
  return seen;
}

/// The table's entry that is this process of this node.
std::optional<std::size_t> entry_of(const process_table& table, process_id pid) {
  const auto local = local_hosts_of(table, local_host::of_this_system());
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::uint32_t host = table.host_numbers()[i];
    if (table.pid(i) == pid && host < local.size() && local[host]) return i;
  }
  return std::nullopt;
}

struct rank_sign {
  std::string variable;
  std::string value;
};

/// What launchers put into a rank's environment.
std::optional<rank_sign> sign_of_a_rank(process_id pid) {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (auto value = environment_of(pid, variable)) return rank_sign{variable, std::move(*value)};
  }
  return std::nullopt;
}

/// Where its launcher said that it is to be reached: for a person to see on which node the starter is.
std::string whereabouts(process_id pid) {
  std::string text;
  for (const char* variable : {"PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI2", "PMIX_SERVER_URI",
                               "OMPI_MCA_orte_hnp_uri", "SLURM_LAUNCH_NODE_IPADDR"}) {
    if (const auto value = environment_of(pid, variable)) text += fmt::format("; {}={}", variable, *value);
  }
  return text;
}

std::optional<found_starter> starter_listing(process_id rank, const debug_file_search& search) {
  std::vector<process_id> followed_processes = ancestors_of(rank);
  const std::size_t ancestors = followed_processes.size();
  const user_id user = user_of(rank);
  const auto others = processes_of_this_node();
  followed_processes.insert(followed_processes.end(), others.begin(), others.end());
  for (std::size_t i = 0; i < followed_processes.size(); ++i) {
    // Another user's process can list whatever it likes.
    if (followed_processes[i] == rank || why_no_rank(rank, user_of(followed_processes[i]))) continue;
    const auto seen = look_at(followed_processes[i], search);
    if (!seen || !seen->table || seen->table->user() != user) continue;
    const auto entry = entry_of(*seen->table, rank);
    if (!entry) continue;
    return found_starter{
        followed_processes[i],
        fmt::format("{} is no starter: attached to {}{}, whose table lists it as rank {}", with_executable(rank),
                    i < ancestors ? "its ancestor " : "", with_executable(followed_processes[i]), *entry),
        interface_kind::mpir, user};
  }
  return std::nullopt;
}

/// A process that a starter has forked off and that has not exec'ed defines all of the interface too, and nobody will
/// ever tell it of the job: a rank of a fork server, srun's second process.
std::optional<found_starter> starter_copied_to(process_id copy, const debug_file_search& search) {
  std::optional<found_starter> original;
  auto last = process_facts::open(copy);
  for (const process_id above : ancestors_of(copy)) {
    auto next = process_facts::open(above);
    if (!last || !next || !is_copy_of(*last, *next) || why_no_rank(copy, next->user())) break;
    last = std::move(next);
    const auto seen = look_at(above, search);
    if (!seen || !seen->table) continue;
    const auto entry = entry_of(*seen->table, copy);
    original =
        found_starter{above,
                      fmt::format("{} is a forked copy of its {} {}, which has the job's table{}: "
                                  "attached to that",
                                  with_executable(copy), parent_of(copy) == above ? "parent" : "ancestor",
                                  with_executable(above), entry ? fmt::format(" and lists it as rank {}", *entry) : ""),
                      interface_kind::mpir, user_of(copy)};
  }
  return original;
}

std::optional<found_starter> starter_below(process_id wrapper, const debug_file_search& search) {
  std::optional<found_starter> best;
  for (const process_id pid : processes_of_this_node()) {
    const auto above = ancestors_of(pid);
    if (std::find(above.begin(), above.end(), wrapper) == above.end() || sign_of_a_rank(pid)) continue;
    if (why_no_rank(pid, user_of(wrapper))) continue;
    const auto seen = look_at(pid, search);
    if (!seen || !seen->has_interface) continue;
    if (!best || seen->table) {
      best = found_starter{pid,
                           fmt::format("{} is no starter: attached to {}, which it has started",
                                       with_executable(wrapper), with_executable(pid)),
                           interface_kind::mpir, user_of(wrapper)};
    }
    if (seen->table) break;
  }
  return best;
}

error no_starter(process_id pid, const sight& seen) {
  if (const auto sign = sign_of_a_rank(pid)) {
    return error{error_code::not_found,
                 fmt::format("{} is a rank ({}={}), and no process of this node that may be looked at has a table that "
                             "lists it: attach where the starter runs, or as its user{}",
                             with_executable(pid), sign->variable, sign->value, whereabouts(pid))};
  }
  std::string message =
      fmt::format("{} is no starter, and no starter's table on this node lists it", with_executable(pid));
  if (!seen.lacks.empty()) message += ": " + seen.lacks;
  return error{error_code::not_found, std::move(message)};
}

/// As for MPIR, the attach knows better why a process cannot be looked at.
result<found_starter> no_mpi2dd_at(process_id pid, const debug_file_search& search) {
  error why = no_mpi2dd(pid, search);
  if (why.code == error_code::permission || why.code == error_code::process_gone) {
    return found_starter{pid, {}, interface_kind::mpi2dd};
  }
  return fail(std::move(why));
}

}  // namespace

result<found_starter> find_starter(process_id asked_for, const debug_file_search& search,
                                   std::optional<interface_kind> choice) {
  // The attach says it better: no such process, or one that nobody has waited for.
  if (state_of(asked_for) == run_state::gone) return found_starter{asked_for, {}};
  if (choice != interface_kind::mpir) {
    auto found = find_mpi2dd_starter(asked_for, search);
    if (!found) return fail(std::move(found).error());
    if (*found) return std::move(**found);
  }
  if (choice == interface_kind::mpi2dd) {
    if (auto below = mpi2dd_starter_below(asked_for, search)) return std::move(*below);
    return no_mpi2dd_at(asked_for, search);
  }
  auto seen = look_at(asked_for, search);
  if (!seen) {
    // So does it know which of the kernel's reasons it is.
    const error_code why = seen.error().code;
    if (why == error_code::permission || why == error_code::process_gone) return found_starter{asked_for, {}};
    return fail(std::move(seen).error());
  }
  if (seen->has_interface) {
    if (auto original = starter_copied_to(asked_for, search)) return std::move(*original);
  }
  if (seen->table || (seen->has_interface && !sign_of_a_rank(asked_for))) return found_starter{asked_for, {}};
  // No server is asked about every process of this node.
  debug_file_search here = search;
  here.debuginfod = false;
  if (auto above = starter_listing(asked_for, here)) return std::move(*above);
  if (!choice) {
    if (auto below = mpi2dd_starter_below(asked_for, here)) return std::move(*below);
  }
  if (auto below = starter_below(asked_for, here)) return std::move(*below);
  return fail(no_starter(asked_for, *seen));
}

}  // namespace mpiacq
