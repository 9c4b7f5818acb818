// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The small MPI of fixtures/queue_ranks as a fake process of any ABI. Its lists are in fake memory, and its types
// follow C's rules.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "fake_memory.hpp"
#include "fake_target.hpp"
#include "mpiacq/process/type_source.hpp"
#include "mpiacq/queues/queue_host.hpp"

namespace mpiacq::test {

/// Types that a test defines. The object counts the requests.
class fake_types final : public type_source {
 public:
  void define(const std::string& name, structure_layout layout) { known_[name] = std::move(layout); }
  void forget(const std::string& name) { known_.erase(name); }

  result<std::optional<structure_layout>> type_named(std::string_view name, source_language /*language*/) override {
    ++asked[std::string(name)];
    for (const std::string_view prefix : {"struct ", "union ", "enum "}) {
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    }
    const auto at = known_.find(std::string(name));
    return at == known_.end() ? std::nullopt : std::optional(at->second);
  }

  std::map<std::string, int> asked;

 private:
  std::map<std::string, structure_layout> known_;
};

class fake_small_mpi {
 public:
  static constexpr int any = -1;

  fake_small_mpi(const target_abi& abi, std::uint32_t rank, std::uint32_t size) : abi_(abi), rank_(rank) {
    const std::size_t word = abi.pointer_size;
    define("MPIR_Comm_list", {{"sequence_number", 4}, {"head", word}});
    define("MPIR_Comm",
           {{"comm_next", word}, {"context_id", 4}, {"rank", 4}, {"size", 4}, {"group", word}, {"name", 64}});
    const std::size_t longs = abi.long_size;
    define("MPIR_Request", {{"next", word},
                            {"context_id", 4},
                            {"rank", 4},
                            {"tag", 4},
                            {"completed", 4},
                            {"buffer", word},
                            {"bytes", longs},
                            {"actual_rank", 4},
                            {"actual_tag", 4},
                            {"actual_bytes", longs}});
    define("MPIR_Sendq", {{"next", word}, {"previous", word}, {"request", word}});
    define("MPIR_Spawned", {{"next", word}, {"pid", 4}, {"image", word}, {"host", word}});
    all_communicators_ = make("MPIR_Comm_list");
    posted_head_ = allocate(word);
    unexpected_head_ = allocate(word);
    symbols.define("MPIR_All_communicators", at(all_communicators_));
    define_pointer("MPID_Recvq_posted_head_ptr", posted_head_);
    define_pointer("MPID_Recvq_unexpected_head_ptr", unexpected_head_);
    sends_head_ = define_pointer("MPIR_Sendq_head", 0);
    spawned_head_ = define_pointer("MPIR_Spawned_head", 0);
    symbols.define("MPIR_dll_name", at(allocate(16)));
    std::vector<int> world(size);
    for (std::uint32_t i = 0; i < size; ++i) world[i] = static_cast<int>(i);
    communicator("MPI_COMM_WORLD", world);
  }

  /// Adds a communicator, whose context is its index. This rank must be a member.
  void communicator(const std::string& name, const std::vector<int>& group) {
    const std::uint64_t c = make("MPIR_Comm");
    put(c, "MPIR_Comm", "comm_next", get(all_communicators_, "MPIR_Comm_list", "head"));
    put(all_communicators_, "MPIR_Comm_list", "head", c);
    contexts_[name] = contexts_.size();
    put(c, "MPIR_Comm", "context_id", contexts_[name]);
    const auto own = std::find(group.begin(), group.end(), static_cast<int>(rank_)) - group.begin();
    put(c, "MPIR_Comm", "rank", static_cast<std::uint64_t>(own));
    put(c, "MPIR_Comm", "size", group.size());
    const std::uint64_t members = allocate(group.size() * 4 + 1);
    for (std::size_t i = 0; i < group.size(); ++i) poke(members + i * 4, static_cast<std::uint64_t>(group[i]), 4);
    put(c, "MPIR_Comm", "group", members);
    const auto where = c + layout("MPIR_Comm").find("name")->offset;
    for (std::size_t i = 0; i < name.size() && i < 64; ++i) bytes_[where - base + i] = static_cast<std::byte>(name[i]);
  }
  void receive(const std::string& comm, int from, int tag, long bytes) {
    append(posted_head_, "MPIR_Request", request(comm, from, tag, bytes));
  }
  void unexpected(const std::string& comm, int from, int tag, long bytes) {
    const std::uint64_t r = request(comm, from, tag, bytes);
    append(unexpected_head_, "MPIR_Request", r);
    match(r, 1, from, tag, bytes);
  }
  void match_last(int completed, int from, int tag, long bytes) { match(last_, completed, from, tag, bytes); }
  void send(const std::string& comm, int to, int tag, long bytes) {
    const std::uint64_t entry = make("MPIR_Sendq");
    put(entry, "MPIR_Sendq", "request", request(comm, to, tag, bytes));
    append(sends_head_, "MPIR_Sendq", entry);
  }

