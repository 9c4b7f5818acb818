// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What must not grow: how often memory is read, how much of it, and how often memory is asked for, each for growing
// sizes. Counts do not vary with the machine, as times do.
#include <array>
#include <filesystem>
#include <fstream>

#include <elf.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "allocations.hpp"
#include "descriptors/unique_fd.hpp"
#include "fake_job.hpp"
#include "fake_target.hpp"
#include "in_process.hpp"
#include "live_process.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpir/mpir_symbols.hpp"
#include "mpiacq/process/loaded_code.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/unwinder.hpp"
#include "unwind_writer.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

allocated read_table(std::size_t entries, bool own_strings) {
  fake_starter starter;
  const auto app = starter.string("/path/a.out");
  std::vector<fake_entry> table;
  for (std::size_t i = 0; i < entries; ++i) {
    const auto host = starter.string("node" + std::to_string(i / 64));
    const auto own = own_strings ? starter.string("/path/a.out." + std::to_string(i)) : app;
    table.push_back({host, own, 1 + static_cast<int>(i)});
  }
  starter.put_table(table);
  const allocated counted = allocated_by([&] {
    const auto read =
        read_process_table(starter.memory, starter.abi, starter.layout, fake_starter::table, table.size());
    REQUIRE(read.has_value());
    CHECK(read->size() == entries);
  });
  const std::size_t pieces = entries * 24 / (512 * 1024) + 1, pages = starter.string_bytes() / read_page_size + 1;
  CHECK(starter.memory.calls <= 2 + pieces + pages / 128 + 1);
  CHECK(starter.memory.bytes_read <= (entries + 1) * 24 + starter.string_bytes() + (pages / 128 + 2) * read_page_size);
  return counted;
}

struct looked_up {
  allocated memory;
  std::size_t reads = 0;
  std::size_t bytes = 0;
};

/// How often the kernel says that a file has been opened since this object was made.
class opened_files {
 public:
  explicit opened_files(const std::string& path) : events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    // The kernel makes one event of equal ones that follow each other: with the ends of openings, none do.
    REQUIRE(::inotify_add_watch(events_.get(), path.c_str(), IN_OPEN | IN_CLOSE) >= 0);
  }
  [[nodiscard]] std::size_t count() const {
    inotify_event event{};  // the watch of a file has no names: each event has this size
    while (::read(events_.get(), &event, sizeof event) == static_cast<ssize_t>(sizeof event)) {
      if ((event.mask & IN_OPEN) != 0) ++count_;
    }
    return count_;
  }

 private:
  base::unique_fd events_;
  mutable std::size_t count_ = 0;
};

looked_up find_symbols(const std::string& program, layout_source expected) {
  live_process process{{program}};
  (void)process.lines_until_ready();
  live_memory memory{process.pid()};
  looked_up found;
  found.memory = allocated_by([&] {
    auto symbols = process_symbols::open(process.pid(), memory, debug_file_search{{}, false});
    REQUIRE(symbols.has_value());
    const auto known = mpir::find_symbols(**symbols);
    REQUIRE(known.has_value());
    REQUIRE((*known)[mpir::known::proctable].has_value());
    const auto& breakpoint = (*known)[mpir::known::breakpoint];
    const auto layout =
        (*symbols)->layout_pointed_to_by(*(*known)[mpir::known::proctable], breakpoint ? &*breakpoint : nullptr);
    REQUIRE(layout.has_value());
    CHECK((*layout ? (*layout)->source : layout_source::inferred) == expected);
  });
  found.reads = memory.calls;
  found.bytes = memory.bytes;
  return found;
}

}  // namespace

