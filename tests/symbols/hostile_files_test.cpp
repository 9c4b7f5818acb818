// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Small files that claim to be large, or that describe more than fits into memory: the cost of all queries about them.
// The system measures it: getrusage the memory, /proc/self/io the bytes read, inotify the opened files.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <dwarf.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catch.hpp"
#include "child_cost.hpp"
#include "code_names/code_names.hpp"
#include "core/core_notes.hpp"
#include "core_writer.hpp"
#include "debug_files/debug_files.hpp"
#include "elf_writer.hpp"
#include "modules/ld_so_cache.hpp"
#include "mpiacq/process/process_types.hpp"
#include "run_command.hpp"
#include "sanitizers.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

const target_abi x86_64 = abi_of_elf(ELFCLASS64, ELFDATA2LSB, EM_X86_64);
constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;
/// The limit for any file. AddressSanitizer keeps freed memory, and both sanitizers need several times as much.
#if defined(MPIACQ_ADDRESS_SANITIZER) || defined(MPIACQ_THREAD_SANITIZER)
constexpr std::uint64_t most_memory = 2 * gigabyte;
#else
constexpr std::uint64_t most_memory = 300 * megabyte;
#endif
constexpr std::uint64_t most_bytes_read = 600 * megabyte;

/// Queries a file for symbols, a layout, types and the names of code; returns the problems.
std::string ask_everything(const std::string& path) {
  const debug_file_search nowhere{{}, false};
  std::string said;
  const auto note = [&](const error& e) { said += e.message + "\n"; };
  auto symbols = file_symbols::open(path, nowhere);
  if (!symbols) {
    note(symbols.error());
  } else {
    const std::vector<std::string_view> names = {"MPIR_proctable", "MPIR_Breakpoint"};
    if (const auto found = (*symbols)->look_up(names, {}); !found) note(found.error());
    const symbol table{"MPIR_proctable", (*symbols)->modules()[0], module_offset{0}, false, 8, symbol_kind::data};
    if (const auto layout = (*symbols)->layout_pointed_to_by(table, nullptr); !layout) note(layout.error());
    for (const error& e : (*symbols)->problems()) note(e);
  }
  auto types = type_file::open(path, nowhere);
  if (!types) {
    note(types.error());
  } else {
    if (const auto found = (*types)->type_named("struct nobody", source_language::c); !found) note(found.error());
    for (const error& e : (*types)->problems()) note(e);
  }
  auto file = elf::input_file::open(path);
  auto image = file ? elf::image::open(std::move(*file)) : fail(file.error());
  if (!image) {
    note(image.error());
    return said;
  }
  elf::code_names code{std::make_shared<elf::image>(std::move(*image)), path, {}};
  std::vector<error> problems;
  for (const std::uint64_t address : {0x10U, 0x1000U, 0x2000U}) {
    static_cast<void>(code.describe(address, nowhere, problems));
  }
  for (const error& e : problems) note(e);
  return said;
}

/// Makes all queries, and checks the cost; returns the problems.
std::string cheap(const std::string& path) {
  const auto cost = cost_of([&] { return ask_everything(path); });
  INFO(path << ": " << cost.peak / megabyte << " MB, " << cost.bytes_read / megabyte << " MB read, " << cost.seconds
            << " s\n"
            << cost.said);
  CHECK(cost.ended);
  CHECK(cost.peak < most_memory);
  CHECK(cost.bytes_read < most_bytes_read);
  return cost.said;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// Extends the file by a hole.
void stretch(const std::string& path, std::uint64_t size) {
  REQUIRE(::truncate(path.c_str(), static_cast<off_t>(size)) == 0);
}

/// Runs a Python program that writes a file.
void make_by_python(const std::string& program, const std::string& path) {
  command_options options;
  options.limit = std::chrono::seconds{120};
  const auto made = run_command({"python3", "-c", program, path}, options);
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
}

byte_writer bytes() {
  return byte_writer{x86_64};
}

/// One abbreviation for a unit without attributes.
std::vector<std::byte> plain_unit_abbreviation() {
  return bytes().byte(1).byte(DW_TAG_compile_unit).byte(0).byte(0).byte(0).byte(0).take();
}

void write_dwarf(const std::string& path, std::vector<std::byte> info, std::vector<std::byte> abbreviations,
                 std::vector<std::byte> lines = {}) {
  elf_writer file{x86_64};
  file.add({".debug_info", SHT_PROGBITS, std::move(info)});
  file.add({".debug_abbrev", SHT_PROGBITS, std::move(abbreviations)});
  file.add({".debug_line", SHT_PROGBITS, std::move(lines)});
  file.write_to(path);
}

}  // namespace

