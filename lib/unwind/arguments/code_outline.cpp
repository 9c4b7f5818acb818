// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/code_outline.hpp"

#include <algorithm>
#include <iterator>

namespace mpiacq::unwinding {

instruction_decoder::instruction_decoder(const instruction_set& set) {
  if (cs_open(set.arch, set.mode, &handle_) != CS_ERR_OK) return;
  if (cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK) instruction_ = cs_malloc(handle_);
}

instruction_decoder::~instruction_decoder() {
  if (instruction_ != nullptr) cs_free(instruction_, 1);
  if (handle_ != 0) cs_close(&handle_);
}

const cs_insn* instruction_decoder::decode(std::span<const std::byte> code, std::uint64_t at) {
  if (instruction_ == nullptr) return nullptr;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
  std::size_t size = code.size();
  return cs_disasm_iter(handle_, &bytes, &size, &at, instruction_) ? instruction_ : nullptr;
}

code_outline::code_outline(const instruction_set& set, std::uint64_t begin, std::span<const std::byte> code)
    : set_(set), begin_(begin), code_(code), decoder_(set) {
  add_join(begin);
}

const cs_insn* code_outline::at(std::uint64_t address) {
  return contains(address) ? decoder_.decode(code_.subspan(address - begin_), address) : nullptr;
}

bool code_outline::is_start(std::uint64_t address) const {
  return std::binary_search(starts_.begin(), starts_.end(), address);
}

bool code_outline::decode() {
  if (code_.size() > largest_function) return false;
  const std::uint64_t end = begin_ + code_.size();
  for (std::uint64_t address = begin_; address < end;) {
    const cs_insn* instruction = at(address);
    if (instruction == nullptr && set_.alignment == 1) return false;
    const std::uint64_t next = address + (instruction == nullptr ? set_.alignment : instruction->size);
    pass(address, next,
         instruction == nullptr ? instruction_flow{instruction_flow::kind::stop} : set_.flow(*instruction));
    address = next;
  }
  return true;
}

void code_outline::pass(std::uint64_t address, std::uint64_t next, const instruction_flow& flow) {
  using kind = instruction_flow::kind;
  starts_.push_back(address);
  if (flow.how == kind::jump || flow.how == kind::conditional_jump) add_join(flow.target);
  if (flow.how == kind::unknown_jump) computed_jumps_.push_back(address);
  if (!flow.continues()) add_join(next);
}

std::span<const std::uint64_t> code_outline::run_before(std::uint64_t address, std::uint64_t next) const {
  // A jump into the instruction itself leaves nothing in front of it.
  const auto behind = joins_.lower_bound(next);
  const std::uint64_t begin = behind == joins_.begin() ? begin_ : *std::prev(behind);
  const auto last = std::lower_bound(starts_.begin(), starts_.end(), address);
  auto first = std::lower_bound(starts_.begin(), last, begin);
  if (last - first > static_cast<std::ptrdiff_t>(longest_run)) first = last - longest_run;
  return {first, last};
}

}  // namespace mpiacq::unwinding
