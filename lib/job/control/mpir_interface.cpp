// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "control/process_interface.hpp"
#include "starter/missing_symbols.hpp"

namespace mpiacq {

namespace {

class mpir_interface final : public process_interface {
 public:
  explicit mpir_interface(mpir::acquisition_options options) : acquisition_(std::move(options)) {}

  [[nodiscard]] interface_kind kind() const override { return interface_kind::mpir; }
  [[nodiscard]] bool is_there() const override {
    return acquisition_.symbols() != nullptr && acquisition_.symbols()->complete();
  }
  [[nodiscard]] std::optional<target_address> breakpoint() const override { return acquisition_.breakpoint(); }
  [[nodiscard]] const mpir::job_facts& facts() const override { return acquisition_.facts(); }
  [[nodiscard]] const mpir::symbol_set* symbols() const override { return acquisition_.symbols(); }
  [[nodiscard]] std::optional<std::string> missing_symbols(const process_symbols& searched) const override {
    if (acquisition_.symbols() == nullptr) return std::nullopt;
    return missing_symbols_sentence(*acquisition_.symbols(), searched.modules(), searched.executable_is_stripped());
  }

  steps at_entry(const target& process) override { return translated(acquisition_.at_entry(process)); }
  steps at_attach(const target& process) override { return translated(acquisition_.at_attach(process)); }
  steps modules_changed(const target& process) override { return translated(acquisition_.modules_changed(process)); }
  steps at_breakpoint(const target& process) override { return translated(acquisition_.at_breakpoint(process)); }
  steps before_detach(const target& process) override { return translated(acquisition_.before_detach(process)); }
  steps look_again(const target& process) override { return translated(acquisition_.look_again(process)); }
  steps at_state_written(const target& process) override { return translated(acquisition_.at_state_written(process)); }

 private:
  static step translated(mpir::write_memory& write) {
    const bool announces = write.what == mpir::known::being_debugged;
    return write_bytes{write.address, std::move(write.bytes), {}, announces};
  }
  template <class Action>
  static step translated(Action& action) {
    return std::move(action);
  }
  static steps translated(result<std::vector<mpir::action>> actions) {
    if (!actions) return fail(std::move(actions).error());
    std::vector<step> all;
    for (mpir::action& action : *actions) {
      all.push_back(std::visit([](auto& one) { return translated(one); }, action));
    }
    return all;
  }

  mpir::acquisition acquisition_;
};

}  // namespace

std::unique_ptr<process_interface> make_mpir_interface(mpir::acquisition_options options) {
  return std::make_unique<mpir_interface>(std::move(options));
}

}  // namespace mpiacq