TEST_CASE("a small compressed section that claims gigabytes costs little") {
  const scratch_folder folder;
  const auto packed = folder.path("packed");
  make_by_python(
      "import sys, zlib\n"
      "z = zlib.compressobj(9)\n"
      "f = open(sys.argv[1], 'wb')\n"
      "for i in range(400): f.write(z.compress(bytes(1 << 20)))\n"
      "f.write(z.flush())\n",
      packed);
  auto contents = bytes().word(ELFCOMPRESS_ZLIB).word(0).wide(400 * megabyte).wide(1).take();
  const auto stream = bytes_of(file_contents(packed));
  contents.insert(contents.end(), stream.begin(), stream.end());
  elf_writer file{x86_64};
  file.add({".debug_info", SHT_PROGBITS, bytes().word(8).half(4).word(0).byte(8).byte(1).take()});
  file.add({".debug_abbrev", SHT_PROGBITS, plain_unit_abbreviation()});
  written_section strings{".debug_str", SHT_PROGBITS, std::move(contents)};
  strings.flags = SHF_COMPRESSED;
  file.add(std::move(strings));
  file.write_to(folder.path("bomb"));
  REQUIRE(std::filesystem::file_size(folder.path("bomb")) < 2 * megabyte);
  CHECK_THAT(cheap(folder.path("bomb")), ContainsSubstring("claims to be"));
}

TEST_CASE("sections of two gigabytes that are holes in a sparse file cost little") {
  const scratch_folder folder;
  const std::string path = folder.path("sparse");
  const std::string which = GENERATE(".shstrtab", ".symtab", ".strtab", ".debug_info", ".debug_str", ".gnu_debugdata");
  INFO(which);
  elf_writer file{x86_64};
  const auto add = [&](const std::string& name, unsigned type, std::vector<std::byte> contents, unsigned link = 0) {
    written_section s{name, type, std::move(contents)};
    s.link = link;
    if (type == SHT_SYMTAB) s.entry_size = sizeof(Elf64_Sym);
    if (name == which) s.claims = 2 * gigabyte;
    file.add(std::move(s));
  };
  add(".text", SHT_PROGBITS, std::vector<std::byte>(64));
  add(".symtab", SHT_SYMTAB, bytes().symbol(0, 0, 0, 0, 0).symbol(1, 16, 8, STT_FUNC, 1).take(), 3);
  add(".strtab", SHT_STRTAB, bytes().text("").text("MPIR_Breakpoint").take());
  add(".debug_info", SHT_PROGBITS, bytes().word(8).half(4).word(0).byte(8).byte(1).take());
  add(".debug_abbrev", SHT_PROGBITS, plain_unit_abbreviation());
  add(".debug_str", SHT_PROGBITS, bytes().text("name").take());
  add(".gnu_debugdata", SHT_PROGBITS, std::vector<std::byte>(64));
  if (which == ".shstrtab") file.claim_names(2 * gigabyte);
  file.write_to(path);
  stretch(path, 3 * gigabyte);
  // A symbol table that is a hole hides the packed one, and neither is read.
  if (which == ".gnu_debugdata") {
    CHECK(cheap(path).find("cannot") == std::string::npos);
  } else {
    CHECK_THAT(cheap(path), ContainsSubstring("claims") || ContainsSubstring("symbol table of"));
  }
}

TEST_CASE("a debug link to a sparse file of two terabytes costs little") {
  const scratch_folder folder;
  elf_writer program{x86_64};
  program.add({".text", SHT_PROGBITS, std::vector<std::byte>(64)});
  program.add({".gnu_debuglink", SHT_PROGBITS, bytes().text("far.debug").half(0).word(4711).take()});
  program.write_to(folder.path("program"));
  elf_writer linked{x86_64};
  linked.add({".text", SHT_PROGBITS, std::vector<std::byte>(64)});
  linked.write_to(folder.path("far.debug"));
  stretch(folder.path("far.debug"), 2048 * gigabyte);
  CHECK_THAT(cheap(folder.path("program")), ContainsSubstring("too many to compute its CRC"));
}

TEST_CASE("a debug link is followed to the largest permitted file, and not to a hole") {
  const scratch_folder folder;
  elf_writer linked{x86_64};
  linked.add({".text", SHT_PROGBITS, std::vector<std::byte>(64)});
  linked.write_to(folder.path("linked"));
  stretch(folder.path("linked"), 256 * megabyte);
  const auto cost = cost_of([&] {
    std::uint64_t left = debug_info::most_crc_bytes;
    const auto file = elf::input_file::open(folder.path("linked"));
    const auto crc = debug_info::crc_of_file(*file, left);
    return crc ? std::string{"computed"} : crc.error().message;
  });
  CHECK_THAT(cost.said, ContainsSubstring("mostly a hole"));
  CHECK(cost.bytes_read < megabyte);
}

