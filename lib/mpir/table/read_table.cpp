// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "columns/ordered_worker.hpp"
#include "errors/try.hpp"
#include "mpiacq/job/process_table.hpp"
#include "table/procdesc.hpp"
#include "table/table_columns.hpp"
#include "table/table_decoder.hpp"

namespace mpiacq {

namespace {

// Large enough that the cost of a call is small, and small enough to stay in the processor's cache.
constexpr std::size_t piece_bytes = std::size_t{512} << 10;
// Entries are numbered with 32 bits, and each may have two strings of its own.
constexpr std::uint64_t most_entries = std::uint64_t{1} << 30;

/// One reading of one table: the entries, then their strings, then their problems.
class table_reading {
 public:
  table_reading(memory_reader& memory, const descriptor& d, target_address base, const table_limits& limits)
      : memory_(memory), d_(d), base_(base), limits_(limits), decoder_(d, *columns_) {}

  result<process_table> read(const structure_layout& layout, std::uint64_t claimed) {
    columns_->layout = layout;
    columns_->claimed = claimed;
    TRY(read_entries(claimed));
    TRY(read_strings());
    return process_table_access::table_of(std::move(columns_));
  }

 private:
  result<void> read_entries(std::uint64_t claimed) {
    const std::uint64_t limit = std::min(limits_.max_entries, most_entries);
    const std::uint64_t wanted = std::min({claimed, limit, entries_that_fit(d_, base_)});
    std::uint64_t done = 0;
    target_address stopped = base_;
    if (auto read = read_pieces(wanted, done, stopped); !read) {
      return fail(std::move(read).error().while_doing("reading the process table"));
    }
    if (done == claimed) return {};
    if (done == limit) {
      columns_->shortfall = error{
          error_code::limit,
          fmt::format("the process table claims {} entries, more than the limit of {} (table_limits::max_entries): "
                      "the first {} were read",
                      claimed, limit, done)};
      return {};
    }
    return end_of_memory(done, stopped);
  }

  /// Decodes one piece on a second thread while the next one is read. `done` counts the entries that were read, and
  /// `stopped` is the address where the last read ended.
  result<void> read_pieces(std::uint64_t wanted, std::uint64_t& done, target_address& stopped) {
    const std::uint64_t per_piece =
        std::clamp<std::uint64_t>(piece_bytes / d_.stride, 1, std::max<std::uint64_t>(wanted, 1));
    const std::size_t buffers = wanted > 2 * per_piece ? ordered_worker::buffers : 1;
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(buffers * per_piece * d_.stride);
    const bool is_all_there = last_is_there(wanted);
    if (is_all_there) decoder_.reserve(wanted);
    ordered_worker decoding(buffers > 1);  // the tasks use the memory above, so that they end first
    for (std::size_t number = 0; done < wanted; ++number) {
      const std::uint64_t count = std::min(per_piece, wanted - done);
      std::byte* const piece = memory.get() + number % buffers * per_piece * d_.stride;
      memory_range range{base_ + done * d_.stride, {piece, (count - 1) * d_.stride + d_.needed}};
      if (auto read = memory_.read_ranges({&range, 1}); !read) return read;
      const std::uint64_t complete = range.got < d_.needed ? 0 : (range.got - d_.needed) / d_.stride + 1;
      decoding.add([this, piece, complete, expected = number == 0 && is_all_there ? wanted : 0] {
        decoder_.decode(piece, complete);
        if (expected != 0) decoder_.reserve_addresses(expected);
      });
      done += complete;
      stopped = range.address + range.got;
      if (complete < count) break;
    }
    decoding.finish();
    return {};
  }

  /// Reserves memory for the columns by the entries that can be read, not by the claimed number. If the last entry can
  /// be read, then nearly always all entries can.
  bool last_is_there(std::uint64_t entries) {
    if (entries == 0) return false;
    std::vector<std::byte> last(d_.needed);
    memory_range range{base_ + (entries - 1) * d_.stride, last};
    return memory_.read_ranges({&range, 1}).has_value() && range.got == last.size();
  }

