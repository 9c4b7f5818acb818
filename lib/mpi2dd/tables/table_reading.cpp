// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tables/table_reading.hpp"

#include <exception>

#include <fmt/format.h>

#include "tables/table_layouts.hpp"

namespace mpiacq::mpi2dd {

namespace {

/// The reading of one process.
class process_look {
 public:
  process_look(const target& process, const process_request& asked, const walk_limits& limits, process_account& into)
      : process_(process), asked_(asked), limits_(limits), into_(into) {}

  void look() {
    auto found = find_info(process_);
    if (!found) return give_up(std::move(found).error());
    if (!*found) {
      into_.state = visit_state::no_interface;
      return;
    }
    symbol_ = std::move(**found);
    auto info = read_info(process_, symbol_);
    if (!info) return give_up(std::move(info).error());
    into_.info = std::move(*info);
    into_.state = visit_state::read;
    read_tables();
  }

 private:
  void give_up(error why) {
    into_.state = visit_state::unreadable;
    into_.failure = std::move(why);
  }

  /// The interface has no lock: if an address or a size has changed after the tables were read, they are read again.
  void read_tables() {
    table_selection wanted = asked_.tables;
    while (true) {
      read(wanted);
      if (into_.failure) return;
      auto now = read_info_block(process_, into_.info->address);
      if (!now) {
        into_.failure = std::move(now).error().while_doing("looking whether its tables have changed");
        return;
      }
      const info_block before = into_.info->block;
      wanted = changed(before, *now);
      const bool meta_changed = now->meta_host_name != before.meta_host_name || now->meta_pid != before.meta_pid;
      if (!wanted.processes && !wanted.directories && !wanted.metadirectories && !meta_changed) return;
      if (into_.rereads == limits_.max_rereads) {
        into_.unsettled = true;
        return;
      }
      ++into_.rereads;
      auto info = read_info(process_, symbol_);
      if (!info) {
        into_.failure = std::move(info).error();
        return;
      }
      wanted = changed(before, info->block);
      into_.info = std::move(*info);
    }
  }

  [[nodiscard]] table_selection changed(const info_block& a, const info_block& b) const {
    return {
        asked_.tables.processes && (a.proctable != b.proctable || a.proctable_size != b.proctable_size),
        asked_.tables.directories && (a.directory_table != b.directory_table || a.directory_size != b.directory_size),
        asked_.tables.metadirectories &&
            (a.metadirectory_table != b.metadirectory_table || a.metadirectory_size != b.metadirectory_size)};
  }

  void read(const table_selection& wanted) {
    const info_block& block = into_.info->block;
    if (wanted.processes) {
      keep(into_.processes,
           read_process_entries(process_.memory, process_.abi, block.proctable, block.proctable_size, limits_.table));
    }
    if (wanted.directories && !into_.failure) {
      keep(into_.directories, read_entries(block.directory_table, block.directory_size));
    }
    if (wanted.metadirectories && !into_.failure) {
      keep(into_.metadirectories, read_entries(block.metadirectory_table, block.metadirectory_size));
    }
  }

  /// The stride from debug information is valid for both tables of directory entries.
  result<directory_entries> read_entries(target_address base, std::int32_t size) {
    auto read = stride_ ? read_directory_entries(process_.memory, process_.abi, *stride_, base, size, limits_.table)
                        : read_directory_entries(process_, symbol_, base, size, limits_.table);
    if (read && read->stride().source != layout_source::fixed && read->stride().source != layout_source::inferred) {
      stride_ = read->stride();
    }
    return read;
  }

  template <class Entries>
  void keep(table_reading<Entries>& into, result<Entries> read) {
    into.failure.reset();
    if (read) {
      into.entries = std::move(*read);
      return;
    }
    into.entries.reset();
    // When the process has ended, none of its other tables can be read.
    if (read.error().code == error_code::process_gone || read.error().code == error_code::permission) {
      into_.failure = read.error();
    }
    into.failure = std::move(read).error();
  }

  const target& process_;
  const process_request& asked_;
  const walk_limits& limits_;
  process_account& into_;
  symbol symbol_;
  std::optional<entry_stride> stride_;
};

/// A process in a container has the numbers of the container.
void translate_pids(opened_process& process, process_account& said) {
  if (!process.has_other_pids()) return;
  const auto here = [&](std::string_view host, std::int32_t pid) { return process.pid_here(host, pid); };
  if (said.processes.entries) table_access::translate(*said.processes.entries, here);
  if (said.directories.entries) table_access::translate(*said.directories.entries, here);
  if (said.metadirectories.entries) table_access::translate(*said.metadirectories.entries, here);
  if (said.info && said.info->has_metadirectory()) {
    said.info->meta_pid_here = here(*said.info->meta_host, said.info->block.meta_pid);
  }
}

void read_into(const process_request& asked, const opener& open, const walk_limits& limits, process_account& into) {
  auto opened = open(asked.host, asked.pid, asked.executable);
  if (!opened) {
    into.failure = std::move(opened).error();
    return;
  }
  if (*opened == nullptr) {
    into.failure = error{error_code::invalid_argument,
                         fmt::format("the function that opens processes returned nothing for process {} on {}",
                                     asked.pid.value(), asked.host)};
    return;
  }
  const target process = (*opened)->as_target();
  process_look(process, asked, limits, into).look();
  translate_pids(**opened, into);
}

}  // namespace

process_account read_process(const process_request& asked, const opener& open, const walk_limits& limits) noexcept {
  process_account into;
  try {
    read_into(asked, open, limits, into);
  } catch (const std::exception& thrown) {
    into = {};
    into.failure = error{error_code::system,
                         fmt::format("reading process {} on {}: {}", asked.pid.value(), asked.host, thrown.what())};
  }
  return into;
}

}  // namespace mpiacq::mpi2dd
