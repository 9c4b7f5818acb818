// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The table reader and the acquisition over a target made of fuzzed bytes. They go in through the memory seam, as a
// hostile starter's would.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "../support/fake_target.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Takes numbers off the front of the input; zeros after its end.
class input {
 public:
  explicit input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }
  std::vector<std::byte> rest() const {
    const auto* begin = reinterpret_cast<const std::byte*>(bytes_.data());
    return {begin, begin + bytes_.size()};
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

structure_member random_member(input& in, const char* name, const target_abi& abi) {
  const std::uint8_t kind = in.byte();
  structure_member m{name, in.byte(), abi.pointer_size, (kind & 1) != 0, (kind & 2) != 0};
  if ((kind & 4) != 0) m.size = kind >> 3;
  if (kind == 0xff) m.offset = in.number(8);
  return m;
}

structure_layout random_layout(input& in, const target_abi& abi) {
  const std::uint8_t kind = in.byte();
  structure_layout layout = inferred_descriptor_layout(abi);
  if ((kind & 1) == 0) return layout;
  layout.source = layout_source::dwarf;
  layout.size = (kind & 2) != 0 ? in.number(8) : in.byte();
  layout.members = {random_member(in, "host_name", abi), random_member(in, "executable_name", abi),
                    random_member(in, "pid", abi)};
  if ((kind & 4) != 0) layout.members.pop_back();
  return layout;
}

/// Everything that a table offers must hold together, whatever it was read from.
void use(const process_table& table) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    bytes +=
        table.host_name(entry_index{i}).value_or("").size() + table.executable_name(entry_index{i}).value_or("").size();
    (void)table.pid(entry_index{i});
  }
  entry_index before;
  for (const field_problem& p : table.problems()) {
    if (p.entry < before || p.entry.value() >= table.size()) std::abort();
    before = p.entry;
    bytes += p.sentence().size();
  }
  if (table.problems().size() > table.problem_count() || table.size() > table.claimed_size()) std::abort();
  if (!table.same_processes(table) || bytes == SIZE_MAX) std::abort();
}

void use(const std::vector<mpir::action>& actions) {
  for (const mpir::action& a : actions) {
    if (const auto* report = std::get_if<mpir::report_processes>(&a)) use(*report->table);
    if (const auto* problem = std::get_if<mpir::report_problem>(&a);
        problem != nullptr && problem->what.message.empty()) {
      std::abort();
    }
  }
}

/// Both modes over one starter. What its FIFO is called and what its daemons' path holds is part of the fuzzed memory.
void launch_and_attach(fake_starter& starter, const table_limits& limits) {
  mpir::acquisition launched({limits, {}, false});
  if (launched.at_entry(starter.as_target())) {
    for (int i = 0; i < 2; ++i) {
      if (const auto todo = launched.at_breakpoint(starter.as_target())) use(*todo);
    }
    if (const auto todo = launched.before_detach(starter.as_target())) use(*todo);
  }
  starter.symbols.define("MPIR_executable_path", fake_starter::strings + 16, 256);
  starter.symbols.define("MPIR_attach_fifo", fake_starter::strings + 64, 0);
  for (const bool daemons : {false, true}) {
    mpir::acquisition_options options{limits, {}, true};
    if (daemons) {
      options.daemons = mpir::daemon_request{"/d", {"a"}, true};
      starter.symbols.define("MPIR_server_arguments", fake_starter::strings + 32, 7);
    }
    mpir::acquisition attached(std::move(options));
    if (const auto todo = attached.at_attach(starter.as_target())) use(*todo);
    if (const auto todo = attached.look_again(starter.as_target())) use(*todo);
    if (const auto todo = attached.at_state_written(starter.as_target())) use(*todo);
    if (const auto todo = attached.look_again(starter.as_target(), mpir::taking::as_it_is)) {
      use(*todo);
      for (const mpir::action& a : *todo) {
        if (std::holds_alternative<mpir::await_table>(a)) std::abort();
      }
    }
    if (const auto todo = attached.before_detach(starter.as_target())) use(*todo);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in({data, size});
  fake_starter starter(every_abi[in.byte() % 4]);
  const structure_layout layout = random_layout(in, starter.abi);
  starter.define_interface();
  starter.variable("totalview_jobid", 8, in.byte());
  starter.variable("MPIR_debug_abort_string", starter.abi.pointer_size);
  const std::uint8_t sizes = in.byte();
  if ((sizes & 1) != 0) starter.variable("MPIR_proctable_size", 8);
  if ((sizes & 2) != 0) starter.variable("MPIR_debug_state", 8, sizes >> 2);
  if (layout.source == layout_source::dwarf) starter.symbols.layout = layout;

  const std::uint64_t entries = in.number(5);
  const target_address base = fake_starter::strings + in.number(2);
  starter.set("MPIR_debug_state", static_cast<std::int64_t>(in.byte() % 4));
  starter.set("MPIR_proctable", static_cast<std::int64_t>(base.value()));
  starter.set("MPIR_proctable_size", static_cast<std::int64_t>(entries));
  starter.set("totalview_jobid", static_cast<std::int64_t>(fake_starter::strings.value() + in.byte()));
  starter.set("MPIR_debug_abort_string", static_cast<std::int64_t>(fake_starter::strings.value() + in.byte()));
  // The rest is memory: pointers in it point into it where the bytes say so, because it stands at a round address.
  starter.memory.map(fake_starter::strings, in.rest());

  table_limits limits;
  limits.max_entries = 100000;
  limits.max_string_bytes = 4096;
  limits.max_string_bytes_in_all = 1 << 20;
  limits.max_problems = 1000;
  if (const auto table = read_process_table(starter.memory, starter.abi, layout, base, entries, limits)) use(*table);
  (void)check_layout_against_data(starter.memory, starter.abi, layout, base, entries);

  launch_and_attach(starter, limits);
  return 0;
}