TEST_CASE("a table's entries and shared strings ask for no memory one by one") {
  MPIACQ_COUNT_ALLOCATIONS();
  for (const std::size_t entries : {1'000U, 10'000U, 100'000U}) {
    INFO(entries);
    CHECK(read_table(entries, false).times <= 100);
  }
}

TEST_CASE("nor do strings of their own, and all of it is not much more than the table") {
  MPIACQ_COUNT_ALLOCATIONS();
  for (const std::size_t entries : {1'000U, 10'000U, 100'000U}) {
    INFO(entries);
    const allocated counted = read_table(entries, true);
    // A piece of work for the second thread takes three allocations, and there is one for some thousands of strings.
    CHECK(counted.times <= 160 + entries / 250);
    // What the search for equal strings needs stands where the addresses of the strings were.
    CHECK(counted.bytes <= 192 * entries + (5U << 20U));
  }
}

TEST_CASE("symbols in a stripped program: few reads, few allocations") {
  MPIACQ_COUNT_ALLOCATIONS();
  const looked_up found = find_symbols(std::string{MPIACQ_MODULE_FIXTURES} + "/stripped", layout_source::inferred);
  CHECK(found.reads <= 48);
  CHECK(found.bytes <= 48 * read_page_size);
  CHECK(found.memory.times <= 1'000);
  CHECK(found.memory.bytes <= 256U << 10U);
}

TEST_CASE("a name that no module has: a library without a symbol table is opened once") {
  const std::string folder = std::string{MPIACQ_MODULE_FIXTURES} + "/stripped_library";
  live_process process{
      {"/usr/bin/env", "LD_LIBRARY_PATH=" + folder, std::string{MPIACQ_MODULE_FIXTURES} + "/in_library"}};
  (void)process.lines_until_ready();
  const opened_files opened(folder + "/libmpir_fixture.so");
  live_memory memory{process.pid()};
  auto symbols = process_symbols::open(process.pid(), memory, debug_file_search{{}, false});
  REQUIRE(symbols.has_value());
  for (int look = 1; look <= 2; ++look) {
    INFO(look);
    const auto found = (*symbols)->look_up(std::array{std::string_view{"MPIR_no_such_name"}}, {});
    REQUIRE(found.has_value());
    CHECK_FALSE(found->front().has_value());
    CHECK(opened.count() == 1);
  }
  // The kernel counts: it tells of this opening too.
  CHECK(std::ifstream(folder + "/libmpir_fixture.so").good());
  CHECK(opened.count() == 2);
}

TEST_CASE("symbols in a program of much DWARF: what units there are beside the right one costs next to nothing") {
  MPIACQ_COUNT_ALLOCATIONS();
  const looked_up small = find_symbols(MPIACQ_DWARF_4_UNITS, layout_source::dwarf);
  const looked_up large = find_symbols(MPIACQ_DWARF_40_UNITS, layout_source::dwarf);
  CHECK(large.reads <= small.reads + 4);
  CHECK(large.bytes <= small.bytes + 16 * read_page_size);
  CHECK(large.memory.times <= small.memory.times + 36 * 8);
  // A file of this size is read and not mapped, its sections once each.
  CHECK(large.memory.bytes <= std::filesystem::file_size(MPIACQ_DWARF_40_UNITS) + (1U << 20U));
}

TEST_CASE("stacks of many like ranks: tables are read once, and a rank costs two reads") {
  MPIACQ_COUNT_ALLOCATIONS();
  constexpr std::uint64_t stack_at = 0x70000, code = unwind_writer::code_at;
  constexpr std::size_t frames = 22;
  unwind_writer tables;
  tables.cie();
  tables.function(0x000, 0x100, {0x0e, 16});
  tables.function(0x100, 0x100, {0x07, 16});  // an undefined return address: nobody called it
  const auto [bytes, its_module] = tables.finish();
  const auto& only = its_module;  // clang 14 lets no lambda take a structured binding
  byte_writer stack(lp64_little);
  for (std::size_t i = 1; i < frames; ++i) stack.wide(0).wide(i + 1 == frames ? code + 0x120 : code + 0x20);
  const std::vector<std::byte> stack_bytes = stack.take();
  thread_registers at;
  at.pc = target_address{code + 0x20};
  at.sp = target_address{stack_at};
  at.by_dwarf_number[7] = stack_at;
  at.by_dwarf_number[16] = code + 0x20;
  at.count = 17;
  const auto shared = std::make_shared<unwind_tables>();
  const target_abi x86_64 = abi_of_elf(ELFCLASS64, ELFDATA2LSB, EM_X86_64);
  for (int rank = 0; rank < 1'000; ++rank) {
    fake_memory memory;
    memory.map(target_address{unwind_writer::tables_at}, bytes);
    memory.map(target_address{stack_at}, stack_bytes);
    const allocated counted = allocated_by([&] {
      const auto made = unwinder::create(x86_64, shared, {only}, memory);
      if (!made) return;
      const auto walked = (*made)->walk(at);
      REQUIRE(walked.has_value());
      CHECK(walked->frames.size() == frames);
    });
    if (rank == 0) continue;  // reads the tables
    REQUIRE(memory.calls <= 2);
    REQUIRE(counted.times <= 40);
    REQUIRE(counted.bytes <= 96U << 10U);  // it would be more, had libunwind been asked
  }
}

TEST_CASE("modules of many like ranks: only the memory of the first is read") {
  const std::string program = std::string{MPIACQ_MODULE_FIXTURES} + "/stripped";
  constexpr std::size_t count = 8;
  std::vector<std::unique_ptr<live_process>> ranks;
  for (std::size_t i = 0; i < count; ++i) {
    ranks.push_back(std::make_unique<live_process>(std::vector<std::string>{program}));
    (void)ranks.back()->lines_until_ready();
  }
  module_catalogue catalogue;
  std::size_t reads = 0;
  for (const auto& rank : ranks) {
    live_memory memory{rank->pid()};
    const auto learnt = catalogue.learn(rank->pid(), memory);
    REQUIRE(learnt.has_value());
    CHECK(learnt->modules.modules.size() >= 4);  // the program, the C library, the dynamic linker, the vdso
    reads += memory.calls;
  }
  const module_catalogue_counts counts = catalogue.counts();
  CHECK(counts.whole + counts.shared == count);
  CHECK(reads == counts.whole);
  // What was read holds for a second; on a very busy machine, that may be over once in between.
  CHECK(counts.whole <= 2);
}

TEST_CASE("ten thousand pending operations: each page is read once, an operation asks for memory a few times") {
  MPIACQ_COUNT_ALLOCATIONS();
  std::vector<std::size_t> times;
  for (const int operations : {1'000, 10'000}) {
    fake_small_mpi mpi(lp64_little, 0, 2);
    for (int i = 0; i < operations; ++i) mpi.receive("MPI_COMM_WORLD", 1, i, 8);
    const allocated counted = allocated_by([&] {
      const auto report = read_here("perfect", mpi);
      REQUIRE(report);
      CHECK(report->communicators.at(0).of(queue_class::receives).operations.size() ==
            static_cast<std::size_t>(operations));
    });
    CHECK(mpi.memory.calls <= static_cast<std::size_t>(operations) / 64 + 3);
    times.push_back(counted.times);
  }
  CHECK(times[1] - times[0] <= 9'000 * 3);
}

TEST_CASE("an MPI2DD job: directories are opened, ranks are not, and a rank asks for no memory of its own") {
  MPIACQ_COUNT_ALLOCATIONS();
  constexpr int directories = 8;
  std::vector<std::size_t> times;
  for (const int ranks_each : {100, 10'000}) {
    fake_job job;
    fake_mpi_process& meta = job.add("meta", 1);
    meta.info.mpi_flags = 1;
    std::vector<fake_entry> listed;
    for (int d = 0; d < directories; ++d) {
      const std::string host = "n" + std::to_string(d);
      fake_mpi_process& directory = job.add(host, 10);
      directory.info.mpi_flags = 2;
      directory.meta("meta", 1);
      const auto name = directory.string(host), app = directory.string("/app"), world = directory.string("w");
      std::vector<fake_rank> ranks;
      for (int i = 0; i < ranks_each; ++i) ranks.push_back({name, app, {}, world, 100 + i, d * ranks_each + i});
      directory.put_processes(ranks);
      listed.push_back({meta.string(host), meta.string("/dird"), 10});
    }
    meta.put_directories(listed);
    job.publish();
    mpi2dd::walk_options options;
    options.threads = 1;
    const allocated counted = allocated_by([&] {
      const auto graph = mpi2dd::walk({"meta", process_id{1}, ""}, job.opener(), options);
      REQUIRE(graph.has_value());
      CHECK(graph->process_count() == static_cast<std::size_t>(directories * (ranks_each + 1) + 1));
    });
    CHECK(job.opens() == directories + 1);
    CHECK(job.reads() <=
          (directories + 1) * 9U + static_cast<std::size_t>(ranks_each * directories) * 40 / (512 * 1024));
    times.push_back(counted.times);
  }
  CHECK(times[1] <= times[0] + directories * 60);
}
