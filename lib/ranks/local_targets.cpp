// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "local_targets.hpp"

#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpiacq/base/host_names.hpp"
#include "mpiacq/process/process_user.hpp"
#include "proc/process_state.hpp"
#include "running_target.hpp"

namespace mpiacq {

local_targets::local_targets(debug_file_search search, local_host here)
    : search_(std::move(search)), here_(std::move(here)), name_(here_.name()) {
  search_.debuginfod = false;
}

local_targets local_targets::around(const process_facts& named, debug_file_search search, std::optional<user_id> user) {
  // A container may have its own name for this host.
  auto inside = local_host::inside(named);
  local_targets made(std::move(search), inside ? std::move(*inside) : local_host::of_this_system());
  made.user_ = user ? *user : named.user();
  // The environment of another user's process is not trusted.
  const bool is_own = named.users() && !why_no_rank(named.pid(), *named.users(), *made.user_);
  if (is_own) made.also_called_ = named.variable("SLURMD_NODENAME").value_or("");
  return made;
}

local_targets local_targets::around(process_id named, debug_file_search search, std::optional<user_id> user) {
  const auto facts = process_facts::open(named);
  if (facts) return around(*facts, std::move(search), user);
  local_targets made(std::move(search));
  made.user_ = user.value_or(no_user);
  return made;
}

bool local_targets::is_here(std::string_view host) const {
  if (host.empty()) return false;
  if (!is_host_name(host) && host != name_) return false;
  return host == name_ || host == also_called_ || here_.is_called(host);
}

std::string local_targets::canonical_host(std::string_view host) const {
  return is_here(host) ? name_ : std::string(host);
}

result<std::unique_ptr<mpi2dd::opened_process>> local_targets::open(std::string_view host, process_id pid,
                                                                    std::string_view) const {
  if (!is_here(host)) {
    return fail(error_code::unsupported,
                fmt::format("process {} is on {}, and only processes of this node ({}) can be looked at from here",
                            pid.value(), host, name_));
  }
  const process_facts facts = TRY(process_facts::open(pid));
  if (!user_) return seen_from_here(TRY(running_target::open(pid, search_)), facts);
  const process_users users = TRY(result<process_users>(facts.users()));
  if (auto why = why_no_rank(pid, users, *user_)) return fail(std::move(*why));
  auto opened = TRY(running_target::open(pid, search_));
  if (!facts.is_unchanged()) {
    return fail(error_code::process_gone,
                fmt::format("process {} has ended, or has changed its user, while it was opened", pid.value()));
  }
  return seen_from_here(std::move(opened), facts);
}

std::unique_ptr<mpi2dd::opened_process> local_targets::seen_from_here(std::unique_ptr<mpi2dd::opened_process> process,
                                                                      const process_facts& facts) const {
  const auto space = inner_namespace_of(facts);
  if (!space) return process;
  return std::make_unique<process_in_container>(std::move(process), *space, pids_,
                                                [this](std::string_view host) { return is_here(host); });
}

mpi2dd::opener local_targets::opener() const {
  return [this](std::string_view host, process_id pid, std::string_view executable) {
    return open(host, pid, executable);
  };
}

mpi2dd::walk_start local_targets::start(const process_facts& process) const {
  return {name_, process.pid(), process.executable().value_or("")};
}

mpi2dd::walk_start local_targets::start(process_id pid) const {
  return {name_, pid, executable_of(pid)};
}

mpi2dd::walk_options local_targets::options(mpi2dd::walk_options base) const {
  base.canonical_host = [this](std::string_view host) { return canonical_host(host); };
  base.is_elsewhere = [this](std::string_view host) { return !host.empty() && !is_here(host); };
  return base;
}

}  // namespace mpiacq
