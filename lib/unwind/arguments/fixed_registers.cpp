// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/fixed_registers.hpp"

#include <utility>

namespace mpiacq::unwinding {

namespace {

constexpr std::size_t register_count = thread_registers::most;
/// So many instructions never fill a graph of values.
constexpr std::size_t longest_piece = 128;

/// Goes once through the code and notes what each register is set to.
class register_survey {
 public:
  explicit register_survey(code_outline& code) : code_(code) {}

  [[nodiscard]] fixed_registers run() {
    std::size_t length = 0;
    for (const std::uint64_t address : code_.starts()) {
      const bool is_join = code_.is_join(address);
      if (is_join) settle();
      if (is_join || ++length > longest_piece) {
        trace_ = straight_trace{};
        length = 0;
      }
      const cs_insn* instruction = code_.at(address);
      if (instruction == nullptr) continue;
      const instruction_flow flow = code_.set().flow(*instruction);
      if (flow.how != instruction_flow::kind::call) note_changes(*instruction);
      pass(flow);
    }
    settle();
    return std::exchange(fixed_, {});
  }

 private:
  /// What one register was set to last.
  struct change {
    bool is_pending = false;            ///< control has gone straight on since then
    std::optional<std::uint64_t> to{};  ///< an address in the module; empty: anything else
  };

  void note_changes(const cs_insn& instruction) {
    std::array<value_id, register_count> before{};
    for (std::size_t i = 0; i < register_count; ++i) before[i] = trace_.get(i);
    code_.set().step(trace_, code_.decoder(), instruction);
    for (std::size_t i = 0; i < register_count; ++i) {
      const value_id now = trace_.get(i);
      if (now == before[i]) continue;
      const value_node& node = trace_.values()[now];
      changes_[i] = {true, node.kind == value_kind::code_address ? std::optional{node.number} : std::nullopt};
    }
  }

  void pass(const instruction_flow& flow) {
    using kind = instruction_flow::kind;
    if (flow.how == kind::onward) return;
    // Nothing jumps back, so a jump to elsewhere leaves the function, too.
    if (flow.how == kind::leave || (flow.how == kind::jump && !code_.contains(flow.target))) {
      changes_ = {};
    } else {
      settle();
    }
  }

  /// What the registers were set to may be used.
  void settle() {
    for (std::size_t i = 0; i < register_count; ++i) {
      if (!std::exchange(changes_[i].is_pending, false)) continue;
      const bool is_new = !is_spoiled_[i] && !fixed_[i];
      if (is_new && changes_[i].to) fixed_[i] = changes_[i].to;
      if (changes_[i].to && fixed_[i] == changes_[i].to) continue;
      is_spoiled_[i] = true;
      fixed_[i].reset();
    }
  }

  code_outline& code_;
  straight_trace trace_;
  std::array<change, register_count> changes_{};
  std::array<bool, register_count> is_spoiled_{};
  fixed_registers fixed_{};
};

}  // namespace

fixed_registers registers_with_one_address(code_outline& code) {
  return register_survey{code}.run();
}

}  // namespace mpiacq::unwinding
