// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "core_dump/dump_records.hpp"

#include <algorithm>
#include <array>

#include <elf.h>

namespace mpiacq::elf {

namespace {

// The register sets are struct user_regs_struct of the kernel's <sys/user.h>: 27 words with rsp as number 19; 17 words
// with esp as number 15; x0 to x30, sp, pc and pstate.
constexpr std::array<dump_machine, 3> dump_machines = {{
    {EM_X86_64, 8, 4, std::size_t{27} * 8, std::size_t{19} * 8, 512},
    {EM_386, 4, 2, std::size_t{17} * 4, std::size_t{15} * 4, 512},
    {EM_AARCH64, 8, 4, std::size_t{34} * 8, std::size_t{31} * 8, 528},
}};

constexpr std::size_t alignment_of_notes = 4;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::size_t size_of_header(const target_abi& abi) {
  return abi.pointer_size == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
}

void append_segment(record_writer& out, const segment& s) {
  const bool is_64 = out.abi().pointer_size == 8;
  out.word(s.type);
  if (is_64) out.word(s.flags);
  out.wide(s.offset).wide(s.address).wide(0).wide(s.file_size).wide(s.memory_size);
  if (!is_64) out.word(s.flags);
  out.wide(s.alignment);
}

}  // namespace

const dump_machine* dump_machine_of(const target_abi& abi) {
  const auto* found = std::find_if(dump_machines.begin(), dump_machines.end(), [&](const dump_machine& m) {
    return m.elf_machine == abi.elf_machine && m.pointer_size == abi.pointer_size;
  });
  return found == dump_machines.end() ? nullptr : found;
}

record_writer& record_writer::number(std::uint64_t value, std::size_t size) {
  bytes_.resize(bytes_.size() + size);
  encode_integer(value, abi_.order, std::span{bytes_}.last(size));
  return *this;
}

record_writer& record_writer::raw(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

record_writer& record_writer::text(std::string_view value, std::size_t size) {
  const std::size_t end = bytes_.size() + size;
  raw(std::as_bytes(std::span{value.substr(0, size)}));
  bytes_.resize(end);
  return *this;
}

record_writer& record_writer::align(std::size_t alignment) {
  bytes_.resize(static_cast<std::size_t>(rounded_up(bytes_.size(), alignment)));
  return *this;
}

record_writer& record_writer::pad_to(std::size_t size) {
  bytes_.resize(std::max(bytes_.size(), size));
  return *this;
}

record_writer& record_writer::note(std::uint32_t type, std::span<const std::byte> contents) {
  constexpr std::string_view owner{"CORE\0", 5};
  word(owner.size()).word(contents.size()).word(type);
  text(owner, owner.size()).align(alignment_of_notes);
  return raw(contents).align(alignment_of_notes);
}

dump_places place_parts(const target_abi& abi, std::size_t segments, std::size_t notes, std::uint64_t page_size) {
  dump_places places;
  places.segments = size_of_header(abi);
  places.notes = places.segments + segments * segment_record_size(abi);
  if (segments >= PN_XNUM) {
    places.section = places.notes;
    places.notes += section_record_size(abi);
  }
  places.memory = rounded_up(places.notes + notes, page_size);
  return places;
}

record_writer encode_headers(const target_abi& abi, const dump_places& places, std::span<const segment> segments) {
  const bool is_64 = abi.pointer_size == 8;
  const bool is_many = places.section != 0;
  record_writer out{abi};
  out.number(0x7f, 1).text("ELF", 3).number(is_64 ? ELFCLASS64 : ELFCLASS32, 1);
  out.number(abi.order == byte_order::big ? ELFDATA2MSB : ELFDATA2LSB, 1).number(EV_CURRENT, 1).pad_to(EI_NIDENT);
  out.half(ET_CORE).half(abi.elf_machine).word(EV_CURRENT).wide(0).wide(places.segments).wide(places.section).word(0);
  out.half(size_of_header(abi)).half(segment_record_size(abi)).half(is_many ? PN_XNUM : segments.size());
  out.half(is_many ? section_record_size(abi) : 0).half(is_many ? 1 : 0).half(SHN_UNDEF);
  for (const segment& s : segments) append_segment(out, s);
  if (is_many) {
    // name, type, flags, address, offset, size: the number of sections; link; info: the number of segments
    out.word(0).word(SHT_NULL).wide(0).wide(0).wide(0).wide(1).word(0).word(segments.size()).wide(0).wide(0);
  }
  return out;
}

}  // namespace mpiacq::elf
