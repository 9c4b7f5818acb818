// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "starter/find_starter.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "launcher_variables.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/process_user.hpp"
#include "proc/known_processes.hpp"
#include "proc/process_state.hpp"
#include "starter/mpi2dd_starter.hpp"
#include "starter/starter_sight.hpp"
#include "table_hosts.hpp"

namespace mpiacq {

std::string with_executable(const process_facts& process) {
  const auto& executable = process.executable();
  return executable ? fmt::format("{} ({})", process.pid().value(), *executable)
                    : fmt::format("{}", process.pid().value());
}

result<void> still_the_starter(const found_starter& found) {
  if (!found.process || found.process->is_unchanged()) return {};
  return fail(error_code::process_gone,
              fmt::format("process {}, which was found as the starter, has ended, or has changed its user, meanwhile",
                          found.pid.value()));
}

namespace {

/// The table's entry that names this process of this node.
std::optional<entry_index> entry_of(const process_table& table, process_id pid) {
  const auto local = local_hosts_of(table, local_host::of_this_system());
  for (const entry_index entry : table.entries()) {
    const std::uint32_t host = table.host_numbers()[entry.value()];
    if (table.pid(entry) == pid && host < local.size() && local[host]) return entry;
  }
  return std::nullopt;
}

launcher_variables variables_of(const process_facts& process) {
  return decode_launcher_variables(process.environment().value_or(""));
}

bool is_rank_by_its_environment(const process_facts& process) {
  return !variables_of(process).ranks.empty();
}

found_starter mpir_starter(const process_pointer& starter, std::string how) {
  return {starter->pid(), starter, std::move(how), interface_kind::mpir, nullptr};
}

/// Another user's process can list any process, and is none of this job's.
bool belongs_to(const process_facts& process, user_id user) {
  const auto& users = process.users();
  return users && !why_no_rank(process.pid(), *users, user);
}

std::optional<found_starter> starter_listing(known_processes& all, const process_facts& rank,
                                             const debug_file_search& search) {
  std::vector<process_id> candidates = all.ancestors_of(rank.pid());
  const std::size_t ancestors = candidates.size();
  const auto others = all.all();
  candidates.insert(candidates.end(), others.begin(), others.end());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto candidate = candidates[i] == rank.pid() ? nullptr : all.find(candidates[i]);
    if (!candidate || !belongs_to(rank, candidate->user())) continue;
    const auto seen = look_at_starter(*candidate, search);
    if (!seen || !seen->table || seen->table->user() != rank.user()) continue;
    const auto entry = entry_of(*seen->table, rank.pid());
    if (!entry) continue;
    return mpir_starter(candidate, fmt::format("{} is no starter: attached to {}{}, whose table lists it as rank {}",
                                               with_executable(rank), i < ancestors ? "its ancestor " : "",
                                               with_executable(*candidate), entry->value()));
  }
  return std::nullopt;
}

/// A process that a starter has forked and that has executed no other program defines all of the interface too, and no
/// launcher will ever tell it of the job: a rank of a fork server, or srun's second process.
std::optional<found_starter> starter_copied_to(known_processes& all, const process_facts& copy,
                                               const debug_file_search& search) {
  std::optional<found_starter> original;
  const process_facts* last = &copy;
  for (const process_id pid : all.ancestors_of(copy.pid())) {
    const auto above = all.find(pid);
    if (!above || !is_copy_of(*last, *above) || !belongs_to(copy, above->user())) break;
    last = above.get();
    const auto seen = look_at_starter(*above, search);
    if (!seen || !seen->table) continue;
    const auto entry = entry_of(*seen->table, copy.pid());
    original = mpir_starter(
        above, fmt::format("{} is a forked copy of its {} {}, which has the job's table{}: attached to that",
                           with_executable(copy), copy.parent() == pid ? "parent" : "ancestor", with_executable(*above),
                           entry ? fmt::format(" and lists it as rank {}", entry->value()) : ""));
  }
  return original;
}

std::optional<found_starter> starter_below(known_processes& all, const process_facts& wrapper,
                                           const debug_file_search& search) {
  std::optional<found_starter> best;
  for (const process_id pid : all.all()) {
    const auto above = all.ancestors_of(pid);
    if (std::find(above.begin(), above.end(), wrapper.pid()) == above.end()) continue;
    const auto below = all.find(pid);
    if (!belongs_to(*below, wrapper.user()) || is_rank_by_its_environment(*below)) continue;
    const auto seen = look_at_starter(*below, search);
    if (!seen || !seen->has_interface) continue;
    if (!best || seen->table) {
      best = mpir_starter(below, fmt::format("{} is no starter: attached to {}, which it has started",
                                             with_executable(wrapper), with_executable(*below)));
    }
    if (seen->table) break;
  }
  return best;
}

error no_starter(const process_facts& process, const starter_sight& seen) {
  const launcher_variables told = variables_of(process);
  if (!told.ranks.empty()) {
    std::string addresses;
    for (const std::string& one : told.starter_addresses) addresses += "; " + one;
    return error{error_code::not_found,
                 fmt::format("{} is a rank ({}={}), and no process of this node that may be looked at has a table that "
                             "lists it: attach where the starter runs, or as its user{}",
                             with_executable(process), told.ranks.front().name, told.ranks.front().value, addresses)};
  }
  std::string message =
      fmt::format("{} is no starter, and no starter's table on this node lists it", with_executable(process));
  if (const std::string lacks = seen.lacks(); !lacks.empty()) message += ": " + lacks;
  return error{error_code::not_found, std::move(message)};
}

/// As for MPIR, the attach knows better why a process cannot be looked at.
result<found_starter> no_mpi2dd_at(const process_pointer& asked_for, const debug_file_search& search) {
  error why = no_mpi2dd(*asked_for, search);
  if (why.code == error_code::permission || why.code == error_code::process_gone) {
    return found_starter{asked_for->pid(), asked_for, {}, interface_kind::mpi2dd};
  }
  return fail(std::move(why));
}

}  // namespace

