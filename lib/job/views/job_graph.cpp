// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/job_graph.hpp"

#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "elsewhere_tables.hpp"
#include "errors/no_exceptions.hpp"
#include "errors/try.hpp"
#include "local_targets.hpp"
#include "proc/process_state.hpp"

namespace mpiacq {

namespace {

using mpi2dd::opened_process;
using mpi2dd::process_number;
using mpi2dd::visit_state;

/// The graph, unless the process where it begins has none.
result<job_graph> begun_well(mpi2dd::graph graph, const std::string& who) {
  const mpi2dd::visit& first = graph.visits().front();
  switch (first.state) {
    case visit_state::read:
      break;
    case visit_state::no_interface:
      return fail(error_code::not_found,
                  fmt::format("{} has no {}: it is no process of an MPI2DD job, or has not loaded its MPI library yet. "
                              "Name the job's starter, one of its ranks or one of its directories; a job that speaks "
                              "MPIR alone has a table and no graph",
                              who, mpi2dd::info_symbol));
    default:
      return fail(error{*first.failure}.while_doing("looking for MPI2DD in " + who));
  }
  job_graph made;
  made.graph = std::move(graph);
  return made;
}

/// A core file's own process.
class core_process {
 public:
  [[nodiscard]] result<void> open(const std::string& path, const graph_options& options) {
    auto file = TRY(core_file::open(path, options.files));
    auto symbols = TRY(core_symbols::open(*file, options.debug_files));
    file_ = std::move(file);
    symbols_ = std::move(symbols);
    memory_ = std::make_unique<page_cache>(*file_);
    return {};
  }
  [[nodiscard]] core_file& file() const { return *file_; }
  [[nodiscard]] core_symbols& symbols() const { return *symbols_; }
  /// A core is opened by one thread at a time: a walk opens each process once.
  [[nodiscard]] std::unique_ptr<opened_process> view() const {
    class borrowed final : public opened_process {
     public:
      explicit borrowed(const core_process& core) : core_(core) {}
      target as_target() override { return {*core_.memory_, nullptr, core_.symbols_->abi(), *core_.symbols_}; }

     private:
      const core_process& core_;
    };
    return std::make_unique<borrowed>(*this);
  }

