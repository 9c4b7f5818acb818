// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "queue_taker.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call_reader.hpp"
#include "errors/no_exceptions.hpp"
#include "errors/try.hpp"
#include "mpiacq/queues/queue_memory.hpp"
#include "mpich_communicators.hpp"
#include "openmpi_communicators.hpp"
#include "openmpi_unexpected.hpp"
#include "queue_library.hpp"
#include "worker_pool.hpp"

namespace mpiacq {

namespace {

std::string image_of(process_id pid) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink(fmt::format("/proc/{}/exe", pid.value()).c_str(), path.data(), path.size());
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

/// The user of the process, for a program that may change to that user.
std::optional<std::uint32_t> owner_of(process_id pid) {
  struct stat facts {};
  if (::geteuid() != 0 || ::stat(fmt::format("/proc/{}", pid.value()).c_str(), &facts) != 0) return std::nullopt;
  return facts.st_uid;
}

/// The number of ranks that can be read at a time within this program's limit of descriptors.
std::size_t room_for_workers() {
  constexpr rlim_t of_one = 16;   // its executable, a library, the process of its queue library with sockets and pipes
  constexpr rlim_t others = 128;  // the files that all ranks share, and what the program itself has open
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= others + of_one) return 1;
  return static_cast<std::size_t>(std::min<rlim_t>((limit.rlim_cur - others) / of_one, 4096));
}

std::size_t workers(const rank_queue_options& options, std::size_t ranks) {
  // A library that is loaded into this program has global variables, so that only one thread may use it.
  if (options.host.isolation == queue_isolation::in_process) return 1;
  const unsigned asked = options.ranks_at_once != 0 ? options.ranks_at_once : std::thread::hardware_concurrency();
  const std::size_t most = std::min<std::size_t>(ranks, room_for_workers());
  return std::clamp<std::size_t>(asked, 1, std::max<std::size_t>(most, 1));
}

/// Marks all lists of the report as invalid and drops their operations, so that nothing is concluded from them: the
/// library may have read other things for requests. That a communicator has another side was such a conclusion.
void disbelieve(queue_report& report) {
  for (queue_communicator& one : report.communicators) {
    one.is_inter.reset();
    one.remote_group.reset();
    for (queue_listing& queue : one.queues) queue = {queue_knowledge::failed, {}};
  }
}

bool same(const queue_types_options& a, const queue_types_options& b) {
  return a.file == b.file && a.cache_folder == b.cache_folder && a.debug_files.folders == b.debug_files.folders &&
         a.debug_files.debuginfod == b.debug_files.debuginfod;
}

}  // namespace

bool has_ended(process_id pid, const result<queue_report>& report) {
  // ESRCH: no process has this pid, not even a zombie.
  return !report && report.error().code == error_code::process_gone &&
         ::kill(static_cast<pid_t>(pid.value()), 0) != 0 && errno == ESRCH;
}

bool is_whole(const rank_report& rank) {
  return rank.report && rank.report->problems.empty() && rank.report->missing.empty();
}

bool lists_queues(const rank_report& rank) {
  if (!rank.report) return false;
  const auto is_listed = [](const queue_listing& queue) {
    return queue.known != queue_knowledge::failed && queue.known != queue_knowledge::none;
  };
  const auto& all = rank.report->communicators;
  return std::any_of(all.begin(), all.end(), [&](const queue_communicator& one) {
    return std::any_of(one.queues.begin(), one.queues.end(), is_listed);
  });
}

bool is_told_by_call(const rank_report& rank) {
  return !lists_queues(rank) || rank.doing.function == "MPI_Probe";
}

result<void> queue_taker::get_types(const queue_types_options& options) {
  if (types_ && same(options, types_asked_)) return {};
  types_.reset();
  ranks_with_types_.clear();
  images_with_types_.clear();
  notes_told_ = 0;
  auto made = TRY(queue_types::create(options));
  types_ = std::move(made);
  types_asked_ = options;
  return {};
}

