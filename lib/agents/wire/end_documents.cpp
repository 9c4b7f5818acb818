// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "wire/end_documents.hpp"

#include <algorithm>
#include <utility>

namespace mpiacq::agents {

namespace {

constexpr int highest_status = 255;
constexpr int highest_signal = 64;
constexpr std::size_t longest_name = 64;  ///< the kernel's names of commands have 15 bytes

error wrong(const char* what) {
  return {error_code::bad_format, what};
}

}  // namespace

sent_end stand_in<rank_end>::to(const rank_end& end) {
  sent_end sent{end.entry,  end.pid,         end.status.signaled, end.status.value,  end.thread, end.signal_code,
                end.sender, end.sender_name, end.fault,           end.out_of_memory, end.phase,  {}};
  if (end.registers) {
    const thread_registers& all = *end.registers;
    const auto& values = all.by_dwarf_number;
    sent.registers = sent_registers{{values.begin(), values.begin() + all.count}, all.pc, all.sp};
  }
  return sent;
}

result<rank_end> stand_in<rank_end>::from(sent_end end) {
  const int lowest = end.signaled ? 1 : 0;
  const int highest = end.signaled ? highest_signal : highest_status;
  if (end.value < lowest || end.value > highest) return fail(wrong("no process ends with such a status"));
  if (end.sender_name.size() > longest_name) return fail(wrong("the name of a process is too long"));
  rank_end read;
  read.entry = end.entry;
  read.pid = end.pid;
  read.status.signaled = end.signaled;
  read.status.value = end.value;
  read.thread = end.thread;
  read.signal_code = end.signal_code;
  read.sender = end.sender;
  read.sender_name = std::move(end.sender_name);
  read.fault = end.fault;
  read.out_of_memory = end.out_of_memory;
  read.phase = end.phase;
  if (!end.registers) return read;
  if (end.registers->by_number.size() > thread_registers::most) return fail(wrong("a thread has too many registers"));
  thread_registers& all = read.registers.emplace();
  all.thread = end.thread;
  std::copy(end.registers->by_number.begin(), end.registers->by_number.end(), all.by_dwarf_number.begin());
  all.count = static_cast<std::uint8_t>(end.registers->by_number.size());
  all.pc = end.registers->pc;
  all.sp = end.registers->sp;
  return read;
}

}  // namespace mpiacq::agents
