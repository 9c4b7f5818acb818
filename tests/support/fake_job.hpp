// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "byte_writer.hpp"
#include "fake_target.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"

namespace mpiacq::test {

/// One MPI2DD_PROCDESC with its values as C code holds them.
struct fake_rank {
  target_address host_name;
  target_address executable_name;
  target_address spawn_desc;
  target_address comm_world_id;
  std::int32_t pid = 0;
  std::int32_t rank = 0;
};

/// MPI2DD_INFO with its values as C code holds them.
struct fake_info {
  std::string magic{"MPI2\x7f"};
  std::uint8_t version = 1;
  std::uint8_t variant = 1;
  std::uint8_t debug_state = 0;
  std::uint32_t debugger_flags = 0;
  std::uint32_t mpi_flags = 0;
  target_address dll_name_32, dll_name_64, meta_host_name, meta_executable_name, abort_string;
  target_address proctable, directory_table, metadirectory_table;
  std::int32_t proctable_size = 0, directory_size = 0, metadirectory_size = 0, meta_pid = 0;
};

/// A process with an info block that a test fills. All addresses are below 2^32, so that they suit every ABI, and none
/// of them could be a pid.
class fake_mpi_process {
 public:
  static constexpr target_address info_at{0x20000};
  static constexpr target_address proctable_at{0x4000000};
  static constexpr target_address directories_at{0x21000000};
  static constexpr target_address metadirectories_at{0x22000000};
  static constexpr target_address spawns_at{0x30000000};
  static constexpr target_address strings_at{0x41000000};

  explicit fake_mpi_process(const target_abi& a = lp64_little) : abi(a) {
    symbols.define("MPI2DD_info", info_at, a.pointer_size == 8 ? 128 : 96);
    symbols.define("MPI2DD_breakpoint", target_address{0x12340}, 7, symbol_kind::function);
  }

  /// Puts a string into memory; equal strings are stored once.
  target_address string(const std::string& text) {
    const auto [known, is_new] = known_strings_.try_emplace(text, strings_at + string_bytes_.size());
    if (is_new) string_bytes_.append(text).push_back('\0');
    return known->second;
  }
  target_address spawn(target_address parent_world, std::int32_t parent_rank, std::int32_t sequence) {
    const target_address where = spawns_at + spawn_bytes_.size();
    byte_writer w(abi);
    w.wide(parent_world.value()).word(number(parent_rank)).word(number(sequence));
    const auto bytes = w.take();
    spawn_bytes_.insert(spawn_bytes_.end(), bytes.begin(), bytes.end());
    return where;
  }
  void put_processes(const std::vector<fake_rank>& ranks, target_address where = proctable_at) {
    byte_writer w(abi);
    for (const fake_rank& r : ranks) {
      w.wide(r.host_name.value()).wide(r.executable_name.value()).wide(r.spawn_desc.value());
      w.wide(r.comm_world_id.value()).word(number(r.pid)).word(number(r.rank));
    }
    memory.map(where, w.take());
    info.proctable = where;
    info.proctable_size = static_cast<std::int32_t>(ranks.size());
  }
  [[nodiscard]] std::vector<std::byte> encode(const std::vector<fake_entry>& entries, bool packed) const {
    byte_writer w(abi);
    for (const fake_entry& e : entries) {
      w.wide(e.host_name.value()).wide(e.executable_name.value()).word(static_cast<std::uint64_t>(e.pid));
      if (!packed && abi.pointer_size == 8) w.word(0);
    }
    return w.take();
  }
  void put_directories(const std::vector<fake_entry>& entries, bool packed = true,
                       target_address where = directories_at) {
    memory.map(where, encode(entries, packed));
    info.directory_table = where;
    info.directory_size = static_cast<std::int32_t>(entries.size());
  }
  void put_metadirectories(const std::vector<fake_entry>& entries, bool packed = true,
                           target_address where = metadirectories_at) {
    memory.map(where, encode(entries, packed));
    info.metadirectory_table = where;
    info.metadirectory_size = static_cast<std::int32_t>(entries.size());
  }
  void meta(const std::string& host, std::int32_t pid, const std::string& executable = "/usr/bin/metad") {
    info.meta_host_name = string(host);
    info.meta_executable_name = string(executable);
    info.meta_pid = pid;
  }

