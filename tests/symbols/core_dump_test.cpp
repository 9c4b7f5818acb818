// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Core files that the library writes of live fixtures, compared with the memory of the fixtures, with the kernel's own
// core files, and with what gdb and elfutils read in them.
#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>

#include "catch.hpp"
#include "core/core_notes.hpp"
#include "descriptors/unique_fd.hpp"
#include "elf/elf_image.hpp"
#include "gdb.hpp"
#include "memory_kinds.hpp"
#include "mpiacq/process/core_file.hpp"
#include "take_core.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::vector<std::string> variants() {
  std::vector<std::string> all = {"memory_kinds"};
#ifdef MPIACQ_HAVE_32_BIT_LIBC
  all.emplace_back("memory_kinds_32");
#endif
  return all;
}

struct written {
  std::string path;
  written_core what;
  struct stat about {};
};

/// The core of a process that is held meanwhile. Each thread waits in read(0, ...) before and after it: until a thread
/// that was held has called read again, its registers are those before the call.
std::optional<written> write_core_of(process_id pid, const std::string& path, int signal = 0,
                                     core_write_options options = {}) {
  const auto waits = [&] { return all_wait(pid); };
  REQUIRE(comes_true(waits));
  written w{path, {}, {}};
  {
    const held_process held{pid};
    if (!held.is_held()) return std::nullopt;
    core_process process = held.process();
    process.signal = signal;
    live_memory memory{pid};
    const base::unique_fd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    auto what = write_core(process, memory, file.get(), options);
    if (!what) FAIL(what.error().message);
    w.what = std::move(*what);
    REQUIRE(::fstat(file.get(), &w.about) == 0);
  }
  REQUIRE(comes_true(waits));
  return w;
}

#define WRITE_CORE(...)                                         \
  [&] {                                                         \
    auto core_is_written = write_core_of(__VA_ARGS__);          \
    if (!core_is_written) FAIL("the process cannot be traced"); \
    return *core_is_written;                                    \
  }()

/// A number in kB of the mapping that begins at an address, from /proc/PID/smaps.
std::string smaps_field(process_id pid, std::uint64_t begin, const std::string& field) {
  std::ifstream smaps{"/proc/" + std::to_string(pid.value()) + "/smaps"};
  std::ostringstream start;
  start << std::hex << begin << "-";
  bool is_there = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find('-') < 17 && line.find(':') > 20) is_there = line.starts_with(start.str());
    if (is_there && line.starts_with(field + ":")) return line;
  }
  return {};
}

/// Anonymous memory and page tables, in kB: what reading must not make more.
long memory_of_its_own(process_id pid) {
  std::istringstream status{file_contents("/proc/" + std::to_string(pid.value()) + "/status")};
  long sum = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:") || line.starts_with("VmPTE:")) sum += std::stol(line.substr(line.find(':') + 1));
  }
  return sum;
}

/// The lines of stacks that begin with "#", which are the frames.
std::vector<std::string> frames(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) all.push_back(line);
  }
  return all;
}

elf::image image_of(const std::string& path) {
  auto file = elf::input_file::open(path);
  REQUIRE(file);
  auto image = elf::image::open(std::move(*file));
  if (!image) FAIL(image.error().message);
  return std::move(*image);
}

/// The contents of all notes of a type.
std::vector<std::string> notes_of(const elf::image& core, std::uint32_t type) {
  std::vector<std::string> all;
  const elf::segment* notes = core.find_segment(PT_NOTE);
  const auto bytes = core.file().read(notes->offset, notes->file_size).value();
  const auto word = [&](std::size_t at) { return decode_unsigned(std::span{bytes}.subspan(at, 4), core.abi().order); };
  for (std::size_t at = 0; at + 12 <= bytes.size();) {
    const std::size_t contents = at + 12 + ((word(at) + 3) & ~3U);
    const std::size_t size = word(at + 4);
    if (word(at + 8) == type) all.emplace_back(reinterpret_cast<const char*>(bytes.data()) + contents, size);
    at = contents + ((size + 3) & ~std::size_t{3});
  }
  return all;
}

}  // namespace