 private:
  std::unique_ptr<core_file> file_;
  std::unique_ptr<core_symbols> symbols_;
  std::unique_ptr<page_cache> memory_;
};

/// The hosts where a graph has a rank with the number, and as far as they are known the program, of its start.
std::set<std::string> hosts_of_start(const mpi2dd::graph& g) {
  const auto program = g.executable(g.start());
  std::set<std::string> hosts;
  for (std::uint32_t i = 1; i < g.process_count(); ++i) {
    const process_number p{i};
    const auto host = g.host(p);
    if (!host || host->empty() || !g.is_rank(p) || g.pid(p) != g.pid(g.start())) continue;
    const auto named = g.executable(p);
    if (!program || !named || is_same_program(*program, *named)) hosts.emplace(*host);
  }
  return hosts;
}

/// By what the core's own tables name.
result<std::string> host_of_core(const core_process& core, const mpi2dd::walk_start& start,
                                 const local_targets& targets, const mpi2dd::walk_options& options) {
  const auto alone = [&](std::string_view host, process_id pid,
                         std::string_view) -> result<std::unique_ptr<opened_process>> {
    if (host.empty() && pid == start.pid) return core.view();
    return fail(error_code::not_found, "not looked for yet");
  };
  auto g = TRY(mpi2dd::walk(start, alone, targets.options(options)));
  const std::set<std::string> own = hosts_of_start(g);
  if (own.size() == 1) return *own.begin();
  for (std::uint32_t i = 1; i < g.process_count(); ++i) {
    const auto host = g.host(process_number{i});
    if (host && targets.is_here(*host)) return targets.host();
  }
  return std::string{};
}

/// The strings of a table that name hosts of its entries.
template <class Entries>
void add_hosts(const std::optional<Entries>& entries, std::set<std::string_view>& hosts) {
  if (!entries) return;
  std::uint32_t last = mpi2dd::no_string;
  for (const std::uint32_t host : entries->hosts()) {
    if (std::exchange(last, host) != host && host < entries->string_count()) hosts.insert(entries->string(host));
  }
}

/// Of those that a process says, the ones that are names of this host.
std::vector<std::string> names_of(const local_targets& targets, const mpi2dd::process_account& said) {
  std::set<std::string_view> hosts;
  add_hosts(said.processes.entries, hosts);
  add_hosts(said.directories.entries, hosts);
  add_hosts(said.metadirectories.entries, hosts);
  if (said.info && said.info->meta_host) hosts.insert(*said.info->meta_host);
  std::vector<std::string> own;
  for (const std::string_view host : hosts) {
    if (targets.is_here(host)) own.emplace_back(host);
  }
  return own;
}

/// Who has written a core file can have it name any process.
user_id owner_of_file(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 ? user_id{about.st_uid} : no_user;
}

/// What a core named may be another process by now.
result<std::unique_ptr<opened_process>> open_if_still(const local_targets& targets, std::string_view host,
                                                      process_id pid, std::string_view executable) {
  if (targets.is_here(host) && !runs_program(pid, executable)) {
    return fail(error_code::not_found, fmt::format("the core file names process {}, and there is no such process any "
                                                   "more that runs {}",
                                                   pid.value(), executable.empty() ? "it" : executable));
  }
  return targets.open(host, pid, executable);
}

}  // namespace

result<job_graph> look_at_graph(process_id named, const graph_options& options) {
  return without_exceptions("looking at the job's processes", [&]() -> result<job_graph> {
    const local_targets targets = local_targets::around(named, options.debug_files);
    const mpi2dd::walk_start start = targets.start(named);
    mpi2dd::walk_options how = options.walk;
    std::unique_ptr<elsewhere_tables> others;
    if (options.agents && !how.read_elsewhere) {
      others = tables_by_agents(named, *options.agents, how.limits, options.debug_files.folders);
      how.read_elsewhere = others->reader();
    }
    auto graph = TRY(mpi2dd::walk(start, targets.opener(), targets.options(how)));
    auto made = begun_well(std::move(graph),
                           fmt::format("{} ({})", named.value(), start.executable.empty() ? "gone" : start.executable));
    if (!made) return made;
    made->host = targets.host();
    if (others) made->others = others->hosts();
    return made;
  });
}

result<job_graph> read_graph(const std::string& core, const graph_options& asked_for) {
  graph_options options = asked_for;
  options.walk.read_elsewhere = {};
  core_process process;
  TRY(process.open(core, options));
  mpi2dd::walk_start start{{}, process.file().pid(), process.file().executable()};
  if (start.pid.value() <= 0) return fail(error_code::bad_format, core + " does not say which process it is of");
  local_targets targets(options.debug_files);
  targets.only_of(owner_of_file(core));
  auto host = host_of_core(process, start, targets, options.walk);
  if (!host) return fail(std::move(host).error());
  start.host = std::move(*host);
  const auto open = [&](std::string_view at, process_id pid, std::string_view executable) {
    return at == start.host && pid == start.pid ? result<std::unique_ptr<opened_process>>(process.view())
                                                : open_if_still(targets, at, pid, executable);
  };
  auto graph = TRY(mpi2dd::walk(start, open, targets.options(options.walk)));
  auto made = begun_well(std::move(graph), core);
  if (!made) return made;
  made->host = targets.host();
  made->core = core;
  for (const auto& problems : {process.file().problems(), process.symbols().problems()}) {
    made->problems.insert(made->problems.end(), problems.begin(), problems.end());
  }
  return made;
}

std::vector<mpi2dd::process_account> read_processes_here(std::vector<mpi2dd::process_request> asked,
                                                         const graph_options& options) {
  if (asked.empty()) return {};
  const local_targets targets = local_targets::around(asked.front().pid, options.debug_files, options.user);
  for (mpi2dd::process_request& one : asked) one.host = targets.host();
  auto said = mpi2dd::read_processes(std::move(asked), targets.opener(), options.walk.limits, options.walk.threads);
  for (mpi2dd::process_account& one : said) one.own_names = names_of(targets, one);
  return said;
}

}  // namespace mpiacq