TEST_CASE("hundreds of thousands of units in a small file cost little") {
  const scratch_folder folder;
  auto info = bytes();
  for (int i = 0; i < 400'000; ++i) info.word(8).half(4).word(0).byte(8).byte(1);
  write_dwarf(folder.path("units"), info.take(), plain_unit_abbreviation());
  CHECK_THAT(cheap(folder.path("units")), ContainsSubstring("too many units"));
}

TEST_CASE("units that share a long table of abbreviations cost little") {
  const scratch_folder folder;
  const bool is_first = GENERATE(true, false);
  INFO((is_first ? "the units' own abbreviation comes first" : "the units' own abbreviation comes last"));
  constexpr unsigned count = 100'000;
  const auto put = [](byte_writer& into, unsigned code, unsigned tag, bool has_children) {
    into.byte((code & 0x7f) | 0x80).byte((code >> 7 & 0x7f) | 0x80).byte(code >> 14 & 0x7f);
    into.byte(tag).byte(has_children ? 1 : 0).byte(0).byte(0);
  };
  auto table = bytes();
  if (is_first) put(table, count, DW_TAG_compile_unit, true);
  for (unsigned code = 1; code < count; ++code) put(table, code, DW_TAG_variable, false);
  if (!is_first) put(table, count, DW_TAG_compile_unit, true);
  table.byte(0);
  auto info = bytes();
  for (int i = 0; i < 200; ++i) {
    // Its child needs the last abbreviation but one.
    info.word(14).half(4).word(0).byte(8);
    info.byte((count & 0x7f) | 0x80).byte((count >> 7 & 0x7f) | 0x80).byte(count >> 14 & 0x7f);
    info.byte(((count - 1) & 0x7f) | 0x80)
        .byte(((count - 1) >> 7 & 0x7f) | 0x80)
        .byte((count - 1) >> 14 & 0x7f)
        .byte(0);
  }
  write_dwarf(folder.path("shared"), info.take(), table.take());
  CHECK_THAT(cheap(folder.path("shared")), ContainsSubstring("costs too much to read"));
}

TEST_CASE("a line table with millions of rows costs little") {
  const scratch_folder folder;
  constexpr unsigned rows = 6'000'000;
  auto table = bytes().byte(1).byte(DW_TAG_compile_unit).byte(0);
  table.byte(DW_AT_low_pc).byte(DW_FORM_addr).byte(DW_AT_high_pc).byte(DW_FORM_data4);
  table.byte(DW_AT_stmt_list).byte(DW_FORM_sec_offset).byte(0).byte(0).byte(0);
  auto info = bytes().word(7 + 1 + 16).half(4).word(0).byte(8).byte(1).wide(0).word(0x10000).word(0);
  // min_inst_length, max_ops, default_is_stmt, line_base, line_range, opcode_base, lengths, no folder, one file.
  auto head = bytes().byte(1).byte(1).byte(1).byte(0xfb).byte(14).byte(13);
  for (const unsigned operands : {0U, 1U, 1U, 1U, 1U, 0U, 0U, 0U, 1U, 0U, 0U, 1U}) head.byte(operands);
  head.byte(0).text("a.c").byte(0).byte(0).byte(0).byte(0);
  const auto header = head.take();
  auto lines = bytes().word(2 + 4 + header.size() + rows + 3).half(4).word(header.size());
  for (const std::byte b : header) lines.byte(std::to_integer<unsigned>(b));
  auto whole = lines.take();
  whole.insert(whole.end(), rows, std::byte{0x20});
  for (const unsigned b : {0U, 1U, 1U}) whole.push_back(static_cast<std::byte>(b));  // DW_LNE_end_sequence
  write_dwarf(folder.path("rows"), info.take(), table.take(), std::move(whole));
  CHECK_THAT(cheap(folder.path("rows")), ContainsSubstring("too many rows"));
}

TEST_CASE("millions of names of types in a file of some megabytes cost little") {
  const scratch_folder folder;
  auto table = bytes().byte(1).byte(DW_TAG_compile_unit).byte(1).byte(0).byte(0);
  table.byte(2).byte(DW_TAG_base_type).byte(0).byte(DW_AT_name).byte(DW_FORM_string).byte(0).byte(0).byte(0);
  constexpr unsigned count = 3'000'000;
  constexpr std::size_t entry = 6;
  std::string entries(count * entry, '\0');
  for (unsigned i = 0; i < count; ++i) {
    char* at = entries.data() + i * entry;
    at[0] = 2;
    for (unsigned digit = 0; digit < 4; ++digit) at[1 + digit] = static_cast<char>('0' + (i >> (6 * digit) & 63U));
  }
  entries += std::string{"\x02nobody\0\0", 9};  // the queried name is among the strings
  auto info = bytes().word(7 + 1 + entries.size()).half(4).word(0).byte(8).byte(1).take();
  const auto rest = bytes_of(entries);
  info.insert(info.end(), rest.begin(), rest.end());
  write_dwarf(folder.path("names"), std::move(info), table.take());
  CHECK_THAT(cheap(folder.path("names")), ContainsSubstring("describes too many things"));
}

TEST_CASE("a packed symbol table that unpacks beyond the limit costs little") {
  const scratch_folder folder;
  make_by_python(
      "import sys, lzma\n"
      "z = lzma.LZMACompressor(preset=0)\n"
      "f = open(sys.argv[1], 'wb')\n"
      "for i in range(160): f.write(z.compress(bytes(1 << 20)))\n"
      "f.write(z.flush())\n",
      folder.path("packed"));
  elf_writer file{x86_64};
  file.add({".text", SHT_PROGBITS, std::vector<std::byte>(64)});
  file.add({".gnu_debugdata", SHT_PROGBITS, bytes_of(file_contents(folder.path("packed")))});
  file.write_to(folder.path("bomb"));
  CHECK_THAT(cheap(folder.path("bomb")), ContainsSubstring("it unpacks to more than"));
}

TEST_CASE("an overlong build id is ignored") {
  const scratch_folder folder;
  elf_writer file{x86_64};
  file.add(
      {".note", SHT_NOTE, bytes().word(4).word(65536).word(NT_GNU_BUILD_ID).text("GNU").pad_to(16 + 65536).take()});
  file.write_to(folder.path("noted"));
  auto opened = elf::image::open(std::move(*elf::input_file::open(folder.path("noted"))));
  REQUIRE(opened.has_value());
  CHECK(opened->build_id().empty());
}

TEST_CASE("entries of the linker's cache that share a long string cost little") {
  constexpr unsigned count = 4000;
  auto cache = bytes();
  for (const char c : std::string{"glibc-ld.so.cache1.1"}) cache.byte(static_cast<unsigned char>(c));
  cache.word(count).pad_to(48);
  const std::uint64_t text = 48 + count * 24;
  for (unsigned i = 0; i < count; ++i) cache.word(1).word(text).word(text).word(0).wide(0);
  auto all = cache.take();
  all.insert(all.end(), megabyte, std::byte{'x'});
  all.push_back(std::byte{0});
  const auto cost = cost_of([&] {
    const elf::ld_so_cache read{all};
    return std::to_string(read.find(std::string(megabyte, 'x')).size());
  });
  CHECK(cost.said == "0");
  CHECK(cost.peak < most_memory);
}

TEST_CASE("a core's first list of mapped files is used") {
  const scratch_folder folder;
  const auto list = [&](std::uint64_t address, const std::string& path) {
    return bytes().wide(1).wide(4096).wide(address).wide(address + 4096).wide(0).text(path).take();
  };
  core_writer core{x86_64};
  core.map(0x1000, std::vector<std::byte>(16));
  core.note(NT_FILE, list(0x10000, "/first")).note(NT_FILE, list(0x20000, "/second"));
  core.write_to(folder.path("core"));
  auto opened = elf::image::open(std::move(*elf::input_file::open(folder.path("core"))));
  REQUIRE(opened.has_value());
  const auto notes = elf::read_core_notes(*opened);
  REQUIRE(notes.has_value());
  CHECK(notes->paths == std::vector<std::string>{"/first"});
}

TEST_CASE("a pipe that replaces a file between check and open is never opened") {
  const scratch_folder folder;
  const std::string name = folder.path("file");
  const std::string pipe = folder.path("pipe");
  std::ofstream{name} << "text";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int events = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  REQUIRE(events >= 0);
  REQUIRE(::inotify_add_watch(events, pipe.c_str(), IN_OPEN) >= 0);
  std::atomic<bool> ending = false;
  std::thread swapper{[&] {
    while (!ending) ::renameat2(AT_FDCWD, name.c_str(), AT_FDCWD, pipe.c_str(), RENAME_EXCHANGE);
  }};
  std::size_t files = 0;
  std::size_t pipes = 0;
  for (int i = 0; i < 200'000 && (i < 20'000 || files < 100 || pipes < 100); ++i) {
    const auto opened = elf::input_file::open(name);
    if (opened) ++files;
    if (!opened && opened.error().code == error_code::bad_format) ++pipes;
  }
  ending = true;
  swapper.join();
  CHECK(files >= 1);
  CHECK(pipes >= 1);
  char event[sizeof(inotify_event) + 256];
  CHECK(::read(events, event, sizeof event) < 0);  // none
  ::close(events);
}