TEST_CASE("a written core has the memory of the process, which goes on") {
  for (const std::string& variant : variants()) {
    INFO(variant);
    kinds k{variant};
    if (k.places.empty()) continue;  // the kernel does not run 32-bit programs
    const auto used_before = smaps_field(k.process.pid(), k.places["sparse"].address, "Rss");
    const auto own_before = memory_of_its_own(k.process.pid());
    REQUIRE(own_before > 0);
    const written w = WRITE_CORE(k.process.pid(), k.folder / "written", SIGSEGV);
    CHECK(smaps_field(k.process.pid(), k.places["sparse"].address, "Rss") == used_before);
    CHECK(memory_of_its_own(k.process.pid()) == own_before);

    auto core = core_file::open(w.path);
    if (!core) FAIL(core.error().message);
    CHECK((*core)->pid() == k.process.pid());
    CHECK((*core)->signal() == SIGSEGV);
    CHECK((*core)->executable() == std::filesystem::canonical(fixture(variant)).string());
    CHECK((*core)->abi().pointer_size == (variant == "memory_kinds" ? sizeof(void*) : 4));
    live_memory live{k.process.pid()};
    for (const char* kind : {"data", "bss", "heap", "sparse", "shared", "writable_file", "changed_file", "deleted_file",
                             "read_only", "stack"}) {
      INFO(kind);
      place whole = k.places[kind];
      if (std::string{kind} == "changed_file") whole.size /= 2;
      const auto bytes = read(live, whole);
      REQUIRE(bytes.size() == whole.size);
      CHECK(read(**core, whole) == bytes);
    }
    for (const char* kind : {"no_access", "excluded", "shared_file", "constant_file"}) {
      INFO(kind);
      CHECK(read(**core, k.places[kind]).empty());
    }
    // Zeros, if the kernel has joined it with a neighbour.
    for (const std::byte b : read(**core, k.places["untouched"])) CHECK(b == std::byte{0});

    CHECK(texts(w.what.problems).empty());
    CHECK(w.what.unreadable == 4096);
    CHECK(w.what.left_out == 0);
    CHECK(w.what.length == static_cast<std::uint64_t>(w.about.st_size));
    CHECK(w.what.length > k.places["sparse"].size);
    CHECK(w.what.stored < k.places["sparse"].size / 4);
    CHECK(static_cast<std::uint64_t>(w.about.st_blocks) * 512 < k.places["sparse"].size / 2);
    auto symbols = core_symbols::open(**core, fixture_search());
    REQUIRE(symbols);
    const auto found = (*symbols)->find_symbols(std::vector<std::string_view>{"known_value"});
    REQUIRE(found);
    REQUIRE(found->front());
    CHECK(found->front()->address().value() == k.places["data"].address);

    CHECK(k.process.end() == 0);  // the exit status: nothing in the process has changed
  }
}

TEST_CASE("gdb reads the same stacks in a written core as in the process") {
  if (!is_installed("gdb")) MPIACQ_SKIP(gdb_not_installed);
  for (const std::string& variant : variants()) {
    INFO(variant);
    kinds k{variant};
    if (k.places.empty()) continue;
    const auto gdb = [&](const std::vector<std::string>& of) {
      std::vector<std::string> what = {
          "-ex", "thread apply all bt", "-ex", "info registers",           "-ex", "info float",
          "-ex", "print known_value",   "-ex", "print $_siginfo.si_signo", "-ex", "print zeros_at_first[4096]"};
      what.insert(what.end(), of.begin(), of.end());
      return run_command(gdb_command(what));
    };
    const auto live = gdb({"-p", std::to_string(k.process.pid().value())});
    if (frames(live.out).empty()) MPIACQ_SKIP("gdb may not trace: " + live.err);
    const written w = WRITE_CORE(k.process.pid(), k.folder / "written", SIGSEGV);
    const auto dead = gdb({fixture(variant), w.path});
    const auto stacks = [](const std::string& text) {
      return frames(text.substr(std::min(text.find("\nThread "), text.size())));
    };
    CAPTURE(live.out, live.err, dead.out, dead.err);
    CHECK(stacks(dead.out) == stacks(live.out));
    CHECK(stacks(dead.out).size() >= 3 * 4);
    CHECK_THAT(dead.out, ContainsSubstring("terminated with signal SIGSEGV"));
    CHECK_THAT(dead.out, ContainsSubstring("$1 = 19088743"));
    CHECK_THAT(dead.out, ContainsSubstring("$2 = 11"));
    CHECK_THAT(dead.out, ContainsSubstring("$3 = 98 'b'"));
    CHECK_THAT(dead.out, !ContainsSubstring("warning"));
    std::istringstream complaints{dead.err};
    for (std::string line; std::getline(complaints, line);) {
      // Shared memory without a name is in the core itself.
      if (line.find("warning") != std::string::npos) CHECK_THAT(line, ContainsSubstring("(deleted)"));
    }
    const auto from = [](const std::string& text, const char* begin) {
      const auto at = text.find(begin);
      return at == std::string::npos ? std::string{} : text.substr(at, text.find("Instruction Pointer", at) - at);
    };
    // "info float" comes after the registers; of the two, the first thread of gdb's process is the one of the core.
    CHECK(from(dead.out, "R7:") == from(live.out, "R7:"));
    CHECK(from(dead.out, "R7:").empty() == from(live.out, "R7:").empty());
  }
}

