// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "errors/try.hpp"
#include "tables/decoding.hpp"
#include "tables/spawns.hpp"
#include "tables/table_layouts.hpp"
#include "tables/table_pieces.hpp"

namespace mpiacq::mpi2dd {

namespace {

/// One reading of one process table: the entries, the spawn descriptors, all strings, then the problems.
class process_reading {
 public:
  process_reading(memory_reader& memory, const target_abi& abi, const table_limits& limits)
      : memory_(memory), abi_(abi), limits_(limits), layout_(layout_of_process(abi.pointer_size)) {}

  result<process_entries> read(target_address base, std::int32_t claimed) {
    columns_->facts.claimed = claimed;
    const array_place place{base, layout_.size, layout_.size, "the proctable"};
    const auto decode = [this](const std::byte* piece, std::size_t count) {
      for_abi(abi_,
              [&]<byte_order Order, std::size_t PointerSize>() { decode_entries<Order, PointerSize>(piece, count); });
    };
    TRY(read_pieces(memory_, abi_, place, limits_, columns_->facts, decode));
    auto spawns = read_spawn_descriptors(memory_, abi_, spawn_ids_.addresses(), ids_);
    if (!spawns) return fail(std::move(spawns).error().while_doing("reading spawn descriptors"));
    TRY(read_strings(*spawns));
    return table_access::table_of(std::move(columns_));
  }

 private:
  template <byte_order Order, std::size_t PointerSize>
  void decode_entries(const std::byte* piece, std::size_t count) {
    constexpr process_layout at = layout_of_process(PointerSize);
    std::uint32_t* hosts = columns_->hosts.extend(count);
    std::uint32_t* executables = columns_->executables.extend(count);
    std::uint32_t* worlds = columns_->worlds.extend(count);
    std::uint32_t* spawns = columns_->spawns.extend(count);
    std::int32_t* pids = columns_->pids.extend(count);
    std::int32_t* ranks = columns_->ranks.extend(count);
    const auto pointer = [](const std::byte* where) { return load_integer<Order, PointerSize>(where); };
    bool bad = false;
    for (std::size_t i = 0; i < count; ++i, piece += at.size) {
      hosts[i] = host_.number(ids_, pointer(piece + at.host_name));
      executables[i] = executable_.number(ids_, pointer(piece + at.executable_name));
      worlds[i] = world_.number(ids_, pointer(piece + at.comm_world_id));
      spawns[i] = spawn_.number(spawn_ids_, pointer(piece + at.spawn_desc));
      pids[i] = load_signed_32<Order>(piece + at.pid);
      ranks[i] = load_signed_32<Order>(piece + at.rank);
      bad |= pids[i] <= 0 || ranks[i] < 0 || worlds[i] == address_ids::null_id;
    }
    saw_bad_fields_ |= bad;
  }

  result<void> read_strings(read_spawns& spawns) {
    table_strings& strings = columns_->strings;
    const string_limits bounds{limits_.max_string_bytes, limits_.max_string_bytes_in_all};
    if (auto read = strings.read(memory_, ids_.addresses(), bounds); !read) {
      return fail(std::move(read).error().while_doing("reading the proctable's strings"));
    }
    if (saw_bad_fields_ || strings.has_failures() || strings.saw_empty() || has_bad_spawns(spawns)) {
      collect_problems(spawns);
    }
    strings.renumber({&columns_->hosts, &columns_->executables, &columns_->worlds, &spawns.parent_worlds});
    columns_->spawn_descriptions.reserve(spawns.parent_worlds.size());
    for (std::size_t i = 0; i < spawns.parent_worlds.size(); ++i) {
      columns_->spawn_descriptions.push_back({spawns.parent_worlds[i], spawns.parent_ranks[i], spawns.sequences[i]});
    }
    for (column<std::uint32_t>* c : {&columns_->hosts, &columns_->executables, &columns_->worlds, &columns_->spawns}) {
      c->trim();
    }
    columns_->pids.trim();
    columns_->ranks.trim();
    return {};
  }

  static bool has_bad_spawns(const read_spawns& spawns) {
    bool bad = !spawns.stopped_at.empty();
    for (std::size_t i = 0; i < spawns.parent_worlds.size(); ++i) {
      bad |= spawns.parent_worlds[i] == address_ids::null_id || spawns.parent_ranks[i] < 0 || spawns.sequences[i] < 0;
    }
    return bad;
  }

