// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "local_targets.hpp"

#include <utility>

#include <fmt/format.h>

#include "mpiacq/base/host_names.hpp"
#include "mpiacq/process/process_user.hpp"
#include "mpiacq/process/tracer.hpp"
#include "proc/process_state.hpp"

namespace mpiacq {

namespace {

/// Memory is read anew each time, as tables may change under our hands. What the symbols are read from is remembered:
/// the dynamic linker has laid it down.
class running_target final : public mpi2dd::opened_process {
 public:
  explicit running_target(process_id pid) : memory_(pid), cache_(memory_) {}

  [[nodiscard]] result<void> open(const debug_file_search& search) {
    auto symbols = process_symbols::open(memory_.pid(), cache_, search);
    if (!symbols) return fail(std::move(symbols).error());
    symbols_ = std::move(*symbols);
    return {};
  }
  target as_target() override { return {memory_, nullptr, symbols_->abi(), *symbols_}; }

 private:
  process_memory memory_;
  page_cache cache_;
  std::unique_ptr<process_symbols> symbols_;
};

}  // namespace

local_targets::local_targets(debug_file_search search, local_host here)
    : search_(std::move(search)), here_(std::move(here)), name_(here_.name()) {
  search_.debuginfod = false;
}

local_targets local_targets::around(process_id named, debug_file_search search, std::optional<user_id> user) {
  local_targets made(std::move(search));
  made.user_ = user ? user : std::optional{user_of(named)};
  // Another user's process can say anything.
  if (!why_no_rank(named, *made.user_)) made.also_called_ = environment_of(named, "SLURMD_NODENAME").value_or("");
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
  if (auto why = user_ ? why_no_rank(pid, *user_) : std::nullopt) return fail(std::move(*why));
  auto opened = std::make_unique<running_target>(pid);
  if (auto done = opened->open(search_); !done) return fail(std::move(done).error());
  // Its number may have become another's while it was opened.
  if (auto why = user_ ? why_no_rank(pid, *user_) : std::nullopt) return fail(std::move(*why));
  return opened;
}

mpi2dd::opener local_targets::opener() const {
  return [this](std::string_view host, process_id pid, std::string_view executable) {
    return open(host, pid, executable);
  };
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