  /// Puts the info block and the strings into memory in their current state.
  void publish() {
    byte_writer w(abi);
    for (const char c : info.magic) w.byte(static_cast<unsigned char>(c));
    w.byte(info.version).byte(info.variant).byte(info.debug_state).word(info.debugger_flags).word(info.mpi_flags);
    for (const target_address a : {info.dll_name_32, info.dll_name_64, info.meta_host_name, info.meta_executable_name,
                                   info.abort_string, info.proctable, info.directory_table, info.metadirectory_table}) {
      w.wide(a.value());
    }
    for (const std::int32_t n : {info.proctable_size, info.directory_size, info.metadirectory_size, info.meta_pid}) {
      w.word(number(n));
    }
    w.pad_to(abi.pointer_size == 8 ? 128 : 96);
    memory.map(info_at, w.take());
    if (!string_bytes_.empty()) memory.map(strings_at, string_bytes_);
    if (!spawn_bytes_.empty()) memory.map(spawns_at, spawn_bytes_);
  }

  [[nodiscard]] target as_target() { return {memory, &memory, abi, symbols}; }
  /// `MPI2DD_info` as a look-up returns it.
  [[nodiscard]] symbol info_symbol() { return **symbols.find_symbol("MPI2DD_info"); }

  target_abi abi;
  fake_memory memory;
  fake_symbols symbols;
  fake_info info;
  /// Called before each call that reads memory, with the number of earlier calls.
  std::function<void(fake_mpi_process&, std::size_t calls)> before_read;
  std::size_t opens = 0;

 private:
  static std::uint64_t number(std::int32_t value) { return static_cast<std::uint32_t>(value); }
  std::map<std::string, target_address> known_strings_;
  std::string string_bytes_;
  std::vector<std::byte> spawn_bytes_;
};

/// Processes on hosts. Each process that was not added counts as ended.
class fake_job {
 public:
  fake_mpi_process& add(const std::string& host, std::int32_t pid, const target_abi& abi = lp64_little) {
    auto& place = processes_[{host, pid}];
    place = std::make_unique<fake_mpi_process>(abi);
    return *place;
  }
  fake_mpi_process& at(const std::string& host, std::int32_t pid) { return *processes_.at({host, pid}); }
  void remove(const std::string& host, std::int32_t pid) { processes_.erase({host, pid}); }
  void publish() {
    for (auto& [name, process] : processes_) process->publish();
  }

  [[nodiscard]] mpi2dd::opener opener() {
    return [this](std::string_view host, process_id pid, std::string_view executable) {
      return open(host, pid, executable);
    };
  }
  [[nodiscard]] std::size_t opens() const { return opened.size(); }
  [[nodiscard]] std::size_t reads() const {
    std::size_t calls = 0;
    for (const auto& [name, process] : processes_) calls += process->memory.calls;
    return calls;
  }

  std::set<std::string> unreachable_hosts;
  std::vector<std::string> opened;  ///< "host:pid executable", in the order of the calls

 private:
  class opened_fake final : public mpi2dd::opened_process, public memory_reader {
   public:
    explicit opened_fake(fake_mpi_process& p) : process_(p) {}
    target as_target() override { return {*this, nullptr, process_.abi, process_.symbols}; }
    result<void> read_ranges(std::span<memory_range> ranges) override {
      if (process_.before_read) process_.before_read(process_, process_.memory.calls);
      return process_.memory.read_ranges(ranges);
    }

   private:
    fake_mpi_process& process_;
  };

  result<std::unique_ptr<mpi2dd::opened_process>> open(std::string_view host, process_id pid,
                                                       std::string_view executable) {
    const std::lock_guard lock(mutex_);
    const std::string name = std::string{host} + ":" + std::to_string(pid.value());
    opened.push_back(name + " " + std::string{executable});
    if (unreachable_hosts.contains(std::string{host})) return fail(error_code::unsupported, "no way to " + name);
    const auto found = processes_.find({std::string{host}, static_cast<std::int32_t>(pid.value())});
    if (found == processes_.end()) return fail(error_code::process_gone, "no process " + name);
    ++found->second->opens;
    return std::make_unique<opened_fake>(*found->second);
  }

  std::mutex mutex_;
  std::map<std::pair<std::string, std::int32_t>, std::unique_ptr<fake_mpi_process>> processes_;
};

}  // namespace mpiacq::test
