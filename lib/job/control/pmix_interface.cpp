// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "control/pmix_interface.hpp"

#include <utility>

namespace mpiacq {

namespace {

class pmix_interface final : public process_interface {
 public:
  explicit pmix_interface(mpir::job_facts facts) : facts_(std::move(facts)) {
    // The starter releases its ranks itself.
    facts_.partial_attach_ok = true;
  }

  [[nodiscard]] interface_kind kind() const override { return interface_kind::pmix; }
  /// Nothing in the process is looked for.
  [[nodiscard]] bool is_there() const override { return false; }
  [[nodiscard]] std::optional<target_address> breakpoint() const override { return std::nullopt; }
  [[nodiscard]] const mpir::job_facts& facts() const override { return facts_; }
  [[nodiscard]] const mpir::symbol_set* symbols() const override { return nullptr; }
  [[nodiscard]] std::optional<std::string> missing_symbols(const process_symbols&) const override {
    return std::nullopt;
  }

  steps at_entry(const target&) override { return steps{}; }
  steps at_attach(const target&) override { return steps{}; }
  steps modules_changed(const target&) override { return steps{}; }
  steps at_breakpoint(const target&) override { return steps{}; }
  steps before_detach(const target&) override { return steps{}; }
  void belongs_to(const slurm_step& step) override {
    facts_.job_id = step.job;
    facts_.step_id = step.step;
  }

 private:
  mpir::job_facts facts_;
};

}  // namespace

std::unique_ptr<process_interface> make_pmix_interface(mpir::job_facts facts) {
  return std::make_unique<pmix_interface>(std::move(facts));
}

}  // namespace mpiacq