TEST_CASE("elfutils and binutils read a written core without complaint") {
  if (!is_installed("eu-stack")) MPIACQ_SKIP("eu-stack is not installed");
  for (const std::string& variant : variants()) {
    INFO(variant);
    kinds k{variant};
    if (k.places.empty()) continue;
    const auto live = run_command({"eu-stack", "-p", std::to_string(k.process.pid().value())});
    const written w = WRITE_CORE(k.process.pid(), k.folder / "written", SIGABRT);
    const auto dead = run_command({"eu-stack", "--core=" + w.path});
    CAPTURE(live.out, live.err, dead.out, dead.err);
    REQUIRE(live.exit_code == 0);
    CHECK(dead.exit_code == 0);
    // eu-stack does not leave the main function of a live 32-bit process, but does so in a core of the kernel, too.
    if (variant == "memory_kinds") CHECK(frames(dead.out) == frames(live.out));
    CHECK(frames(dead.out).size() >= frames(live.out).size());
    CHECK(dead.err.empty());
    const auto notes = run_command({"eu-readelf", "-n", w.path});
    CHECK(notes.exit_code == 0);
    CHECK(notes.err.empty());
    CHECK_THAT(notes.out, ContainsSubstring("SIGINFO") && ContainsSubstring("si_signo: 6"));
    CHECK_THAT(notes.out, ContainsSubstring("pid: " + std::to_string(k.process.pid().value())));
    CHECK_THAT(notes.out, ContainsSubstring("fname: " + variant.substr(0, 15)));
    CHECK_THAT(notes.out, ContainsSubstring("psargs: " + fixture(variant).substr(0, 30)));
    CHECK_THAT(notes.out, ContainsSubstring("AUXV") && ContainsSubstring("a\nname"));
    const auto all = run_command({"readelf", "-W", "-a", w.path});
    CAPTURE(all.err);
    CHECK(all.exit_code == 0);
    CHECK(all.err.empty());
    CHECK_THAT(all.out, !ContainsSubstring("arning"));
  }
}