result<found_starter> find_starter(process_id asked_for, const debug_file_search& search,
                                   std::optional<interface_kind> choice) {
  known_processes all;
  const process_pointer process = all.find(asked_for);
  // The attach explains better that there is no such process, or that it is a zombie.
  if (!process || process->stat().has_ended()) return found_starter{asked_for, nullptr, {}};
  if (choice != interface_kind::mpir) {
    if (auto found = TRY(find_mpi2dd_starter(all, process, search))) return std::move(*found);
  }
  if (choice == interface_kind::mpi2dd) {
    if (auto below = mpi2dd_starter_below(all, *process, search)) return std::move(*below);
    return no_mpi2dd_at(process, search);
  }
  auto seen = look_at_starter(*process, search);
  auto itself = mpir_starter(process, {});
  if (!seen) {
    // The attach also knows which of the kernel's reasons it is.
    const error_code why = seen.error().code;
    if (why == error_code::permission || why == error_code::process_gone) return itself;
    return fail(std::move(seen).error());
  }
  itself.target = seen->target;
  if (seen->has_interface) {
    if (auto original = starter_copied_to(all, *process, search)) return std::move(*original);
  }
  if (seen->table || (seen->has_interface && !is_rank_by_its_environment(*process))) return itself;
  // A debuginfod server would be asked about every process of this node.
  debug_file_search here = search;
  here.debuginfod = false;
  if (auto above = starter_listing(all, *process, here)) return std::move(*above);
  if (!choice) {
    if (auto below = mpi2dd_starter_below(all, *process, here)) return std::move(*below);
  }
  if (auto below = starter_below(all, *process, here)) return std::move(*below);
  return fail(no_starter(*process, *seen));
}

}  // namespace mpiacq