void queue_taker::make_missing_types(const std::vector<pending>& all, const queue_types_options& options) {
  std::set<std::string> looked_at;
  for (const pending& one : all) {
    const process_id pid = one.rank->process.process;
    if (ranks_with_types_.contains(pid)) continue;
    // Ranks with the same program use the same MPI.
    const std::string image = image_of(pid);
    if (looked_at.insert(image).second && !images_with_types_.contains(image)) {
      process_memory memory(pid);
      page_cache cache(memory);
      auto symbols = process_symbols::open(pid, cache, options.debug_files);
      if (symbols && types_->make_missing(**symbols)) images_with_types_.insert(image);
    }
    if (images_with_types_.contains(image)) ranks_with_types_.insert(pid);
  }
}

void queue_taker::read(pending& one, const rank_queue_options& options) const {
  if (!options.no_library.empty()) {
    one.report = fail(error_code::unsupported, options.no_library);
    return;
  }
  // This runs on a worker thread: an exception that escapes would end the program.
  auto done = without_exceptions("reading its message queues", [&]() -> result<void> {
    process subject(one.rank->process.process);
    read_process(subject, one, options);
    return {};
  });
  if (!done) one.report = fail(std::move(done).error());
}

void queue_taker::read_process(process& subject, pending& one, const rank_queue_options& options) const {
  auto symbols = process_symbols::open(one.rank->process.process, subject.cache, options.types.debug_files);
  if (!symbols) {
    one.report = fail(std::move(symbols).error());
    return;
  }
  subject.symbols = std::move(*symbols);
  one.image = subject.symbols->modules().front()->path;
  auto types = types_->of(*subject.symbols, subject.cache);
  if (!types) {
    one.report = fail(std::move(types).error());
    return;
  }
  subject.types = std::move(*types);
  const process_id pid = one.rank->process.process;
  auto library = options.library.empty() ? find_queue_library(pid, *subject.symbols, subject.cache, options.starter)
                                         : result<std::string>(options.library);
  queue_host_options how = options.host;
  how.owner = one.owner;
  if (options.library.empty()) how.root = root_of_container(pid);
  one.report =
      library ? read_with(subject, *library, one, how) : result<queue_report>(fail(std::move(library).error()));
  look_at_pml(subject, one);
  if (!one.report) return;
  if (!one.report->missing.empty()) return disbelieve(*one.report);
  const target_abi abi = subject.symbols->abi();
  target stopped{subject.cache, nullptr, abi, *subject.symbols};
  look_at_openmpi_communicators(stopped, *subject.types, *one.report);
  if (one.pml == "ob1") look_at_unexpected(subject, stopped, *one.report);
  look_at_mpich_communicators(stopped, *subject.types, *one.report);
}

result<queue_report> queue_taker::read_with(process& subject, const std::string& library, const pending& one,
                                            const queue_host_options& how) const {
  auto host = TRY(queue_host::create(library, how));
  const target_abi abi = subject.symbols->abi();
  target stopped{subject.cache, nullptr, abi, *subject.symbols};
  return host->read({stopped, *subject.types, one.rank->number, one.image});
}

void queue_taker::look_at_pml(process& subject, pending& one) {
  const target_abi abi = subject.symbols->abi();
  target stopped{subject.cache, nullptr, abi, *subject.symbols};
  auto pml = pml_in_use(stopped, *subject.types);
  if (!pml || !*pml) return;
  one.pml = std::move(*pml);
  auto warning = about_pml(*one.pml);
  if (!warning || !one.report) return;
  one.report->problems.emplace_back(error_code::unsupported, std::move(*warning));
  disbelieve(*one.report);
}

void queue_taker::look_at_unexpected(process& subject, target& stopped, queue_report& report) const {
  const auto ob1 = module_of_ob1(*subject.symbols);
  if (!ob1) return;
  const auto of_pml = types_->of_module(*subject.symbols, *ob1);
  look_at_openmpi_unexpected(stopped, *subject.types, *of_pml, report);
}

void queue_taker::hold(std::vector<pending>& all) {
  std::vector<attach_target> targets;
  for (const pending& one : all) {
    if (!one.rank->held) targets.push_back(one.rank->process);
  }
  const auto attached = grip_.take(targets);
  auto outcome = attached.begin();
  for (pending& one : all) {
    if (one.rank->held) continue;
    one.held = outcome->has_value();
    if (!one.held) one.report = fail(outcome->error());
    ++outcome;
  }
}

