// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The whole reading of MPI2DD and the walk over processes made of fuzzed bytes. All processes have the same memory, so
// that tables lead to whatever the bytes name; the input's head says how they are seen.
//
//   byte 0: ABI (2 bits), the type in debug information is there (1 bit), its size is 24 (1 bit)
//   byte 1: pids from here on do not exist; byte 2: after so many reads a process has ended (255: never)
//   byte 3: after so many reads the info block changes (255: never); bytes 4 to 7: what is written over it then
//   the rest: memory from 0x41000000, with the info block at its beginning
#include <cstdint>
#include <cstdlib>
#include <span>

#include "../support/fake_target.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr target_address memory_at{0x41000000};

class fuzzed_process final : public mpi2dd::opened_process, public memory_reader {
 public:
  fuzzed_process(std::span<const std::uint8_t> input) : input_(input), abi_(every_abi[input[0] % 4]) {
    const auto* begin = reinterpret_cast<const std::byte*>(input.data()) + 8;
    memory_.map(memory_at, std::vector<std::byte>(begin, begin + input.size() - 8));
    symbols_.define("MPI2DD_info", memory_at, 0);
    if ((input[0] & 4) == 0) return;
    const std::uint64_t size = (input[0] & 8) != 0 ? 24 : 20;
    symbols_.structure = structure_layout{
        "MPI2DD_DIRECTORYENTRY",
        size,
        {{"host_name", 0, 8, false, false}, {"executable_name", 8, 8, false, false}, {"pid", 16, 4, false, true}},
        layout_source::dwarf,
        "m",
        ""};
  }
  target as_target() override { return {*this, nullptr, abi_, symbols_}; }
  result<void> read_ranges(std::span<memory_range> ranges) override {
    if (input_[2] != 255 && memory_.calls >= input_[2]) memory_.process_gone = true;
    if (input_[3] != 255 && memory_.calls == input_[3]) {
      const auto* bytes = reinterpret_cast<const std::byte*>(input_.data());
      (void)memory_.write(memory_at + (abi_.pointer_size == 8 ? 80 : 48), {bytes + 4, 4});
    }
    return memory_.read_ranges(ranges);
  }

 private:
  std::span<const std::uint8_t> input_;
  target_abi abi_;
  fake_memory memory_;
  fake_symbols symbols_;
};

void use(const mpi2dd::graph& g, const mpi2dd::listing& table) {
  for (const mpi2dd::process_number p : table.entries) {
    if (index(p) >= g.process_count()) std::abort();
  }
  std::uint32_t before = 0;
  for (const mpi2dd::entry_problem& p : table.problems) {
    if (p.entry < before || p.sentence().empty()) std::abort();
    before = p.entry;
  }
  if (table.problems.size() > table.problem_count) std::abort();
}

/// Everything that a graph offers must hold together, whatever it was read from.
void use(const mpi2dd::graph& g) {
  std::vector<std::size_t> in_world(g.worlds().size());
  for (std::uint32_t i = 0; i < g.process_count(); ++i) {
    const mpi2dd::process_number p{i};
    if (g.is_identified(p) && g.find(*g.host(p), g.pid(p)) != p) std::abort();
    if (g.rank(p).has_value() != g.is_rank(p)) std::abort();
    if (const auto w = g.world_of(p)) ++in_world[index(*w)];
    if (const auto s = g.spawn_of(p); s && index(*s) >= g.spawns().size()) std::abort();
    if (g.executable(p) && g.executable(p)->empty()) std::abort();
  }
  for (std::uint32_t w = 0; w < g.worlds().size(); ++w) {
    if (g.worlds()[w].processes != in_world[w] || g.members(mpi2dd::world_number{w}).size() != in_world[w])
      std::abort();
    if (g.find_world(g.worlds()[w].id) != mpi2dd::world_number{w}) std::abort();
  }
  for (const mpi2dd::visit& v : g.visits()) {
    if (v.state == mpi2dd::visit_state::waiting || g.visit_of(v.process) != &v) std::abort();
    if ((v.state == mpi2dd::visit_state::read) != v.info.has_value()) std::abort();
    for (const mpi2dd::listing* table : {&v.processes, &v.directories, &v.metadirectories}) use(g, *table);
  }
  if (g.disagreements().size() > g.disagreement_count()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return 0;
  const std::span<const std::uint8_t> input{data, size};
  std::size_t opens = 0;
  const auto open = [&](std::string_view, process_id pid,
                        std::string_view) -> result<std::unique_ptr<mpi2dd::opened_process>> {
    ++opens;
    if (pid.value() % 256 > input[1]) return fail(error_code::process_gone, "there is no such process");
    return std::make_unique<fuzzed_process>(input);
  };
  mpi2dd::walk_options options;
  options.threads = 1;
  options.limits.max_opened = 24;
  options.limits.max_depth = 8;
  options.limits.max_processes = 20000;
  options.limits.max_disagreements = 100;
  options.limits.table.max_entries = 4000;
  options.limits.table.max_string_bytes = 1024;
  options.limits.table.max_string_bytes_in_all = 1 << 18;
  options.limits.table.max_problems = 100;
  auto g = mpi2dd::walk({"here", process_id{1}, ""}, open, options);
  if (!g || opens > options.limits.max_opened) std::abort();
  use(*g);
  if (!mpi2dd::refresh(*g, g->start(), {true, (input[1] & 1) != 0, true}, open, options)) std::abort();
  use(*g);
  return 0;
}
