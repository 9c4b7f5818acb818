// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/code_outline.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

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

bool code_outline::add_join(std::uint64_t address) {
  if (!contains(address)) return false;
  sources& known = joins_[address];
  return !std::exchange(known.has_others, true);
}

void code_outline::add_jump(std::uint64_t target, std::uint64_t from) {
  if (!contains(target)) return;
  sources& known = joins_[target];
  if (known.only_jump != sources::none) known.has_others = true;
  known.only_jump = from;
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
  if (flow.how == kind::jump || flow.how == kind::conditional_jump) {
    add_jump(flow.target, address);
    if (!contains(flow.target)) add_exit(flow.target, flow.how == kind::conditional_jump);
  }
  if (flow.how == kind::unknown_jump) computed_jumps_.push_back(address);
  if (!flow.continues() && contains(next)) joins_.try_emplace(next);
}

std::span<const std::uint64_t> code_outline::run_before(std::uint64_t address, std::uint64_t next) const {
  // A jump into the instruction itself leaves nothing in front of it.
  const auto behind = joins_.lower_bound(next);
  const std::uint64_t begin = behind == joins_.begin() ? begin_ : std::prev(behind)->first;
  const auto last = std::lower_bound(starts_.begin(), starts_.end(), address);
  auto first = std::lower_bound(starts_.begin(), last, begin);
  if (last - first > static_cast<std::ptrdiff_t>(longest_run)) first = last - longest_run;
  return {first, last};
}

std::optional<std::uint64_t> code_outline::only_jump_to(std::uint64_t address) {
  using kind = instruction_flow::kind;
  const auto join = joins_.find(address);
  if (join == joins_.end() || join->second.has_others || join->second.only_jump == sources::none) return std::nullopt;
  const auto start = std::lower_bound(starts_.begin(), starts_.end(), address);
  if (start == starts_.begin() || start == starts_.end() || *start != address) return std::nullopt;
  const cs_insn* in_front = at(*std::prev(start));
  if (in_front == nullptr) return std::nullopt;
  const kind how = set_.flow(*in_front).how;
  const bool is_separate = how == kind::jump || how == kind::leave || how == kind::unknown_jump;
  return is_separate ? std::optional{join->second.only_jump} : std::nullopt;
}

std::vector<code_outline::passed> code_outline::path_before(std::uint64_t address, std::uint64_t next) {
  std::vector<passed> backwards;
  for (std::size_t part = 0; part < most_parts; ++part) {
    const auto run = run_before(address, next);
    for (auto start = run.rbegin(); start != run.rend(); ++start) backwards.push_back({*start, false});
    const std::uint64_t begin = run.empty() ? address : run.front();
    const auto last_join = std::prev(joins_.lower_bound(next))->first;
    const auto jump = last_join == begin && backwards.size() < longest_run ? only_jump_to(begin) : std::nullopt;
    if (!jump) break;
    backwards.push_back({*jump, true});
    address = *jump;
    next = address + at(address)->size;
  }
  std::reverse(backwards.begin(), backwards.end());
  return backwards;
}

}  // namespace mpiacq::unwinding
