// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Compares readings of random tables with a simple model that reads one field at a time.
#include <random>

#include "catch.hpp"
#include "fake_target.hpp"
#include "mpiacq/job/process_table.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using generator = std::mt19937;

/// One entry as the model reads it.
struct model_entry {
  std::optional<std::string> host, executable;
  std::int64_t pid = 0;
};

/// Reads a string byte by byte, as a C program would.
std::optional<std::string> model_string(fake_memory& memory, target_address at, std::size_t limit) {
  std::string text;
  if (at.is_null()) return std::nullopt;
  for (std::uint64_t i = 0; i <= limit; ++i) {
    std::byte byte{};
    if (!read_exact(memory, at + i, {&byte, 1})) return std::nullopt;
    if (byte == std::byte{0}) return text;
    text.push_back(static_cast<char>(byte));
  }
  return std::nullopt;
}

structure_layout random_layout(const target_abi& abi, generator& random) {
  const std::uint64_t p = abi.pointer_size;
  const std::uint64_t pid_size = 2 + random() % 7;
  std::vector<structure_member> members{{"host_name", 0, p, true, false},
                                        {"executable_name", 0, p, true, false},
                                        {"pid", 0, pid_size, false, random() % 2 == 0},
                                        {"extra", 0, random() % 40, false, false}};
  std::shuffle(members.begin(), members.end(), random);
  std::uint64_t offset = 0;
  for (structure_member& m : members) {
    offset += random() % 5;
    m.offset = offset;
    offset += m.size;
  }
  return {"descriptor", offset + random() % 9, members, layout_source::dwarf, "", ""};
}

/// Addresses of all kinds: strings, their middles, nulls, wild ones, the page that has no end.
std::vector<target_address> random_addresses(fake_starter& starter, generator& random) {
  std::vector<target_address> pool{target_address{0}, target_address{1}, target_address{0xfffffff0}};
  for (unsigned i = 0; i < 1 + random() % 60; ++i) {
    std::string text(random() % 30, 'a');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    const target_address at = starter.string(text);
    pool.push_back(at);
    pool.push_back(at + text.size() / 2);
    if (random() % 8 == 0) starter.skip(random() % 3000);
  }
  return pool;
}

}  // namespace

TEST_CASE("random tables read like the model") {
  generator random(4711);  // NOLINT: the same each time
  for (int round = 0; round < 400; ++round) {
    fake_starter starter(every_abi[random() % 4]);
    starter.layout = random_layout(starter.abi, random);
    INFO("round " << round << ", " << abi_title(starter.abi));
    const std::vector<target_address> pool = random_addresses(starter, random);
    std::vector<fake_entry> entries;
    const bool repeating = random() % 2 == 0;
    for (std::size_t i = 0, count = 1 + random() % 300; i < count; ++i) {
      fake_entry e{pool[random() % pool.size()], pool[random() % pool.size()],
                   static_cast<std::int64_t>(random() % 40000) - 100};
      if (repeating && i > 0 && random() % 4 != 0) {
        e.host_name = entries.back().host_name;
        e.executable_name = entries.back().executable_name;
      }
      entries.push_back(e);
    }
    starter.put_table(entries);
    table_limits limits;
    limits.max_string_bytes = 1 + random() % 40;

    std::vector<model_entry> model;
    std::size_t bad = 0;
    const structure_member& pid = *starter.layout.find("pid");
    for (const fake_entry& e : entries) {
      model.push_back({model_string(starter.memory, e.host_name, limits.max_string_bytes),
                       model_string(starter.memory, e.executable_name, limits.max_string_bytes), e.pid});
      const std::uint64_t mask = pid.size == 8 ? UINT64_MAX : (std::uint64_t{1} << (8 * pid.size)) - 1;
      auto& published = model.back().pid;
      published = static_cast<std::int64_t>(static_cast<std::uint64_t>(e.pid) & mask);
      if (pid.is_signed && pid.size < 8 && (static_cast<std::uint64_t>(published) >> (8 * pid.size - 1)) == 1) {
        published -= static_cast<std::int64_t>(mask) + 1;
      }
      bad += (model.back().host ? 0U : 1U) + (model.back().executable ? 0U : 1U) +
             (published > 0 && published <= 4194304 ? 0U : 1U);
    }

    const auto table =
        read_process_table(starter.memory, starter.abi, starter.layout, fake_starter::table, entries.size(), limits);
    REQUIRE(table.has_value());
    REQUIRE(table->size() == model.size());
    std::map<std::string, std::uint32_t> numbers;
    for (std::size_t i = 0; i < model.size(); ++i) {
      REQUIRE(table->host_name(entry_index{i}) == model[i].host);
      REQUIRE(table->executable_name(entry_index{i}) == model[i].executable);
      REQUIRE(table->pid(entry_index{i}) == process_id{model[i].pid});
      const std::uint32_t number = table->host_numbers()[i];
      REQUIRE((number == process_table::no_string) == !model[i].host.has_value());
      if (model[i].host) REQUIRE(numbers.try_emplace(*model[i].host, number).first->second == number);
      if (model[i].executable) {
        const std::uint32_t own = table->executable_numbers()[i];
        REQUIRE(numbers.try_emplace(*model[i].executable, own).first->second == own);
      }
    }
    CHECK(table->string_count() == numbers.size());
    CHECK(table->problem_count() == bad);
    CHECK(table->problems().size() == bad);
  }
}
