// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "fake_memory.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/base/page_sets.hpp"

using namespace mpiacq;
using mpiacq::test::fake_memory;

namespace {
constexpr std::uint64_t first_string = 0x10000;

std::vector<std::string> texts(const string_batch& batch) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < batch.strings.size(); ++i) all.emplace_back(batch.view(i));
  return all;
}
}  // namespace

TEST_CASE("a batch has the strings in the order of the request, even the same one twice") {
  fake_memory memory;
  memory.map(target_address{first_string}, std::string("one\0two\0\0three\0", 15));
  const std::vector<target_address> addresses{target_address{first_string + 9}, target_address{first_string},
                                              target_address{first_string + 8}, target_address{first_string + 4},
                                              target_address{first_string}};
  const auto batch = read_c_strings(memory, addresses);
  REQUIRE(batch.has_value());
  CHECK(texts(*batch) == std::vector<std::string>{"three", "one", "", "two", "one"});
  CHECK(memory.calls == 1);
}

TEST_CASE("an empty batch reads no memory") {
  fake_memory memory;
  CHECK(read_c_strings(memory, {})->strings.empty());
  CHECK(memory.calls == 0);
}

TEST_CASE("each page of a batch is read once, and one call reads many pages") {
  fake_memory memory;
  std::string bytes;
  std::vector<target_address> addresses;
  std::vector<std::string> expected;
  for (int i = 0; i < 100000; ++i) {
    addresses.push_back(target_address{first_string + bytes.size()});
    expected.push_back("/path/of/rank/" + std::to_string(i));
    bytes += expected.back() + '\0';
  }
  const std::size_t pages = (bytes.size() + read_page_size - 1) / read_page_size;
  memory.map(target_address{first_string}, bytes);
  const auto batch = read_c_strings(memory, addresses);
  REQUIRE(batch.has_value());
  CHECK(texts(*batch) == expected);
  CHECK(memory.bytes_read <= bytes.size() + pages / 128 * read_page_size);
  CHECK(memory.calls <= pages / 100 + 2);
}

TEST_CASE("one more call reads the rest of all strings that continue on further pages") {
  fake_memory memory;
  std::vector<target_address> addresses;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::uint64_t start = first_string + i * 16 * read_page_size;
    memory.map(target_address{start}, std::string(2 * read_page_size, 'a'));
    memory.map(target_address{start + 2 * read_page_size}, std::string("end\0", 4));
    addresses.push_back(target_address{start + read_page_size - 2});
  }
  const auto batch = read_c_strings(memory, addresses);
  REQUIRE(batch.has_value());
  for (const std::string& text : texts(*batch)) CHECK(text == "aa" + std::string(read_page_size, 'a') + "end");
  CHECK(memory.calls == 3);
  CHECK(memory.ranges_read == 150);
}

TEST_CASE("an unreadable address affects its own string only") {
  fake_memory memory;
  memory.map(target_address{first_string}, std::string(read_page_size - 4, 'x') + std::string("abc\0", 4));
  memory.map(target_address{first_string + 2 * read_page_size},
             std::string("far\0", 4) + std::string(read_page_size - 4, 'y'));
  const std::vector<target_address> addresses{target_address{0},
                                              target_address{first_string + read_page_size - 4},
                                              target_address{first_string + read_page_size},
                                              target_address{first_string + 2 * read_page_size},
                                              target_address{first_string + 2 * read_page_size + 4},
                                              target_address{UINT64_MAX}};
  const auto batch = read_c_strings(memory, addresses);
  REQUIRE(batch.has_value());
  CHECK(batch->strings[0].what == string_outcome::unreadable);
  CHECK(batch->view(1) == "abc");
  CHECK(batch->strings[2].what == string_outcome::unreadable);
  CHECK(batch->strings[2].stopped_at == target_address{first_string + read_page_size});
  CHECK(batch->view(3) == "far");
  CHECK(batch->strings[4].what == string_outcome::unreadable);
  CHECK(batch->strings[4].stopped_at == target_address{first_string + 3 * read_page_size});
  CHECK(batch->strings[5].what == string_outcome::unreadable);
}

TEST_CASE("a string up to the last byte of the address space") {
  fake_memory memory;
  const std::uint64_t last_page = UINT64_MAX - read_page_size + 1;
  memory.map(target_address{last_page}, std::string(read_page_size, 'q'));
  const std::vector<target_address> addresses{target_address{UINT64_MAX - 5}};
  const auto batch = read_c_strings(memory, addresses);
  REQUIRE(batch.has_value());
  CHECK(batch->strings[0].what == string_outcome::unreadable);
}

TEST_CASE("the limits of a batch: of one string and of all") {
  fake_memory memory;
  memory.map(target_address{first_string}, std::string("12345\0"
                                                       "123456\0"
                                                       "1234\0",
                                                       18));
  const std::vector<target_address> addresses{target_address{first_string}, target_address{first_string + 6},
                                              target_address{first_string + 13}};
  const auto each = read_c_strings(memory, addresses, {5, 100});
  REQUIRE(each.has_value());
  CHECK(each->view(0) == "12345");
  CHECK(each->strings[1].what == string_outcome::unterminated_at_limit);
  CHECK(each->view(2) == "1234");

  const auto all = read_c_strings(memory, addresses, {100, 11});
  REQUIRE(all.has_value());
  CHECK(all->view(0) == "12345");
  CHECK(all->view(1) == "123456");
  CHECK(all->strings[2].what == string_outcome::beyond_total);
}

