// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "control/process_interface.hpp"

namespace mpiacq {

namespace {

/// The interface of a starter that is not traced. The starter has no breakpoint, no symbols and no gates, so this
/// interface asks the job for nothing.
class untraced_interface final : public process_interface {
 public:
  untraced_interface(interface_kind kind, mpir::job_facts facts) : kind_(kind), facts_(std::move(facts)) {
    // A PMIx server releases its ranks itself.
    if (kind_ == interface_kind::pmix) facts_.partial_attach_ok = true;
  }

  [[nodiscard]] interface_kind kind() const override { return kind_; }
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
  interface_kind kind_;
  mpir::job_facts facts_;
};

}  // namespace

std::unique_ptr<process_interface> make_untraced_interface(interface_kind kind, mpir::job_facts facts) {
  return std::make_unique<untraced_interface>(kind, std::move(facts));
}

}  // namespace mpiacq