void queue_taker::let_go(std::vector<pending>& all, const std::vector<std::size_t>& done) {
  std::vector<process_id> ours;
  std::vector<std::size_t> places;
  for (const std::size_t i : done) {
    if (!std::exchange(all[i].held, false)) continue;
    ours.push_back(all[i].rank->process.process);
    places.push_back(i);
  }
  grip_.keep_held();  // for the ranks that are still being read
  if (ours.empty()) return;
  const auto outcomes = grip_.let_go(ours);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    // The tracer server had released the rank earlier: the rank ran while it was read.
    const bool lost = !outcomes[i] && outcomes[i].error().code == error_code::limit;
    if (lost) all[places[i]].lost = outcomes[i].error();
  }
}

group_queues queue_taker::take(std::span<const wanted_rank> ranks, const rank_queue_options& options) {
  group_queues taken;
  const auto types = get_types(options.types);
  std::vector<pending> all;
  for (const wanted_rank& rank : ranks) {
    const process_id pid = rank.process.process;
    const auto owner =
        rank.process.user ? std::optional{static_cast<std::uint32_t>(rank.process.user->value())} : owner_of(pid);
    all.push_back({&rank, owner, {}});
    if (!types) all.back().report = fail(types.error());
  }
  if (types && options.types.make_missing && options.no_library.empty()) make_missing_types(all, options.types);
  if (types) read_all(all, options, taken);
  for (pending& one : all) {
    const process_id pid = one.rank->process.process;
    one.doing = activity_of(one.threads, one.image);
    one.doing.arguments = std::move(one.call.arguments);
    one.doing.requests = std::move(one.call.requests);
    one.doing.on = std::move(one.call.on);
    if (has_ended(pid, one.report)) one.doing.kind = mpi_call_kind::ended;
    taken.ranks.push_back({one.rank->entry, pid, std::move(one.report), std::move(one.doing), std::move(one.pml),
                           one.rank->stopped_by_signal});
  }
  return taken;
}

void queue_taker::read_all(std::vector<pending>& all, const rank_queue_options& options, group_queues& taken) {
  const auto begin = clock::now();
  hold(all);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].report) places.push_back(i);
  }
  const auto whole = read_held(all, places, options, taken);
  taken.held_for = clock::now() - begin;
  for (const std::size_t place : places) {
    if (!whole[place]) all[place].report = fail(error_code::timed_out, "it was let go before it had been read");
    if (all[place].lost) all[place].report = fail(*all[place].lost);
  }
  auto notes = types_->notes();
  taken.notes.assign(notes.begin() + static_cast<std::ptrdiff_t>(notes_told_), notes.end());
  notes_told_ = notes.size();
}

std::vector<bool> queue_taker::read_held(std::vector<pending>& all, const std::vector<std::size_t>& places,
                                         const rank_queue_options& options, group_queues& taken) {
  std::vector<bool> whole(all.size());
  report_budget room(most_bytes_of(places.size()));
  std::mutex room_lock;
  worker_pool work(places.size(), workers(options, places.size()), [&](std::size_t i) {
    pending& one = all[places[i]];
    read(one, options);
    const std::lock_guard locked(room_lock);
    if (one.report) room.add(*one.report);
  });
  if (options.stacks) look_at_stacks(all, places, options, taken);
  for (std::size_t told = 0; told < places.size();) {
    if (options.progress) options.progress(told, places.size());
    if (!work.wait(options.host.stop)) {
      // A reader that has not finished reads a running process. Its report is discarded.
      taken.stopped = true;
      work.begin_no_more();
      let_go(all, places);
      return whole;
    }
    auto done = work.take_done();
    told += done.size();
    for (std::size_t& i : done) whole[i = places[i]] = true;
    let_go(all, done);
  }
  return whole;
}

void queue_taker::look_at_stacks(std::vector<pending>& all, const std::vector<std::size_t>& places,
                                 const rank_queue_options& options, group_queues& taken) {
  std::vector<wanted_rank> held;
  for (const std::size_t place : places) {
    held.push_back(*all[place].rank);
    held.back().held = true;
  }
  stack_options how;
  how.threads = which_threads::all;
  node_stacks seen = stacks_.take(held, how);
  call_reader calls(stacks_, options.types.debug_files, types_.get());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!seen.ranks[i].taken) continue;
    pending& one = all[places[i]];
    one.threads = std::move(seen.ranks[i].threads);
    if (!one.threads.empty()) one.call = calls.read(one.threads.front());
  }
  taken.problems = std::move(seen.problems);
}

}  // namespace mpiacq
