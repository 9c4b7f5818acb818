// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_relocations.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <elf.h>
#include <gelf.h>

namespace mpiacq::debug_info {

namespace {

/// A relocation that writes a symbol's value plus a constant: the only kind that compilers need in debug sections.
struct absolute_kind {
  unsigned machine;
  unsigned type;
  std::size_t width;
};
constexpr absolute_kind absolute_kinds[] = {
    {EM_X86_64, R_X86_64_64, 8},   {EM_X86_64, R_X86_64_32, 4},      {EM_X86_64, R_X86_64_32S, 4},
    {EM_386, R_386_32, 4},         {EM_AARCH64, R_AARCH64_ABS64, 8}, {EM_AARCH64, R_AARCH64_ABS32, 4},
    {EM_ARM, R_ARM_ABS32, 4},      {EM_S390, R_390_64, 8},           {EM_S390, R_390_32, 4},
    {EM_PPC64, R_PPC64_ADDR64, 8}, {EM_PPC64, R_PPC64_ADDR32, 4},    {EM_PPC, R_PPC_ADDR32, 4},
    {EM_RISCV, R_RISCV_64, 8},     {EM_RISCV, R_RISCV_32, 4},        {EM_SPARCV9, R_SPARC_UA64, 8},
    {EM_SPARCV9, R_SPARC_UA32, 4}, {EM_LOONGARCH, R_LARCH_64, 8},    {EM_LOONGARCH, R_LARCH_32, 4},
};

std::optional<std::size_t> width_of(unsigned machine, std::uint64_t type) {
  const auto* found = std::find_if(std::begin(absolute_kinds), std::end(absolute_kinds),
                                   [&](const absolute_kind& k) { return k.machine == machine && k.type == type; });
  return found == std::end(absolute_kinds) ? std::nullopt : std::optional{found->width};
}

/// One relocation, of either form.
struct relocation {
  std::uint64_t offset = 0;
  std::uint64_t info = 0;
  std::optional<std::int64_t> addend;  ///< empty: the addend is in the place that the relocation writes
};

std::optional<relocation> read(Elf_Data* table, std::uint32_t type, int index) {
  if (type == SHT_RELA) {
    GElf_Rela r;
    if (gelf_getrela(table, index, &r) == nullptr) return std::nullopt;
    return relocation{r.r_offset, r.r_info, r.r_addend};
  }
  GElf_Rel r;
  if (gelf_getrel(table, index, &r) == nullptr) return std::nullopt;
  return relocation{r.r_offset, r.r_info, std::nullopt};
}

class object_relocations {
 public:
  object_relocations(Elf* elf, byte_order order) : elf_(elf), order_(order) {
    GElf_Ehdr header;
    if (gelf_getehdr(elf, &header) != nullptr) machine_ = header.e_machine;
    if (elf_getshdrstrndx(elf, &names_) != 0) names_ = 0;
  }

  void apply(Elf_Scn* section) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return;
    if (header.sh_type != SHT_REL && header.sh_type != SHT_RELA) return;
    Elf_Scn* about = elf_getscn(elf_, header.sh_info);
    const auto into = contents_of_debug(about);
    if (into.empty()) return;
    Elf_Data* table = elf_getdata(section, nullptr);
    Elf_Data* symbols = elf_getdata(elf_getscn(elf_, header.sh_link), nullptr);
    if (table == nullptr || symbols == nullptr || symbols->d_type != ELF_T_SYM) return;
    for (int i = 0; const auto r = read(table, header.sh_type, i); ++i) apply(*r, symbols, into);
  }

 private:
  /// The bytes of a section of debug information, as libdw will read them; empty for other sections.
  [[nodiscard]] std::span<std::byte> contents_of_debug(Elf_Scn* section) const {
    GElf_Shdr header;
    if (section == nullptr || gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) return {};
    const char* name = elf_strptr(elf_, names_, header.sh_name);
    if (name == nullptr || !std::string_view{name}.starts_with(".debug_")) return {};
    if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0) return {};
    Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<std::byte*>(data->d_buf), data->d_size};
  }

  void apply(const relocation& r, Elf_Data* symbols, std::span<std::byte> into) const {
    const bool is_64 = gelf_getclass(elf_) == ELFCLASS64;
    const auto width = width_of(machine_, GELF_R_TYPE(r.info));
    GElf_Sym symbol;
    if (!width || gelf_getsym(symbols, static_cast<int>(GELF_R_SYM(r.info)), &symbol) == nullptr) return;
    if (*width > (is_64 ? 8U : 4U) || r.offset > into.size() || *width > into.size() - r.offset) return;
    const auto where = into.subspan(static_cast<std::size_t>(r.offset), *width);
    const auto addend = r.addend ? static_cast<std::uint64_t>(*r.addend) : decode_unsigned(where, order_);
    encode_integer(symbol.st_value + addend, order_, where);
  }

  Elf* elf_;
  byte_order order_;
  unsigned machine_ = EM_NONE;
  std::size_t names_ = 0;
};

}  // namespace

void relocate_debug_sections(Elf* elf, byte_order order) {
  object_relocations relocations{elf, order};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) relocations.apply(section);
}

}  // namespace mpiacq::debug_info
