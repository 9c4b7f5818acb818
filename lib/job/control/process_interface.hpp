// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mpiacq/job/job.hpp"
#include "mpiacq/mpi2dd/mpi2dd_acquisition.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "starter/slurm_step.hpp"

namespace mpiacq {

/// Write bytes, already in the target's order, into the process.
struct write_bytes {
  target_address address;
  std::vector<std::byte> bytes;
  /// What is to stand there if this program ends before it lets go of the process; empty: what stands there now.
  std::optional<std::vector<std::byte>> restored_on_exit = {};
  /// A launched starter needs to find these bytes until its table is reported, even if this program ends.
  bool until_the_table = false;
};
/// The job may be running already: walk it.
struct look_for_job {};

/// What an interface asks the job to do, in the order given. Both interfaces share the first five.
using step =
    std::variant<mpir::plant_breakpoint, mpir::lift_breakpoint, write_bytes, mpir::watch_modules, mpir::report_problem,
                 // MPIR
                 mpir::watch_variable, mpir::unwatch_variable, mpir::await_table, mpir::kick_fifo, mpir::report_daemons,
                 mpir::report_processes, mpir::report_abort,
                 // MPI2DD
                 look_for_job, mpi2dd::report_event>;

/// The debugger's half of an interface in one process. `job` tells it what happened, and does what it answers. It knows
/// neither the tracer nor the other interface. The calls are those of `mpir::acquisition`, and answer in the same way.
class process_interface {
 public:
  using steps = result<std::vector<step>>;
  virtual ~process_interface() = default;

  [[nodiscard]] virtual interface_kind kind() const = 0;
  /// All symbols of the interface have been found.
  [[nodiscard]] virtual bool is_there() const = 0;
  [[nodiscard]] virtual std::optional<target_address> breakpoint() const = 0;
  [[nodiscard]] virtual const mpir::job_facts& facts() const = 0;
  /// Null before the first look, and with MPI2DD.
  [[nodiscard]] virtual const mpir::symbol_set* symbols() const = 0;
  /// As `job::missing_symbols`.
  [[nodiscard]] virtual std::optional<std::string> missing_symbols(const process_symbols& searched) const = 0;

  [[nodiscard]] virtual steps at_entry(const target& process) = 0;
  [[nodiscard]] virtual steps at_attach(const target& process) = 0;
  [[nodiscard]] virtual steps modules_changed(const target& process) = 0;
  [[nodiscard]] virtual steps at_breakpoint(const target& process) = 0;
  [[nodiscard]] virtual steps before_detach(const target& process) = 0;
  /// Opens the gate at which a rank waits in MPI_Init. mpir_rank_control opens MPIR's gates.
  [[nodiscard]] virtual steps open_gate(const target&) { return steps{}; }
  /// MPI2DD: tells the process whether it is debugged, and with that whether the ranks that it starts wait at gates.
  [[nodiscard]] virtual steps being_debugged(const target&, bool) { return steps{}; }
  /// The Slurm step of the job, for `facts`. MPIR's starters say it themselves; MPI2DD has no variable for it.
  virtual void belongs_to(const slurm_step&) {}
  // MPIR alone: a starter may fill its table without a call of MPIR_Breakpoint, and that call may be inlined.
  [[nodiscard]] virtual steps look_again(const target&) { return steps{}; }
  [[nodiscard]] virtual steps at_state_written(const target&) { return steps{}; }
};

/// What a process is watched for.
struct interface_request {
  std::optional<interface_kind> choice;  ///< empty: MPI2DD where it is there, else MPIR
  mpir::acquisition_options mpir;
  mpi2dd::acquisition_options mpi2dd;
};
[[nodiscard]] std::unique_ptr<process_interface> make_interface(interface_request request);
[[nodiscard]] std::unique_ptr<process_interface> make_mpir_interface(mpir::acquisition_options options);
[[nodiscard]] std::unique_ptr<process_interface> make_mpi2dd_interface(
    mpi2dd::acquisition_options options, const std::optional<mpir::daemon_request>& daemons = {});
/// For a starter that is not traced: `kind` is `environment` or `pmix`. `facts`: what is known of the job beside its
/// ranks.
[[nodiscard]] std::unique_ptr<process_interface> make_untraced_interface(interface_kind kind,
                                                                         mpir::job_facts facts = {});

}  // namespace mpiacq
