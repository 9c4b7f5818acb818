// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <elf.h>

#include "core_writer.hpp"

namespace mpiacq::test {

/// A core file of a fake starter of any width and byte order: a program with dynamic symbols, its variables, a table
/// and its strings, all dumped. A test changes members before it calls `core()`.
class core_job {
 public:
  static constexpr std::uint64_t bias = 0x10000;
  static constexpr std::uint64_t variables = 0x400000;
  static constexpr std::uint64_t table = 0x500000;
  static constexpr std::uint64_t strings = 0x600000;

  explicit core_job(const target_abi& a) : abi(a) {}

  target_abi abi;
  std::int64_t state = 1;
  std::int64_t claimed = 2;  ///< MPIR_proctable_size
  std::vector<std::int64_t> pids = {4001, 4002};
  std::string host = "node7";
  std::string executable = "/opt/app";
  std::string abort_reason;

  [[nodiscard]] core_writer core() const {
    const bool is_64 = abi.pointer_size == 8;
    core_writer made{abi};
    made.thread(4243, 6).process(4242, "starter");
    made.auxiliary({{AT_PHDR, bias + header_size()},
                    {AT_PHENT, is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)},
                    {AT_PHNUM, 2},
                    {AT_ENTRY, bias}});
    made.map(bias, program());

    byte_writer text{abi};
    text.text(host).text(executable).text(abort_reason);
    byte_writer values{abi};
    values.word(static_cast<std::uint64_t>(state)).word(static_cast<std::uint64_t>(claimed)).wide(table);
    values.wide(abort_reason.empty() ? 0 : strings + host.size() + executable.size() + 2);
    made.map(variables, std::move(values));

    byte_writer entries{abi};
    for (const std::int64_t pid : pids) {
      const std::size_t begin = entries.size();
      entries.wide(strings).wide(strings + host.size() + 1).word(static_cast<std::uint64_t>(pid));
      entries.pad_to(begin + 3 * std::size_t{abi.pointer_size});
    }
    made.map(table, std::move(entries));
    made.map(strings, std::move(text));
    return made;
  }

 private:
  [[nodiscard]] std::uint64_t header_size() const {
    return abi.pointer_size == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  }

  /// The headers and the dynamic symbols, as in memory.
  [[nodiscard]] std::vector<std::byte> program() const {
    const std::uint64_t word = abi.pointer_size;
    struct made_symbol {
      const char* name;
      std::uint64_t address;
      std::uint64_t size;
    };
    const std::vector<made_symbol> symbols = {{"MPIR_Breakpoint", bias + 0x10, 0},
                                              {"MPIR_debug_state", variables, 4},
                                              {"MPIR_proctable_size", variables + 4, 4},
                                              {"MPIR_proctable", variables + 8, word},
                                              {"MPIR_debug_abort_string", variables + 8 + word, word},
                                              {"MPIR_i_am_starter", variables, 4}};
    constexpr std::uint64_t dynamic_at = 0x200;
    constexpr std::uint64_t hash_at = 0x400;
    constexpr std::uint64_t symbols_at = 0x500;
    constexpr std::uint64_t strings_at = 0x700;
    byte_writer names{abi};
    names.text("");
    byte_writer records{abi};
    records.symbol(0, 0, 0, 0, 0);
    const std::size_t hash_word = abi.elf_machine == EM_S390 ? 8 : 4;
    byte_writer hash{abi};  // one bucket with a chain of all symbols
    hash.number(1, hash_word).number(symbols.size() + 1, hash_word).number(1, hash_word).number(0, hash_word);
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const unsigned type = symbols[i].size == 0 ? STT_FUNC : STT_OBJECT;
      records.symbol(names.size(), symbols[i].address - bias, symbols[i].size, 1U << 4 | type, 1);
      names.text(symbols[i].name);
      hash.number(i + 1 < symbols.size() ? i + 2 : 0, hash_word);
    }

    byte_writer out{abi};
    const bool is_64 = abi.pointer_size == 8;
    out.byte(0x7f).byte('E').byte('L').byte('F').byte(is_64 ? 2 : 1).byte(abi.order == byte_order::big ? 2 : 1);
    out.byte(1).pad_to(16).half(ET_DYN).half(abi.elf_machine).word(1).wide(0).wide(header_size()).wide(0).word(0);
    out.half(header_size()).half(is_64 ? 56 : 32).half(2).half(0).half(0).half(0);
    segment(out, PT_LOAD, 0, 0x1000);
    segment(out, PT_DYNAMIC, dynamic_at, 14 * word);
    out.pad_to(dynamic_at);
    out.wide(DT_HASH).wide(hash_at).wide(DT_SYMTAB).wide(symbols_at).wide(DT_STRTAB).wide(strings_at);
    out.wide(DT_STRSZ).wide(names.size()).wide(DT_SYMENT).wide(is_64 ? 24 : 16).wide(DT_DEBUG).wide(0);
    out.wide(DT_NULL).wide(0);
    append(out, hash_at, hash);
    append(out, symbols_at, records);
    append(out, strings_at, names);
    return out.pad_to(0x1000).take();
  }

  void segment(byte_writer& out, unsigned type, std::uint64_t at, std::uint64_t size) const {
    out.word(type);
    if (abi.pointer_size == 8) out.word(PF_R);
    out.wide(at).wide(at).wide(at).wide(size).wide(size);
    if (abi.pointer_size == 4) out.word(PF_R);
    out.wide(16);
  }

  static void append(byte_writer& out, std::uint64_t at, byte_writer& what) {
    out.pad_to(at);
    for (const std::byte b : what.take()) out.byte(std::to_integer<unsigned>(b));
  }
};

}  // namespace mpiacq::test
