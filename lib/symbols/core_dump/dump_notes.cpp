// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "core_dump/dump_notes.hpp"

#include <algorithm>
#include <csignal>

#include <elf.h>
#include <fmt/format.h>

#include "errors/try.hpp"
#include "proc/proc_text.hpp"

namespace mpiacq::elf {

namespace {

constexpr std::size_t most_words = 79;        // ELF_PRARGSZ - 1
constexpr std::size_t room_for_words = 80;    // pr_psargs
constexpr std::size_t room_for_name = 16;     // pr_fname
constexpr std::size_t most_status = 65536;    // of /proc/PID/status
constexpr std::size_t most_of_vector = 4096;  // the kernel's own has at most some 40 entries
constexpr std::size_t siginfo_size = 128;
constexpr std::size_t most_of_files = std::size_t{48} << 20;  // readers have bounds; a path is repeated per mapping

/// The first number of a line of /proc/PID/status: the real id of "Uid" and "Gid".
std::uint64_t real_id(std::string_view status, std::string_view line) {
  std::string_view text = status_line(status, line).value_or("");
  return static_cast<std::uint64_t>(take_number(text).value_or(0));
}

/// struct elf_prstatus
void append_status(record_writer& notes, const core_thread& thread, int signal, const process_account& account) {
  record_writer status{notes.abi()};
  const std::size_t word = status.abi().long_size;
  const auto cause = static_cast<std::uint32_t>(signal);
  status.word(cause).word(0).word(0);              // pr_info: signal, code, errno; the kernel sets the first alone
  status.half(cause).align(word).wide(0).wide(0);  // pr_cursig, pr_sigpend, pr_sighold
  status.word(static_cast<std::uint64_t>(thread.thread.value()));
  status.word(account.parent).word(account.process_group).word(account.session);
  status.pad_to(status.size() + 8 * word);  // four times of two words each
  status.raw(thread.registers);
  status.word(thread.floating_point.empty() ? 0 : 1);  // pr_fpvalid
  status.align(word);
  notes.note(NT_PRSTATUS, status.bytes());
}

void append_floating_point(record_writer& notes, const core_thread& thread) {
  if (!thread.floating_point.empty()) notes.note(NT_PRFPREG, thread.floating_point);
}

/// struct elf_prpsinfo
void append_process(record_writer& notes, const core_process& process, const process_account& account) {
  // The kernel's numbers for the states of a process; a traced process counts as a stopped one.
  constexpr std::string_view states = "RSDTZW";
  const char state = account.state == 't' ? 'T' : account.state;
  const std::size_t number = std::min(states.find(state), states.size());
  std::string words = account.words.substr(0, most_words);
  std::replace(words.begin(), words.end(), '\0', ' ');

  record_writer info{notes.abi()};
  const std::size_t id_size = dump_machine_of(info.abi())->user_id_size;
  info.number(number, 1).number(number < states.size() ? static_cast<unsigned char>(state) : '.', 1);
  info.number(state == 'Z' ? 1 : 0, 1).number(0, 1).align(info.abi().long_size);
  info.wide(account.flags).number(account.user, id_size).number(account.user_group, id_size);
  info.word(static_cast<std::uint64_t>(process.process.value())).word(account.parent);
  info.word(account.process_group).word(account.session);
  info.text(std::string_view{account.name}.substr(0, room_for_name - 1), room_for_name).text(words, room_for_words);
  notes.note(NT_PRPSINFO, info.bytes());
}

bool has_address(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
}

/// siginfo_t
void append_signal(record_writer& notes, const core_process& process) {
  if (process.signal == 0) return;
  record_writer info{notes.abi()};
  info.word(static_cast<std::uint32_t>(process.signal)).word(0).word(static_cast<std::uint32_t>(process.code));
  info.align(info.abi().pointer_size);
  if (has_address(process.signal)) info.number(process.fault.value(), info.abi().pointer_size);
  notes.note(NT_SIGINFO, info.pad_to(siginfo_size).bytes());
}

/// The vector up to its end. The kernel gives that of a 32-bit program in words of 64 bits, so more may follow.
void append_auxiliary(record_writer& notes, const process_account& account) {
  const std::size_t entry = 2 * std::size_t{notes.abi().pointer_size};
  const auto all = std::as_bytes(std::span{account.vector});
  std::size_t size = 0;
  while (all.size() - size >= entry) {
    const auto tag = decode_unsigned(all.subspan(size, entry / 2), notes.abi().order);
    size += entry;
    if (tag == AT_NULL) break;
  }
  if (size > 0) notes.note(NT_AUXV, all.first(size));
}

/// long count; long page_size; for each mapping its begin, its end and its offset in pages; then the paths. Returns the
/// number of mappings of files that are not listed.
std::size_t append_files(record_writer& notes, const memory_areas& areas, std::uint64_t page_size) {
  std::vector<const memory_area*> listed;
  const std::size_t word = notes.abi().long_size;
  std::size_t bytes = 2 * word;
  std::size_t unlisted = areas.unnamed;
  for (const memory_area& area : areas.all) {
    if (area.name == memory_area::no_name) continue;
    const std::size_t more = 3 * word + areas.names[area.name].size() + 1;
    if (bytes + more > most_of_files) {
      ++unlisted;
      continue;
    }
    bytes += more;
    listed.push_back(&area);
  }
  if (listed.empty()) return unlisted;
  record_writer files{notes.abi()};
  files.wide(listed.size()).wide(page_size);
  for (const memory_area* area : listed) files.wide(area->begin).wide(area->end).wide(area->offset / page_size);
  for (const memory_area* area : listed) files.text(areas.names[area->name], areas.names[area->name].size() + 1);
  notes.note(NT_FILE, files.bytes());
  return unlisted;
}

}  // namespace

result<process_account> read_process_account(const process_folder& process) {
  const auto stat = parse_process_stat(TRY(process.read("stat", most_of_stat)));
  if (!stat || stat->has_ended()) {
    return fail(error_code::process_gone, fmt::format("process {} has ended", process.pid().value()));
  }
  const auto status = TRY(process.read("status", most_status));
  process_account account;
  account.name = stat->name;
  account.state = stat->state;
  account.words = TRY(process.read("cmdline", most_words));
  account.vector = TRY(process.read("auxv", most_of_vector));
  account.flags = stat->flags;
  account.user = real_id(status, "Uid");
  account.user_group = real_id(status, "Gid");
  account.parent = static_cast<std::uint64_t>(stat->parent.value());
  account.process_group = stat->group;
  account.session = stat->session;
  return account;
}

dump_notes encode_notes(const target_abi& abi, const core_process& process, const process_account& account,
                        const memory_areas& areas, std::uint64_t page_size) {
  record_writer notes{abi};
  std::size_t unlisted = 0;
  bool is_first = true;
  for (const core_thread& thread : process.threads) {
    // The signal is that of the process: gdb takes it from the last thread, other readers from the first.
    append_status(notes, thread, process.signal, account);
    if (is_first) {
      append_process(notes, process, account);
      append_signal(notes, process);
      append_auxiliary(notes, account);
      unlisted = append_files(notes, areas, page_size);
    }
    append_floating_point(notes, thread);
    is_first = false;
  }
  return {std::move(notes), unlisted};
}

}  // namespace mpiacq::elf
