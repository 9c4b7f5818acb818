// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <elf.h>

#include "byte_writer.hpp"

namespace mpiacq::test {

/// A file that the process had mapped, as NT_FILE describes it: `page` is the offset in the file, in pages.
struct mapped_file {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t page = 0;
  std::string path;
};

/// Builds core files of any class and byte order, valid and invalid ones.
class core_writer {
 public:
  explicit core_writer(const target_abi& abi) : abi_(abi) {}

  /// Memory of `size` bytes, of which only `bytes` are dumped; by default all of it.
  core_writer& map(std::uint64_t address, std::vector<std::byte> bytes, std::uint64_t size = 0,
                   unsigned flags = PF_R | PF_W) {
    const std::uint64_t whole = size == 0 ? bytes.size() : size;
    pieces_.push_back({address, std::move(bytes), whole, flags});
    return *this;
  }
  core_writer& map(std::uint64_t address, byte_writer bytes) { return map(address, bytes.take()); }

  core_writer& note(unsigned type, std::vector<std::byte> contents, const std::string& owner = "CORE") {
    byte_writer n{abi_};
    n.word(owner.size() + 1).word(contents.size()).word(type).text(owner);
    n.pad_to((n.size() + 3) & ~std::size_t{3});
    for (const std::byte b : contents) n.byte(std::to_integer<unsigned>(b));
    n.pad_to((n.size() + 3) & ~std::size_t{3});
    const auto bytes = n.take();
    notes_.insert(notes_.end(), bytes.begin(), bytes.end());
    return *this;
  }

  /// NT_PRPSINFO. In a 32-bit core, user ids have 16 bits.
  core_writer& process(std::int64_t pid, const std::string& name) {
    const bool is_64 = abi_.pointer_size == 8;
    byte_writer n{abi_};
    n.pad_to(is_64 ? 24 : 12).word(static_cast<std::uint64_t>(pid));
    n.pad_to(is_64 ? 40 : 28).text(name).pad_to(is_64 ? 136 : 124);
    return note(NT_PRPSINFO, n.take());
  }
  core_writer& thread(std::int64_t id, unsigned signal) {
    byte_writer n{abi_};
    n.pad_to(12).half(signal).pad_to(16 + 2 * std::size_t{abi_.long_size}).word(static_cast<std::uint64_t>(id));
    n.pad_to(336);
    return note(NT_PRSTATUS, n.take());
  }
  core_writer& auxiliary(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& entries) {
    byte_writer n{abi_};
    for (const auto& [tag, value] : entries) n.wide(tag).wide(value);
    n.wide(AT_NULL).wide(0);
    return note(NT_AUXV, n.take());
  }
  core_writer& files(const std::vector<mapped_file>& files, std::optional<std::uint64_t> claimed = {}) {
    byte_writer n{abi_};
    n.wide(claimed.value_or(files.size())).wide(4096);
    for (const mapped_file& f : files) n.wide(f.begin).wide(f.end).wide(f.page);
    for (const mapped_file& f : files) n.text(f.path);
    return note(NT_FILE, n.take());
  }

  [[nodiscard]] std::vector<std::byte> bytes(unsigned type = ET_CORE) const {
    auto all = headers(type);
    for (const piece& p : pieces_) all.insert(all.end(), p.bytes.begin(), p.bytes.end());
    return all;
  }
  /// Writes piece by piece, because pieces may be large.
  void write_to(const std::string& path) const {
    std::ofstream out{path, std::ios::binary};
    append(out, headers(ET_CORE));
    for (const piece& p : pieces_) append(out, p.bytes);
  }

  static void write(const std::string& path, const std::vector<std::byte>& bytes) {
    std::ofstream out{path, std::ios::binary};
    append(out, bytes);
  }

 private:
  struct piece {
    std::uint64_t address = 0;
    std::vector<std::byte> bytes;
    std::uint64_t size = 0;
    unsigned flags = 0;
  };

  static void append(std::ofstream& out, const std::vector<std::byte>& bytes) {
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  /// The bytes in front of the first piece.
  [[nodiscard]] std::vector<std::byte> headers(unsigned type) const {
    const bool is_64 = abi_.pointer_size == 8;
    const std::size_t header = is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    const std::size_t record = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    byte_writer out{abi_};
    out.byte(0x7f).byte('E').byte('L').byte('F').byte(is_64 ? 2 : 1).byte(abi_.order == byte_order::big ? 2 : 1);
    out.byte(1).pad_to(16).half(type).half(abi_.elf_machine).word(1).wide(0).wide(header).wide(0).word(0);
    out.half(header).half(record).half(pieces_.size() + 1).half(0).half(0).half(0);
    std::uint64_t at = header + (pieces_.size() + 1) * record;
    segment(out, PT_NOTE, 0, at, 0, notes_.size(), 0);
    at += notes_.size();
    for (const piece& p : pieces_) {
      segment(out, PT_LOAD, p.flags, at, p.address, p.bytes.size(), p.size);
      at += p.bytes.size();
    }
    auto all = out.take();
    all.insert(all.end(), notes_.begin(), notes_.end());
    return all;
  }

  void segment(byte_writer& out, unsigned type, unsigned flags, std::uint64_t at, std::uint64_t address,
               std::uint64_t in_file, std::uint64_t in_memory) const {
    out.word(type);
    if (abi_.pointer_size == 8) out.word(flags);
    out.wide(at).wide(address).wide(0).wide(in_file).wide(in_memory);
    if (abi_.pointer_size == 4) out.word(flags);
    out.wide(1);
  }

  target_abi abi_;
  std::vector<std::byte> notes_;
  std::vector<piece> pieces_;
};

}  // namespace mpiacq::test
