// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The interface of a process: the one that was asked for, or MPI2DD where the program has it, else MPIR.
#include <utility>

#include "control/process_interface.hpp"

namespace mpiacq {

namespace {

/// Looks for both interfaces until the program has one of them, and is that one from then on. In a program with both it
/// is MPI2DD: with MPIR's variables written as well, the program would report everything twice.
class either_interface final : public process_interface {
 public:
  explicit either_interface(interface_request request) : request_(std::move(request)) { begin(); }

  [[nodiscard]] interface_kind kind() const override { return current().kind(); }
  [[nodiscard]] bool is_there() const override { return current().is_there(); }
  [[nodiscard]] std::optional<target_address> breakpoint() const override { return current().breakpoint(); }
  [[nodiscard]] const mpir::job_facts& facts() const override { return current().facts(); }
  [[nodiscard]] const mpir::symbol_set* symbols() const override { return current().symbols(); }
  [[nodiscard]] std::optional<std::string> missing_symbols(const process_symbols& searched) const override {
    return current().missing_symbols(searched);
  }

  steps at_entry(const target& process) override {
    begin();
    return first_look(&process_interface::at_entry, process);
  }
  steps at_attach(const target& process) override {
    begin();
    return first_look(&process_interface::at_attach, process);
  }
  steps modules_changed(const target& process) override {
    return first_look(&process_interface::modules_changed, process);
  }
  steps at_breakpoint(const target& process) override { return current().at_breakpoint(process); }
  steps before_detach(const target& process) override { return current().before_detach(process); }
  steps open_gate(const target& process) override { return current().open_gate(process); }
  steps being_debugged(const target& process, bool is_so) override { return current().being_debugged(process, is_so); }
  void belongs_to(const slurm_step& step) override { current().belongs_to(step); }
  steps look_again(const target& process) override { return current().look_again(process); }
  steps at_state_written(const target& process) override { return current().at_state_written(process); }

 private:
  using look = steps (process_interface::*)(const target&);

  void begin() {
    mpi2dd_ = make_mpi2dd_interface(request_.mpi2dd, request_.mpir.daemons);
    mpir_ = make_mpir_interface(request_.mpir);
  }
  /// Until one of the two is found, MPIR answers: its sentences name more symbols.
  [[nodiscard]] process_interface& current() const { return mpir_ ? *mpir_ : *mpi2dd_; }

  steps first_look(look at, const target& process) {
    if (mpi2dd_ == nullptr || mpir_ == nullptr) return (current().*at)(process);
    auto newer = (*mpi2dd_.*at)(process);
    if (!newer) return newer;
    if (mpi2dd_->is_there()) {
      mpir_.reset();
      return newer;
    }
    auto older = (*mpir_.*at)(process);
    if (!older) return older;
    if (mpir_->is_there()) {
      // The program has symbols of MPI2DD without a usable info block: the report says what is wrong with it.
      for (step& what : *newer) {
        if (std::holds_alternative<mpir::report_problem>(what)) older->push_back(std::move(what));
      }
      mpi2dd_.reset();
      return older;
    }
    if (mpi2dd_->breakpoint()) {
      // The program may fill its info block later.
      mpir_.reset();
      return newer;
    }
    return older;
  }

  interface_request request_;
  std::unique_ptr<process_interface> mpi2dd_;
  std::unique_ptr<process_interface> mpir_;
};

}  // namespace

std::unique_ptr<process_interface> make_interface(interface_request request) {
  if (request.choice == interface_kind::mpir) return make_mpir_interface(std::move(request.mpir));
  if (request.choice == interface_kind::mpi2dd) {
    return make_mpi2dd_interface(request.mpi2dd, request.mpir.daemons);
  }
  if (request.choice) return make_untraced_interface(*request.choice);
  return std::make_unique<either_interface>(std::move(request));
}

}  // namespace mpiacq
