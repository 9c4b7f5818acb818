// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstring>

#include <sys/mman.h>
#include <sys/wait.h>

#include "inferior.hpp"
#include "refusals.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Pages of this process with known bytes, and a hole that a test makes among them.
struct pages {
  explicit pages(std::size_t count) : size(count * read_page_size) {
    void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    bytes = static_cast<unsigned char*>(at);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = value(i);
  }
  ~pages() { ::munmap(bytes, size); }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  static unsigned char value(std::size_t i) { return static_cast<unsigned char>(i * 7 + i / 251); }
  void hole(std::size_t page) const { ::munmap(bytes + page * read_page_size, read_page_size); }
  [[nodiscard]] target_address at(std::size_t offset) const {
    return target_address{reinterpret_cast<std::uintptr_t>(bytes) + offset};
  }
  [[nodiscard]] static bool right(std::span<const std::byte> read, std::size_t offset) {
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (std::to_integer<unsigned char>(read[i]) != value(offset + i)) return false;
    }
    return true;
  }
  unsigned char* bytes;
  std::size_t size;
};

process_id self() {
  return process_id{::getpid()};
}

}  // namespace

TEST_CASE("a read ends exactly at the first unreadable byte, and the other ranges are read") {
  const pages memory(6);
  memory.hole(3);
  std::array<std::byte, 20000> into{};
  const std::span<std::byte> all(into);
  std::vector<memory_range> ranges = {
      {memory.at(100), all.subspan(0, 200)},
      {memory.at(3 * read_page_size - 10), all.subspan(200, 100)},                   // runs into the hole
      {memory.at(3 * read_page_size + 5), all.subspan(300, 50)},                     // within it
      {memory.at(4 * read_page_size), all.subspan(350, 2 * read_page_size)},         // behind it
      {memory.at(read_page_size / 2), all.subspan(9000, 3 * read_page_size - 100)},  // pages, then the hole
      {target_address{8}, all.subspan(0, 0)},
      {target_address{~0ULL - 3}, all.subspan(19990, 8)},
  };
  process_memory reader(self());
  ok(reader.read_ranges(ranges));
  CHECK(ranges[0].got == 200);
  CHECK(ranges[1].got == 10);
  CHECK(ranges[2].got == 0);
  CHECK(ranges[3].got == 2 * read_page_size);
  CHECK(ranges[4].got == 3 * read_page_size - read_page_size / 2);
  CHECK(ranges[5].got == 0);
  CHECK(ranges[6].got == 0);
  CHECK(pages::right(all.subspan(0, 200), 100));
  CHECK(pages::right(all.subspan(200, 10), 3 * read_page_size - 10));
  CHECK(pages::right(all.subspan(350, 2 * read_page_size), 4 * read_page_size));
  CHECK(pages::right(all.subspan(9000, ranges[4].got), read_page_size / 2));
}

TEST_CASE("thousands of ranges are read, with every tenth one unreadable") {
  const pages memory(40);
  memory.hole(20);
  constexpr std::size_t count = 3000;
  constexpr std::size_t each = 37;
  std::vector<std::byte> into(count * each);
  std::vector<memory_range> ranges;
  const auto offset = [](std::size_t i) {
    return i % 10 == 3 ? 20 * read_page_size + i : (i * 13) % (19 * read_page_size);
  };
  for (std::size_t i = 0; i < count; ++i) {
    ranges.push_back({memory.at(offset(i)), std::span(into).subspan(i * each, each)});
  }
  process_memory reader(self());
  ok(reader.read_ranges(ranges));
  std::size_t right = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool in_hole = i % 10 == 3;
    right += ranges[i].got == (in_hole ? 0 : each) && (in_hole || pages::right(ranges[i].into, offset(i))) ? 1U : 0U;
  }
  CHECK(right == count);
}

TEST_CASE("memory is read through /proc/PID/mem where the kernel refuses process_vm_readv") {
  const pages memory(4);
  memory.hole(2);
  const int refusal = GENERATE(EPERM, ENOSYS);
  const pid_t child = ::fork();
  if (child == 0) {
    refuse_process_vm_readv(refusal);
    std::array<std::byte, 5000> into{};
    std::array<memory_range, 2> ranges = {memory_range{memory.at(2 * read_page_size - 20), std::span(into).first(100)},
                                          memory_range{memory.at(50), std::span(into).subspan(100)}};
    process_memory reader(process_id{::getppid()});
    const bool read = reader.read_ranges(ranges).has_value() && ranges[0].got == 20 && ranges[1].got == 4900;
    const bool right = pages::right(std::span(into).first(20), 2 * read_page_size - 20) &&
                       pages::right(std::span(into).subspan(100), 50);
    ::_exit(read && right ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("the memory of a process whose leader has ended can be read and written") {
  const auto t = new_tracer();
  inferior program("leader_exits");
  const process_id id = at_entry(*t, program);
  ok(t->insert_breakpoint(id, address_of("leader_exits", "marker")));
  ok(t->resume(id));
  next<breakpoint_hit>(*t);
  process_memory memory(id);
  const target_address calls = address_of("leader_exits", "marker_calls");
  std::array<std::byte, 4> value{};
  ok(read_exact(memory, calls, value));
  CHECK(value[0] == std::byte{0});
  value[0] = std::byte{41};
  ok(memory.write(calls, value));
  CHECK(run_to_end(*t, id).value == 14);
  CHECK(program.rest() == "calls 42\n");
}

TEST_CASE("a large range is read whole") {
  const pages memory(16384);
  std::vector<std::byte> into(memory.size);
  process_memory reader(self());
  ok(read_exact(reader, memory.at(0), into));
  CHECK(std::memcmp(into.data(), memory.bytes, memory.size) == 0);
}

TEST_CASE("writes reach read-only code, and say where they cannot go on") {
  const auto t = new_tracer();
  inferior program("call_marker", {"1"});
  const process_id id = at_entry(*t, program);
  process_memory memory(id);
  const target_address marker = address_of("call_marker", "marker");
  // The function returns at once, and counts nothing.
  const std::array<std::byte, 1> return_at_once = {std::byte{0xc3}};
  ok(memory.write(marker, return_at_once));
  const auto nowhere = memory.write(target_address{16}, return_at_once);
  CHECK(nowhere.error().code == error_code::unreadable_memory);
  CHECK(nowhere.error().address == target_address{16});
  CHECK(run_to_end(*t, id).value == 6);
  CHECK(program.rest() == "calls 0\n");
}

TEST_CASE("reading the memory of a process that has ended gives process_gone, also while it is a zombie") {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  const pages memory(1);
  process_memory reader(process_id{child});
  std::array<std::byte, 8> into{};
  const auto zombie = read_exact(reader, memory.at(0), into);
  CHECK(zombie.error().code == error_code::process_gone);
  CHECK(reader.write(memory.at(0), into).error().code == error_code::process_gone);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(read_exact(reader, memory.at(0), into).error().code == error_code::process_gone);
  CHECK(reader.write(memory.at(0), into).error().code == error_code::process_gone);
}