  void collect_problems(read_spawns& spawns) {
    column<std::uint32_t> parents;  // a copy: judging an entry marks the shared descriptor
    for (const std::uint32_t id : spawns.parent_worlds.span()) parents.push_back(id);
    for (std::size_t i = 0; i < columns_->pids.size(); ++i) {
      const auto entry = static_cast<std::uint32_t>(i);
      const target_address at = columns_->facts.address + i * layout_.size;
      judge(entry, table_field::host_name, columns_->hosts[i]);
      judge(entry, table_field::executable_name, columns_->executables[i]);
      judge_spawn(entry, columns_->spawns[i], spawns, parents);
      judge_world(entry, table_field::comm_world_id, columns_->worlds[i], at + layout_.comm_world_id);
      judge_number(entry, table_field::pid, columns_->pids[i], 1, at + layout_.pid);
      judge_number(entry, table_field::rank, columns_->ranks[i], 0, at + layout_.rank);
    }
  }

  bool judge(std::uint32_t entry, table_field field, std::uint32_t& id) {
    return notes_.judge_string(columns_->strings, ids_.addresses(), entry, field, id);
  }

  void judge_world(std::uint32_t entry, table_field field, std::uint32_t& id, target_address at) {
    if (id == no_string) return notes_.add({entry, field, entry_fault::null_pointer, at, {}, 0});
    if (judge(entry, field, id)) return;
    if (columns_->strings.is_empty(id)) notes_.add({entry, field, entry_fault::empty, ids_.addresses()[id], {}, 0});
  }

  void judge_number(std::uint32_t entry, table_field field, std::int32_t value, std::int32_t lowest,
                    target_address at) {
    if (value < lowest) notes_.add({entry, field, entry_fault::impossible_number, at, {}, value});
  }

  void judge_spawn(std::uint32_t entry, std::uint32_t& id, read_spawns& spawns, column<std::uint32_t>& parents) {
    if (id == no_spawn) return;
    const target_address at = spawn_ids_.addresses()[id];
    if (!spawns.stopped_at.empty() && !spawns.stopped_at[id].is_null()) {
      notes_.add({entry, table_field::spawn_desc, entry_fault::unreadable, at, spawns.stopped_at[id], 0});
      id = unreadable_spawn;
      return;
    }
    const std::size_t pointer = abi_.pointer_size;
    std::uint32_t parent = parents[id];
    judge_world(entry, table_field::parent_comm_world_id, parent, at);
    spawns.parent_worlds[id] = parent;
    judge_number(entry, table_field::parent_rank, spawns.parent_ranks[id], 0, at + pointer);
    judge_number(entry, table_field::sequence, spawns.sequences[id], 0, at + pointer + 4);
  }

  memory_reader& memory_;
  const target_abi& abi_;
  const table_limits& limits_;
  process_layout layout_;
  std::unique_ptr<process_columns> columns_ = std::make_unique<process_columns>();
  problem_notes notes_{columns_->facts, limits_};
  address_ids ids_;        // of all strings
  address_ids spawn_ids_;  // of spawn descriptors
  pointer_column host_, executable_, world_, spawn_;
  bool saw_bad_fields_ = false;
};

}  // namespace

process_entries::process_entries() : columns_(std::make_unique<process_columns>()) {}
process_entries::process_entries(std::unique_ptr<process_columns> c) : columns_(std::move(c)) {}
process_entries::~process_entries() = default;
process_entries::process_entries(process_entries&&) noexcept = default;
process_entries& process_entries::operator=(process_entries&&) noexcept = default;

std::span<const std::uint32_t> process_entries::hosts() const {
  return std::as_const(*columns_).hosts.span();
}
std::span<const std::uint32_t> process_entries::executables() const {
  return std::as_const(*columns_).executables.span();
}
std::span<const std::uint32_t> process_entries::worlds() const {
  return std::as_const(*columns_).worlds.span();
}
std::span<const std::uint32_t> process_entries::spawns() const {
  return std::as_const(*columns_).spawns.span();
}
std::span<const std::int32_t> process_entries::pids() const {
  return std::as_const(*columns_).pids.span();
}
std::span<const std::int32_t> process_entries::ranks() const {
  return std::as_const(*columns_).ranks.span();
}
std::span<const spawn_description> process_entries::spawn_descriptions() const {
  return std::as_const(*columns_).spawn_descriptions.span();
}
std::size_t process_entries::string_count() const {
  return columns_->strings.size();
}
std::string_view process_entries::string(std::uint32_t number) const {
  return columns_->strings[number];
}
const table_facts& process_entries::facts() const {
  return columns_->facts;
}

result<process_entries> read_process_entries(memory_reader& memory, const target_abi& abi, target_address base,
                                             std::int32_t claimed, const table_limits& limits) {
  return process_reading(memory, abi, limits).read(base, claimed);
}

}  // namespace mpiacq::mpi2dd
