// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "control/process_interface.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/base/remedies.hpp"
#include "starter/missing_symbols.hpp"

namespace mpiacq {

namespace {

using mpi2dd::debugger_flag;
using mpi2dd::mpi_flag;

class mpi2dd_interface final : public process_interface {
 public:
  mpi2dd_interface(mpi2dd::acquisition_options options, const std::optional<mpir::daemon_request>& daemons)
      : is_rank_(options.of == mpi2dd::part::rank),
        daemons_wanted_(daemons.has_value()),
        reports_no_daemons_(daemons && !daemons->only_if_possible),
        acquisition_(gates_are_ours(options)) {}

  [[nodiscard]] interface_kind kind() const override { return interface_kind::mpi2dd; }
  [[nodiscard]] bool is_there() const override {
    return acquisition_.breakpoint().has_value() && acquisition_.info().has_value();
  }
  [[nodiscard]] std::optional<target_address> breakpoint() const override { return acquisition_.breakpoint(); }
  [[nodiscard]] const mpir::job_facts& facts() const override { return facts_; }
  [[nodiscard]] const mpir::symbol_set* symbols() const override { return nullptr; }
  [[nodiscard]] std::optional<std::string> missing_symbols(const process_symbols& searched) const override {
    if (acquisition_.breakpoint()) return std::nullopt;
    return missing_mpi2dd_sentence(searched.modules(), searched.executable_is_stripped());
  }

  steps at_entry(const target& process) override { return translated(process, acquisition_.at_entry(process)); }
  steps at_attach(const target& process) override {
    runs_already_ = true;
    auto all = translated(process, acquisition_.at_attach(process));
    if (all && is_there()) all->emplace_back(look_for_job{});
    return all;
  }
  steps modules_changed(const target& process) override {
    const bool was_there = is_there();
    auto all = translated(process, acquisition_.modules_changed(process));
    if (all && runs_already_ && !was_there && is_there()) all->emplace_back(look_for_job{});
    return all;
  }
  steps at_breakpoint(const target& process) override {
    return translated(process, acquisition_.at_breakpoint(process));
  }
  steps open_gate(const target& process) override { return translated(process, acquisition_.open_gate(process)); }
  steps being_debugged(const target& process, bool is_so) override {
    return translated(process, acquisition_.being_debugged(process, is_so));
  }
  steps before_detach(const target& process) override {
    return translated(process, acquisition_.before_detach(process));
  }
  void belongs_to(const slurm_step& step) override {
    facts_.job_id = step.job;
    facts_.step_id = step.step;
  }

 private:
  /// The acquisition would open a rank's gate at the detach. A rank that is left stopped for another tool keeps its
  /// gate closed for that tool, so `job` decides.
  static mpi2dd::acquisition_options gates_are_ours(mpi2dd::acquisition_options options) {
    options.of = mpi2dd::part::starter;
    return options;
  }

  steps translated(const target& process, result<std::vector<mpi2dd::action>> actions) {
    if (!actions) return fail(std::move(actions).error());
    learn_facts();
    std::vector<step> all;
    for (mpi2dd::action& action : *actions) {
      // An unusable info block gives the same problem at each event.
      const auto* problem = std::get_if<mpi2dd::report_problem>(&action);
      if (problem != nullptr && !noticed_.insert(problem->what.message).second) continue;
      all.push_back(std::visit([&](auto& one) { return translated(process, one); }, action));
    }
    if (daemons_wanted_ && is_there() && facts_.daemons == mpir::daemon_launch::not_asked) {
      facts_.daemons = mpir::daemon_launch::refused;
      if (!reports_no_daemons_) return all;
      all.emplace_back(mpir::report_problem{
          error{error_code::unsupported,
                fmt::format("MPI2DD cannot ask the starter for daemons; if the starter has MPIR too, {}",
                            remedies::choose_mpir)}});
    }
    return all;
  }
  static step translated(const target&, mpi2dd::plant_breakpoint& plant) {
    return mpir::plant_breakpoint{plant.address};
  }
  static step translated(const target&, mpi2dd::lift_breakpoint& lift) { return mpir::lift_breakpoint{lift.address}; }
  static step translated(const target&, mpi2dd::watch_modules&) { return mpir::watch_modules{}; }
  static step translated(const target&, mpi2dd::report_event& event) { return std::move(event); }
  static step translated(const target&, mpi2dd::report_problem& problem) {
    return mpir::report_problem{std::move(problem.what)};
  }
  /// If this program dies, nothing handles the events that its flags ask for, and nothing opens the gate.
  [[nodiscard]] step translated(const target& process, mpi2dd::write_flags& write) const {
    auto left = write.flags.without(debugger_flag::being_debugged).without(debugger_flag::request_directory_events);
    if (is_rank_) left = left.with(debugger_flag::gate);
    std::vector<std::byte> bytes(write.bytes.size());
    encode_integer(left.bits(), process.abi.order, bytes);
    return write_bytes{write.address, std::move(write.bytes), std::move(bytes), false};
  }

  void learn_facts() {
    if (!acquisition_.info()) return;
    const auto flags = acquisition_.info()->mpi_flags;
    facts_.force_to_main = flags.has(mpi_flag::force_to_main);
    facts_.acquired_pre_main = flags.has(mpi_flag::acquired_pre_main);
    facts_.partial_attach_ok = flags.has(mpi_flag::partial_attach_ok);
    facts_.ignore_queues = flags.has(mpi_flag::ignore_queue);
  }

  bool is_rank_;
  bool daemons_wanted_;
  bool reports_no_daemons_;
  bool runs_already_ = false;
  mpi2dd::acquisition acquisition_;
  mpir::job_facts facts_;
  std::set<std::string> noticed_;
};

}  // namespace

std::unique_ptr<process_interface> make_mpi2dd_interface(mpi2dd::acquisition_options options,
                                                         const std::optional<mpir::daemon_request>& daemons) {
  return std::make_unique<mpi2dd_interface>(options, daemons);
}

}  // namespace mpiacq