  result<void> end_of_memory(std::uint64_t done, target_address stopped) {
    if (done > 0) {
      columns_->shortfall = error{error_code::unreadable_memory,
                                  fmt::format("the process table claims {} entries, but memory ends at {:#x}: the "
                                              "first {} were read",
                                              columns_->claimed, stopped.value(), done)}
                                .at(stopped);
      return {};
    }
    const std::string claims =
        fmt::format("it claims {} {}", columns_->claimed, columns_->claimed == 1 ? "entry" : "entries");
    if (base_.is_null()) {
      return fail(error{error_code::unreadable_memory,
                        fmt::format("the process table's address (MPIR_proctable) is null, though {}", claims)}
                      .at(base_));
    }
    return fail(error{error_code::unreadable_memory,
                      fmt::format("the process table at {:#x} cannot be read ({}): memory ends at {:#x}, within the "
                                  "first",
                                  base_.value(), claims, stopped.value())}
                    .at(stopped));
  }

  result<void> read_strings() {
    table_strings& strings = columns_->strings;
    const string_limits bounds{limits_.max_string_bytes, limits_.max_string_bytes_in_all};
    decoder_.finish();
    const auto take_addresses = [this] { return decoder_.take_addresses(); };
    if (auto read = strings.read(memory_, decoder_.addresses(), bounds, take_addresses); !read) {
      return fail(std::move(read).error().while_doing("reading the process table's strings"));
    }
    if (decoder_.saw_bad_fields() || strings.has_failures()) collect_problems();
    strings.renumber({&columns_->hosts, &columns_->executables});
    columns_->hosts.trim();
    columns_->executables.trim();
    columns_->narrow_pids.trim();
    columns_->wide_pids.trim();
    return {};
  }

  void collect_problems() {
    for (std::size_t i = 0; i < columns_->hosts.size(); ++i) {
      const entry_index entry{i};
      judge_string(entry, descriptor_field::host_name, columns_->hosts[i], d_.host_name);
      judge_string(entry, descriptor_field::executable_name, columns_->executables[i], d_.executable_name);
      const std::int64_t pid = columns_->wide_pids.size() > 0 ? columns_->wide_pids[i] : columns_->narrow_pids[i];
      if (is_plausible_pid(pid)) continue;
      note({entry,
            descriptor_field::pid,
            field_fault::implausible_pid,
            field_address(entry, d_.pid),
            {},
            process_id{pid}});
    }
  }

  void judge_string(entry_index entry, descriptor_field field, std::uint32_t id, std::size_t offset) {
    if (id == process_table::no_string) {
      return note({entry, field, field_fault::null_pointer, field_address(entry, offset), {}, {}});
    }
    const table_strings::failure* failure = columns_->strings.failure_of(id);
    if (failure == nullptr) return;
    note({entry, field, failure->fault, decoder_.addresses()[id], failure->stopped_at, {}});
  }

  void note(const field_problem& problem) {
    ++columns_->problem_count;
    if (columns_->problems.size() < limits_.max_problems) columns_->problems.push_back(problem);
  }

  [[nodiscard]] target_address field_address(entry_index entry, std::size_t offset) const {
    return base_ + std::uint64_t{entry.value()} * d_.stride + offset;
  }

  memory_reader& memory_;
  descriptor d_;
  target_address base_;
  table_limits limits_;
  std::unique_ptr<process_table_columns> columns_ = std::make_unique<process_table_columns>();
  table_decoder decoder_;
};

}  // namespace

result<process_table> read_process_table(memory_reader& memory, const target_abi& abi, const structure_layout& layout,
                                         target_address base, std::uint64_t entries, const table_limits& limits) {
  const auto d = TRY(resolve_descriptor(abi, layout));
  return table_reading(memory, d, base, limits).read(layout, entries);
}

}  // namespace mpiacq
