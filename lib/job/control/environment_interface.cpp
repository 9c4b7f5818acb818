// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "control/process_interface.hpp"

namespace mpiacq {

namespace {

/// The starter of a job that the environment of its ranks shows: it announces nothing, so nothing is asked of it.
class environment_interface final : public process_interface {
 public:
  explicit environment_interface(mpir::job_facts facts) : facts_(std::move(facts)) {}

  [[nodiscard]] interface_kind kind() const override { return interface_kind::environment; }
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

 private:
  mpir::job_facts facts_;
};

}  // namespace

std::unique_ptr<process_interface> make_environment_interface(mpir::job_facts facts) {
  return std::make_unique<environment_interface>(std::move(facts));
}

}  // namespace mpiacq