  /// The subject for a host. It is valid until something is added.
  [[nodiscard]] queue_subject subject() {
    memory = fake_memory();
    memory.map(at(base), bytes_);
    return {target_, types, rank_, "small_program"};
  }

  fake_memory memory;
  fake_symbols symbols;
  fake_types types;

 private:
  static constexpr std::uint64_t base = 0x100000;
  static target_address at(std::uint64_t where) { return target_address{where}; }

  void define(const std::string& name, const std::vector<std::pair<std::string, std::size_t>>& fields) {
    structure_layout made;
    made.name = name;
    std::size_t largest = 1;
    for (const auto& [field, size] : fields) {
      const std::size_t alignment = size == 64 ? 1 : size;
      made.size = (made.size + alignment - 1) / alignment * alignment;
      made.members.push_back({field, made.size, size, false, false});
      made.size += size;
      largest = std::max(largest, alignment);
    }
    made.size = (made.size + largest - 1) / largest * largest;
    types.define(name, made);
    layouts_[name] = std::move(made);
  }
  [[nodiscard]] const structure_layout& layout(const std::string& type) const { return layouts_.at(type); }

  std::uint64_t allocate(std::size_t size) {
    const std::uint64_t where = base + bytes_.size();
    bytes_.resize(bytes_.size() + (size + 15) / 16 * 16);
    return where;
  }
  std::uint64_t make(const std::string& type) { return allocate(layout(type).size); }
  void poke(std::uint64_t where, std::uint64_t value, std::size_t size) {
    encode_integer(value, abi_.order, std::span{bytes_}.subspan(where - base, size));
  }
  void put(std::uint64_t where, const std::string& type, const std::string& field, std::uint64_t value) {
    const structure_member* member = layout(type).find(field);
    poke(where + member->offset, value, member->size);
  }
  std::uint64_t get(std::uint64_t where, const std::string& type, const std::string& field) {
    const structure_member* member = layout(type).find(field);
    return decode_unsigned(std::span{bytes_}.subspan(where + member->offset - base, member->size), abi_.order);
  }
  std::uint64_t define_pointer(const std::string& name, std::uint64_t value) {
    const std::uint64_t where = allocate(abi_.pointer_size);
    poke(where, value, abi_.pointer_size);
    symbols.define(name, at(where));
    return where;
  }
  std::uint64_t request(const std::string& comm, int rank, int tag, long bytes) {
    const std::uint64_t r = make("MPIR_Request");
    put(r, "MPIR_Request", "context_id", contexts_.at(comm));
    put(r, "MPIR_Request", "rank", static_cast<std::uint64_t>(rank));
    put(r, "MPIR_Request", "tag", static_cast<std::uint64_t>(tag));
    put(r, "MPIR_Request", "buffer", 0x5000);
    put(r, "MPIR_Request", "bytes", static_cast<std::uint64_t>(bytes));
    last_ = r;
    return r;
  }
  void match(std::uint64_t r, int completed, int from, int tag, long bytes) {
    put(r, "MPIR_Request", "completed", static_cast<std::uint64_t>(completed));
    put(r, "MPIR_Request", "actual_rank", static_cast<std::uint64_t>(from));
    put(r, "MPIR_Request", "actual_tag", static_cast<std::uint64_t>(tag));
    put(r, "MPIR_Request", "actual_bytes", static_cast<std::uint64_t>(bytes));
  }
  void append(std::uint64_t head, const std::string& type, std::uint64_t entry) {
    std::uint64_t& end = ends_.try_emplace(head, head).first->second;
    poke(end, entry, abi_.pointer_size);
    end = entry + layout(type).find("next")->offset;
  }

  target_abi abi_;
  std::uint32_t rank_;
  std::vector<std::byte> bytes_;
  std::map<std::string, structure_layout> layouts_;
  std::map<std::string, std::uint64_t> contexts_;
  std::map<std::uint64_t, std::uint64_t> ends_;
  std::uint64_t all_communicators_ = 0;
  std::uint64_t posted_head_ = 0;
  std::uint64_t unexpected_head_ = 0;
  std::uint64_t sends_head_ = 0;
  std::uint64_t spawned_head_ = 0;
  std::uint64_t last_ = 0;
  target target_{memory, nullptr, abi_, symbols};
};

}  // namespace mpiacq::test
