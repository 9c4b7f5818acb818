// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Judges the MPI2DD information of single processes.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "judges/judges.hpp"
#include "judges/judging_mpi2dd.hpp"

namespace mpiacq::check::judges {

namespace {

using mpi2dd::debug_state;
using mpi2dd::mpi_flag;

constexpr std::string_view not_defined = "MPI2DD_info is not defined";

}  // namespace

finding mpi2dd_breakpoint(const observations& o) {
  if (!o.mpi2dd.info) return not_applicable("{}", not_defined);
  if (!o.mpi2dd.breakpoint) return failed("{} defines MPI2DD_info and no MPI2DD_breakpoint", o.mpi2dd.info->module);
  if (o.mpi2dd.breakpoint->kind == symbol_kind::data) {
    return failed("MPI2DD_breakpoint in {} is a variable", o.mpi2dd.breakpoint->module);
  }
  return passed("a function in {}", o.mpi2dd.breakpoint->module);
}

finding mpi2dd_initial_flags(const observations& o) {
  if (!o.mpi2dd.info) return not_applicable("{}", not_defined);
  if (!o.mpi2dd.initially) return not_applicable("MPI2DD_info could not be read before the starter had run");
  const auto flags = o.mpi2dd.initially->debugger_flags;
  if (flags.bits() != 0) return failed("debugger_flags begins as {}", mpi2dd::text(flags));
  return passed("zero before the starter has run");
}

finding mpi2dd_states(const observations& o) {
  if (!o.mpi2dd.info) return not_applicable("{}", not_defined);
  if (o.mpi2dd.events.empty()) return not_applicable("MPI2DD_breakpoint was not called while we watched");
  for (const mpi2dd_event_seen& event : o.mpi2dd.events) {
    if (mpi2dd::name(event.state).empty()) {
      return failed("MPI2DD_breakpoint was called with debug_state {}", static_cast<unsigned>(event.state));
    }
  }
  return passed("{} calls, the first for {}", o.mpi2dd.events.size(), mpi2dd::name(o.mpi2dd.events.front().state));
}

finding mpi2dd_start(const observations& o) {
  if (!o.mpi2dd.info) return not_applicable("{}", not_defined);
  if (!o.mpi2dd.breakpoint) return not_applicable("there is no MPI2DD_breakpoint to call (MPI2DD.breakpoint)");
  const auto is = [&](debug_state state) {
    return std::any_of(o.mpi2dd.events.begin(), o.mpi2dd.events.end(),
                       [&](const mpi2dd_event_seen& event) { return event.state == state; });
  };
  if (is(debug_state::start)) return passed("the starter called MPI2DD_breakpoint for MPI2DD_DEBUG_START");
  if (is(debug_state::abort)) return not_applicable("the job aborted before");
  if (std::any_of(o.mpi2dd.events.begin(), o.mpi2dd.events.end(),
                  [](const mpi2dd_event_seen& event) { return mpi2dd::name(event.state).empty(); })) {
    return not_applicable("it was called, and did not say why (MPI2DD.states)");
  }
  if (mpi2dd(o).what == verdict::fail) return not_applicable("its MPI2DD_info is not the draft's (MPI2DD)");
  if (!o.ended) return not_applicable("the starter had not ended when we stopped looking");
  return failed("the starter has ended without having announced its job");
}

finding mpi2dd_starter_flag(const observations& o) {
  if (const auto why = no_graph(o)) return *why;
  const mpi2dd::visit& starter = o.mpi2dd.job->graph.visits().front();
  if (!starter.is_starter()) return failed("its mpi_flags are {}", mpi2dd::text(starter.info->block.mpi_flags));
  return passed("MPI2DD_MPIFLAG_I_AM_STARTER is set");
}

finding mpi2dd_directory_flag(const observations& o) {
  if (const auto why = no_graph(o)) return *why;
  const mpi2dd::graph& graph = o.mpi2dd.job->graph;
  const std::string wrong = first_wrong(graph, [&graph](const mpi2dd::visit& v) {
    const bool is_listed = graph.is_listed_as_directory(v.process);
    if ((v.processes.entries.empty() && !is_listed) || v.has(mpi_flag::i_am_dir)) return std::string{};
    return fmt::format("{} entries{}, and its mpi_flags are {}", v.processes.entries.size(),
                       is_listed ? ", a metadirectory lists it as a directory" : "",
                       mpi2dd::text(v.info->block.mpi_flags));
  });
  if (!wrong.empty()) return failed("{}", wrong);
  return passed("MPI2DD_MPIFLAG_I_AM_DIR is set wherever there are entries, and in each listed directory");
}

finding mpi2dd_metadirectory_flag(const observations& o) {
  if (const auto why = no_graph(o)) return *why;
  const std::string wrong = first_wrong(o.mpi2dd.job->graph, [](const mpi2dd::visit& v) {
    const std::size_t entries = v.directories.entries.size() + v.metadirectories.entries.size();
    return entries != 0 && !v.has(mpi_flag::i_am_metadir)
               ? fmt::format("{} entries, and its mpi_flags are {}", entries, mpi2dd::text(v.info->block.mpi_flags))
               : std::string{};
  });
  if (!wrong.empty()) return failed("{}", wrong);
  return passed("MPI2DD_MPIFLAG_I_AM_METADIR is set wherever there are entries");
}

finding mpi2dd_abort_string(const observations& o) {
  if (!o.mpi2dd.info) return not_applicable("{}", not_defined);
  std::string reasons;
  const auto add = [&reasons](std::string_view who, const std::string& reason) {
    reasons += fmt::format("{}{}: \"{}\"", reasons.empty() ? "" : "; ", who, reason);
  };
  for (const mpi2dd_event_seen& event : o.mpi2dd.events) {
    if (event.state != debug_state::abort) continue;
    if (!event.abort_problem.empty()) return failed("{}", event.abort_problem);
    if (!event.abort_string) return failed("the starter aborts, and its abort_string is null");
    add("the starter", *event.abort_string);
  }
  for (const mpi2dd_rank_seen& rank : o.mpi2dd.ranks) {
    if (!rank.info || rank.info->block.state != debug_state::abort) continue;
    if (!rank.info->abort_reason) {
      return failed("rank {} (pid {}) aborts, and its abort_string {}", rank.name, rank.pid.value(),
                    rank.info->block.abort_string.is_null() ? "is null" : "cannot be read");
    }
    add("rank " + rank.name, *rank.info->abort_reason);
  }
  if (reasons.empty()) return not_applicable("no process aborted while we looked");
  return passed("{}", reasons);
}

finding mpi2dd_rank_info(const observations& o) {
  if (const auto why = no_graph(o)) return *why;
  std::size_t looked_at = 0;
  for (const mpi2dd_rank_seen& rank : o.mpi2dd.ranks) {
    if (!rank.alive) continue;
    if (!rank.info) return failed("rank {} (pid {}): {}", rank.name, rank.pid.value(), rank.problem);
    ++looked_at;
  }
  if (looked_at == 0) return not_applicable("{}", no_process_here);
  return passed("in all {} ranks that were looked at", looked_at);
}

finding mpi2dd_way_up(const observations& o) {
  if (const auto why = no_graph(o)) return *why;
  const job_graph& job = *o.mpi2dd.job;
  std::size_t looked_at = 0;
  for (const mpi2dd_rank_seen& rank : o.mpi2dd.ranks) {
    if (!rank.info) continue;
    ++looked_at;
    if (rank.info->block.mpi_flags.has(mpi_flag::i_am_metadir)) continue;
    if (!rank.info->has_metadirectory()) {
      return failed("rank {} (pid {}) names no metadirectory", rank.name, rank.pid.value());
    }
    const auto leads_there = [&](const mpi2dd::visit& v) {
      return v.is_metadirectory() && job.graph.pid(v.process).value() == rank.info->metadirectory_pid();
    };
    if (std::none_of(job.graph.visits().begin(), job.graph.visits().end(), leads_there)) {
      return failed("rank {} (pid {}) names process {} on {}, which is no metadirectory of the job", rank.name,
                    rank.pid.value(), rank.info->block.meta_pid, *rank.info->meta_host);
    }
  }
  if (looked_at == 0) return not_applicable("{}", no_process_here);
  return passed("in all {} ranks that were looked at", looked_at);
}

}  // namespace mpiacq::check::judges
