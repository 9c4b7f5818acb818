// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/call_analysis.hpp"

#include <algorithm>
#include <optional>

namespace mpiacq::unwinding {

namespace {

/// Beyond this number of instructions in front of the call, values are unknown.
constexpr std::size_t longest_run = 512;

/// Capstone's decoder, and one instruction.
class decoder {
 public:
  explicit decoder(const instruction_set& set) {
    if (cs_open(set.arch, set.mode, &handle_) != CS_ERR_OK) return;
    if (cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK) instruction_ = cs_malloc(handle_);
  }
  ~decoder() {
    if (instruction_ != nullptr) cs_free(instruction_, 1);
    if (handle_ != 0) cs_close(&handle_);
  }
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;

  /// The first instruction of `code`, valid until the next call. Null: the bytes are no instruction.
  [[nodiscard]] const cs_insn* decode(std::span<const std::byte> code, std::uint64_t address) {
    if (instruction_ == nullptr) return nullptr;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
    std::size_t size = code.size();
    return cs_disasm_iter(handle_, &bytes, &size, &address, instruction_) ? instruction_ : nullptr;
  }
  [[nodiscard]] csh handle() const { return handle_; }

 private:
  csh handle_ = 0;
  cs_insn* instruction_ = nullptr;
};

class analysis {
 public:
  analysis(const instruction_set& set, const calling_function& function)
      : set_(set), function_(function), decoder_(set), run_begin_(function.begin) {}

  /// Whether the code is understood and has no jump to a computed address.
  [[nodiscard]] bool is_plain() {
    (void)outline();
    return is_plain_;
  }

  [[nodiscard]] call_recipe run() {
    straight_trace trace;
    if (!outline()) return build_recipe(trace, set_.convention, unknown_value);
    for (const std::uint64_t start : run_starts()) set_.step(trace, decoder_.handle(), *at(start));
    return build_recipe(trace, set_.convention, set_.call_target(trace, *at(call_)));
  }

 private:
  [[nodiscard]] const cs_insn* at(std::uint64_t address) {
    const std::uint64_t position = address - function_.begin;
    return position < function_.code.size() ? decoder_.decode(function_.code.subspan(position), address) : nullptr;
  }

  /// Decodes the whole function. False: its calls cannot be analysed.
  [[nodiscard]] bool outline() {
    if (function_.code.size() > largest_function) return false;
    for (const std::uint64_t entry : function_.entered_at) enter(entry);
    const std::uint64_t end = function_.begin + function_.code.size();
    for (std::uint64_t address = function_.begin; address < end;) {
      const cs_insn* instruction = at(address);
      if (instruction == nullptr) {
        if (set_.alignment == 1) return false;
        pass(address, address + set_.alignment, {instruction_flow::kind::stop});
        address += set_.alignment;
        continue;
      }
      const instruction_flow flow = set_.flow(*instruction);
      if (flow.how == instruction_flow::kind::unknown_jump) return false;
      const std::uint64_t next = address + instruction->size;
      pass(address, next, flow);
      address = next;
    }
    is_plain_ = true;
    return has_call_;
  }

  void pass(std::uint64_t address, std::uint64_t next, const instruction_flow& flow) {
    using kind = instruction_flow::kind;
    if (flow.how == kind::jump || flow.how == kind::conditional_jump) enter(flow.target);
    if (next == function_.return_address && flow.how == kind::call) {
      call_ = address;
      has_call_ = true;
      // A jump to the call itself, seen before, leaves nothing in front of it.
    } else if (next < function_.return_address) {
      starts_.push_back(address);
      if (!flow.continues()) enter(next);
    }
  }

  /// Control may come to `address` from elsewhere.
  void enter(std::uint64_t address) {
    if (address < function_.return_address) run_begin_ = std::max(run_begin_, address);
  }

  [[nodiscard]] std::vector<std::uint64_t> run_starts() const {
    auto first = std::lower_bound(starts_.begin(), starts_.end(), run_begin_);
    if (starts_.end() - first > static_cast<std::ptrdiff_t>(longest_run)) first = starts_.end() - longest_run;
    return {first, starts_.end()};
  }

  const instruction_set& set_;
  const calling_function& function_;
  decoder decoder_;
  std::vector<std::uint64_t> starts_;  ///< of the instructions in front of the call
  std::uint64_t run_begin_;            ///< the last address in front of the call where control may come from elsewhere
  std::uint64_t call_ = 0;
  bool has_call_ = false;
  bool is_plain_ = false;  ///< all of the code has been decoded
};

}  // namespace

std::vector<std::uint16_t> written_registers(csh decoder, const cs_insn& instruction) {
  cs_regs read{};
  cs_regs written{};
  std::uint8_t read_count = 0;
  std::uint8_t written_count = 0;
  if (cs_regs_access(decoder, &instruction, read, &read_count, written, &written_count) != CS_ERR_OK) return {};
  return {written, written + written_count};
}

const instruction_set* arch::instructions_of(std::uint16_t elf_machine) {
  constexpr std::uint16_t x86_64 = 62;
  constexpr std::uint16_t aarch64 = 183;
  if (elf_machine == x86_64) return &x86_64_instructions();
  if (elf_machine == aarch64) return &aarch64_instructions();
  return nullptr;
}

bool has_unknown_jumps(const instruction_set& set, std::span<const std::byte> code, std::uint64_t begin) {
  return !analysis{set, {begin, code, begin, {}}}.is_plain();
}

call_recipe analyse_call(const instruction_set& set, const calling_function& function) {
  return analysis{set, function}.run();
}

}  // namespace mpiacq::unwinding