TEST_CASE("a written core has the mappings, the contents and the notes of the kernel's core") {
  if (const auto why = why_no_kernel_core(); !why.empty()) MPIACQ_SKIP(why);
  for (const std::string& variant : variants()) {
    INFO(variant);
    own_folder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder / "");
    kinds k{variant};
    std::filesystem::current_path(before);
    if (k.places.empty()) continue;
    const written w = WRITE_CORE(k.process.pid(), k.folder / "written", SIGQUIT);
    allow_core(k.process.pid());
    ::kill(static_cast<pid_t>(k.process.pid().value()), SIGQUIT);
    siginfo_t ended{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(k.process.pid().value()), &ended, WEXITED | WNOWAIT) == 0);
    REQUIRE(WCOREDUMP(k.process.end()));
    const auto kernels = core_in(folder / "");
    REQUIRE(kernels);
    const elf::image theirs = image_of(*kernels);
    const elf::image ours = image_of(w.path);
    CHECK(ours.abi() == theirs.abi());

    std::map<std::uint64_t, elf::segment> by_address;
    for (const elf::segment& s : ours.segments()) by_address[s.address] = s;
    std::size_t compared = 0;
    for (const elf::segment& t : theirs.segments()) {
      if (t.type != PT_LOAD) continue;
      CAPTURE(t.address, t.memory_size, t.file_size);
      REQUIRE(by_address.contains(t.address));
      const elf::segment o = by_address[t.address];
      by_address.erase(t.address);
      CHECK(o.memory_size == t.memory_size);
      if (t.address < 0xffffffff00000000U) CHECK(o.flags == t.flags);
      CHECK(o.alignment == t.alignment);
      if (o.file_size == 0) continue;
      if (t.file_size > 0) CHECK(o.file_size == t.file_size);
      for (std::uint64_t at = 0; at < std::min(t.file_size, o.file_size); at += 1U << 20) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(1U << 20, t.file_size - at));
        std::vector<std::byte> a(size);
        std::vector<std::byte> b(size);
        REQUIRE(ours.file().read_whole(o.offset + at, a));
        REQUIRE(theirs.file().read_whole(t.offset + at, b));
        const auto differs = std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin();
        CHECK(differs == static_cast<std::ptrdiff_t>(size));
      }
      ++compared;
    }
    CHECK(compared > 10);
    for (const auto& left : by_address) CHECK(left.second.type == PT_NOTE);  // we list nothing more
    // What the kernel has and we lack: its own pages alone.
    for (const elf::segment& t : theirs.segments()) {
      const auto same = std::find_if(ours.segments().begin(), ours.segments().end(), [&](const elf::segment& o) {
        return o.type == PT_LOAD && o.address == t.address;
      });
      if (t.type != PT_LOAD || t.file_size == 0 || same->file_size != 0) continue;
      const auto bytes = theirs.file().read(t.offset, std::min<std::uint64_t>(t.file_size, 1U << 16)).value();
      CAPTURE(t.address, t.file_size);
      const bool is_zero = std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
      CHECK((is_zero || t.address >= 0xffffffff00000000U));
    }
    const auto stacks_in = [](const std::string& core) {
      auto lines = frames(run_command({"eu-stack", "--core=" + core}).out);
      std::sort(lines.begin(), lines.end());  // the kernel begins with the thread that got the signal
      return lines;
    };
    CHECK(stacks_in(w.path) == stacks_in(*kernels));
    CHECK(notes_of(ours, NT_AUXV) == notes_of(theirs, NT_AUXV));
    CHECK(notes_of(ours, NT_FILE) == notes_of(theirs, NT_FILE));
    const auto our_threads = notes_of(ours, NT_PRSTATUS);
    const auto their_threads = notes_of(theirs, NT_PRSTATUS);
    REQUIRE(our_threads.size() == 3);
    REQUIRE(their_threads.size() == 3);
    const bool is_64 = ours.abi().pointer_size == 8;
    const std::size_t word = ours.abi().long_size;
    const auto ids = [&](const std::string& status) { return status.substr(16 + 2 * word, 16); };
    const auto registers = [&](const std::string& status) { return status.substr(32 + 10 * word); };
    for (const std::string& one : our_threads) {
      const auto same = std::find_if(their_threads.begin(), their_threads.end(),
                                     [&](const std::string& other) { return ids(one) == ids(other); });
      REQUIRE(same != their_threads.end());
      CHECK(one.size() == same->size());
      CHECK(registers(one) == registers(*same));
    }
    auto floats = notes_of(ours, NT_PRFPREG);
    auto their_floats = notes_of(theirs, NT_PRFPREG);
    std::sort(floats.begin(), floats.end());
    std::sort(their_floats.begin(), their_floats.end());
    CHECK(floats == their_floats);
    const auto info = notes_of(ours, NT_PRPSINFO);
    const auto their_info = notes_of(theirs, NT_PRPSINFO);
    REQUIRE(info.size() == 1);
    REQUIRE(info.front().size() == their_info.front().size());
    const std::size_t ids_begin = is_64 ? 16 : 8;  // before them: the state and the flags, which the signal has changed
    CHECK(info.front().substr(ids_begin) == their_info.front().substr(ids_begin));
  }
}