TEST_CASE("overlapping strings without an end cost one check of each byte") {
  fake_memory memory;
  constexpr std::size_t size = 512 * read_page_size;
  memory.map(target_address{first_string}, std::string(size, 'z'));
  std::vector<target_address> addresses;
  for (std::uint64_t i = 0; i < size; ++i) addresses.push_back(target_address{first_string + i});
  std::size_t too_long = 0, unreadable = 0;
  const auto visited = visit_c_strings(memory, addresses, {32768, 1 << 20}, [&](const visited_string& s) {
    if (s.what == string_outcome::unterminated_at_limit) ++too_long;
    if (s.what == string_outcome::unreadable) ++unreadable;
  });
  REQUIRE(visited.has_value());
  CHECK(too_long + unreadable > size - 64);
  CHECK(memory.bytes_read <= size + 16 * read_page_size);
}

TEST_CASE("a reader that fails ends the batch with its error") {
  fake_memory memory;
  memory.process_gone = true;
  const std::vector<target_address> addresses{target_address{first_string}};
  const auto batch = read_c_strings(memory, addresses);
  REQUIRE_FALSE(batch.has_value());
  CHECK(batch.error().code == error_code::process_gone);
}

TEST_CASE("a batch agrees with reading one string at a time") {
  std::mt19937 random(20);  // NOLINT: the same numbers in every run
  for (int round = 0; round < 60; ++round) {
    fake_memory memory;
    constexpr std::uint64_t pages = 24;
    for (std::uint64_t page = 0; page < pages; ++page) {
      if (random() % 4 == 0) continue;
      std::string bytes(read_page_size, '\0');
      const unsigned density = 1U << (random() % 14);  // sometimes whole pages without a terminator
      for (char& c : bytes) c = random() % density == 0 ? '\0' : static_cast<char>('a' + random() % 26);
      memory.map(target_address{first_string + page * read_page_size}, bytes);
    }
    std::vector<target_address> addresses;
    for (int i = 0; i < 200; ++i)
      addresses.push_back(target_address{first_string + random() % (pages * read_page_size)});
    const std::size_t limit = round % 3 == 0 ? 100 : 3 * read_page_size;
    const auto batch = read_c_strings(memory, addresses, {limit, UINT64_MAX});
    REQUIRE(batch.has_value());
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const auto one = read_c_string(memory, addresses[i], limit);
      if (one) {
        REQUIRE(batch->strings[i].what == string_outcome::ok);
        REQUIRE(batch->view(i) == *one);
      } else if (one.error().code == error_code::limit) {
        REQUIRE(batch->strings[i].what == string_outcome::unterminated_at_limit);
      } else {
        REQUIRE(batch->strings[i].what == string_outcome::unreadable);
        REQUIRE(batch->strings[i].stopped_at == one.error().address);
      }
    }
  }
}

TEST_CASE("texts stay valid until their set of pages is filled again") {
  constexpr std::size_t sets = 3, strings = 200'000;
  fake_memory memory;
  std::string bytes;
  std::vector<target_address> addresses;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < strings; ++i) {
    addresses.push_back(target_address{first_string + bytes.size()});
    const bool is_long = i % 1'000 == 3;  // longer than a page; some continue beyond their set
    expected.push_back((is_long ? std::string(read_page_size + i / 50, 'x') : "/path/of/rank/") + std::to_string(i));
    bytes += expected.back() + '\0';
    if (i % 5'000 == 17) {  // not in mapped memory
      addresses.back() = target_address{first_string - read_page_size};
      expected.back().clear();
    }
  }
  memory.map(target_address{first_string}, bytes);

  std::vector<std::byte> pages(sets * page_sets::bytes_of_set);
  std::deque<std::vector<placed_string>> waiting;  // from the sets that are still valid
  std::vector<std::size_t> times(strings);
  std::size_t others = 0, most_together = 0;
  const auto use = [&](const std::vector<placed_string>& placed) {
    for (const placed_string& s : placed) {
      ++times[s.index];
      REQUIRE(std::string_view(s.text, s.length) == expected[s.index]);
    }
  };
  const auto take = [&](std::vector<placed_string>& placed) {
    most_together = std::max(most_together, placed.size());
    waiting.push_back(std::move(placed));
    placed = {};
    if (waiting.size() < sets) return;
    use(waiting.front());
    waiting.pop_front();
  };
  const auto visit = [&](const visited_string& s) {
    ++times[s.index];
    ++others;
    REQUIRE((s.what == string_outcome::unreadable) == expected[s.index].empty());
    if (s.what == string_outcome::ok) REQUIRE(s.text == expected[s.index]);
  };
  REQUIRE(visit_c_strings(memory, addresses, {}, visit, {pages, take}).has_value());
  for (const auto& placed : waiting) use(placed);
  CHECK(times == std::vector<std::size_t>(strings, 1));
  CHECK(most_together <= page_sets::most_placed);
  CHECK(others > strings / 5'000);  // strings on a page where a long string ends are also among them
  CHECK(others < strings / 100);
}
