// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Tables that are large enough for a second thread to decode them while they are read.
#include <csignal>
#include <set>
#include <thread>

#include <pthread.h>

#include "catch.hpp"
#include "columns/ordered_worker.hpp"
#include "fake_target.hpp"
#include "mpiacq/job/process_table.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr std::size_t entry_count = 60'000;

/// Records the threads that read memory.
class watched_memory final : public memory_reader {
 public:
  explicit watched_memory(fake_memory& behind) : behind_(behind) {}
  result<void> read_ranges(std::span<memory_range> ranges) override {
    readers.insert(std::this_thread::get_id());
    if (calls++ == calls_before_the_end) behind_.process_gone = true;
    return behind_.read_ranges(ranges);
  }
  std::set<std::thread::id> readers;
  std::size_t calls = 0;
  std::size_t calls_before_the_end = SIZE_MAX;

 private:
  fake_memory& behind_;
};

/// While an object of this class exists, no thread can be started: the stack size exceeds the address space.
class no_room_for_threads {
 public:
  no_room_for_threads() {
    REQUIRE(::pthread_getattr_default_np(&before_) == 0);
    pthread_attr_t huge;
    REQUIRE(::pthread_attr_init(&huge) == 0);
    REQUIRE(::pthread_attr_setstacksize(&huge, std::size_t{1} << 48) == 0);
    REQUIRE(::pthread_setattr_default_np(&huge) == 0);
    ::pthread_attr_destroy(&huge);
  }
  ~no_room_for_threads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  no_room_for_threads(const no_room_for_threads&) = delete;
  no_room_for_threads& operator=(const no_room_for_threads&) = delete;

 private:
  pthread_attr_t before_{};
};

/// The values that the fixture wrote for one entry; a string is empty if it cannot be read.
struct written {
  std::optional<std::string> host, executable;
};

/// Hosts of 64 neighbours, executables of one rank each; among them pointers to nothing and strings without an end.
std::vector<written> put_large_table(fake_starter& starter) {
  const target_address endless = starter.string(std::string(5'000, 'e'));  // longer than the limit below
  std::vector<written> all;
  std::vector<fake_entry> table;
  for (std::size_t i = 0; i < entry_count; ++i) {
    const std::string host = "node" + std::to_string(i / 64), executable = "/bin/solver." + std::to_string(i);
    fake_entry e{starter.string(host), starter.string(executable), static_cast<std::int64_t>(1 + i)};
    written w{host, executable};
    if (i % 97 == 5) {  // the end of another string
      e.executable_name = e.executable_name + 5;
      w.executable = executable.substr(5);
    }
    if (i % 101 == 7) {
      e.executable_name = target_address{8};
      w.executable.reset();
    }
    if (i % 103 == 9) {
      e.host_name = endless + i % 1'000;
      w.host.reset();
    }
    if (i % 5'000 == 11) {  // crosses pages, and has nearly the length of the limit
      w.executable = std::string(3'990, 'x') + std::to_string(i);
      e.executable_name = starter.string(*w.executable);
    }
    table.push_back(e);
    all.push_back(std::move(w));
  }
  starter.put_table(table);
  return all;
}

table_limits limits_of_test() {
  table_limits limits;
  limits.max_string_bytes = 4'000;
  return limits;
}

void check_table(const process_table& table, const std::vector<written>& all) {
  REQUIRE(table.size() == all.size());
  std::size_t bad = 0;
  std::set<std::string> distinct;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (table.host_name(entry_index{i}) != all[i].host || table.executable_name(entry_index{i}) != all[i].executable ||
        table.pid(entry_index{i}).value() != static_cast<std::int64_t>(1 + i)) {
      FAIL("entry " << i << " is not what was written");
    }
    for (const auto& text : {all[i].host, all[i].executable}) {
      text ? (void)distinct.insert(*text) : (void)++bad;
    }
  }
  CHECK(table.string_count() == distinct.size());
  CHECK(table.problem_count() == bad);
}

}  // namespace

TEST_CASE("a large table reads as it was written, and only the caller's thread reads memory") {
  fake_starter starter;
  const auto all = put_large_table(starter);
  watched_memory memory(starter.memory);
  const auto table =
      read_process_table(memory, starter.abi, starter.layout, fake_starter::table, entry_count, limits_of_test());
  REQUIRE(table.has_value());
  check_table(*table, all);
  CHECK(memory.readers == std::set{std::this_thread::get_id()});
}

TEST_CASE("a large table reads the same if no thread can be started") {
  fake_starter starter;
  const auto all = put_large_table(starter);
  const no_room_for_threads crowded;
  REQUIRE_THROWS_AS(std::thread([] {}).join(), std::system_error);
  const auto table = read_process_table(starter.memory, starter.abi, starter.layout, fake_starter::table, entry_count,
                                        limits_of_test());
  REQUIRE(table.has_value());
  check_table(*table, all);
}

TEST_CASE("a process that ends while its large table is read is an error, at any place of the table") {
  fake_starter starter;
  (void)put_large_table(starter);
  watched_memory whole(starter.memory);
  REQUIRE(read_process_table(whole, starter.abi, starter.layout, fake_starter::table, entry_count).has_value());
  REQUIRE(whole.calls > 6);
  for (std::size_t calls = 0; calls < whole.calls; ++calls) {
    INFO(calls);
    starter.memory.process_gone = false;
    watched_memory memory(starter.memory);
    memory.calls_before_the_end = calls;
    const auto table = read_process_table(memory, starter.abi, starter.layout, fake_starter::table, entry_count);
    REQUIRE_FALSE(table.has_value());
    CHECK(table.error().code == error_code::process_gone);
  }
}

TEST_CASE("many pointers into one endless string are searched once") {
  fake_starter starter;
  const std::size_t length = std::size_t{1} << 20;
  const target_address endless = starter.string(std::string(length, 'e'));
  std::vector<fake_entry> table;
  for (std::size_t i = 0; i < entry_count; ++i) table.push_back({endless + i, endless + 2 * i, 1});
  starter.put_table(table);
  table_limits limits;
  limits.max_string_bytes_in_all = 1 << 20;
  const auto read =
      read_process_table(starter.memory, starter.abi, starter.layout, fake_starter::table, entry_count, limits);
  REQUIRE(read.has_value());
  CHECK(read->size() == entry_count);
  CHECK(read->string_count() == 0);
  CHECK(read->problem_count() == 2 * entry_count);
  CHECK(starter.memory.bytes_read <= (entry_count + 1) * 24 + 2 * length + 64 * read_page_size);
}

TEST_CASE("the total limit of strings holds for a large table") {
  fake_starter starter;
  (void)put_large_table(starter);
  table_limits limits;
  limits.max_string_bytes_in_all = 300'000;
  const auto read =
      read_process_table(starter.memory, starter.abi, starter.layout, fake_starter::table, entry_count, limits);
  REQUIRE(read.has_value());
  std::uint64_t kept = 0;
  for (std::uint32_t number = 0; number < read->string_count(); ++number) kept += read->string(number).size();
  CHECK(kept <= limits.max_string_bytes_in_all);
  CHECK(kept > limits.max_string_bytes_in_all / 2);
  CHECK(read->problem_count() > entry_count / 2);
}

TEST_CASE("tasks run in order on a thread without signals, and an exception of one task ends the others") {
  std::vector<int> done;
  sigset_t blocked{};
  ordered_worker worker(true);
  for (int i = 0; i < 100; ++i) {
    worker.add([&, i] {
      ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      done.push_back(i);
    });
  }
  worker.finish();
  REQUIRE(done.size() == 100);
  CHECK(std::is_sorted(done.begin(), done.end()));
  if (worker.has_thread()) CHECK(sigismember(&blocked, SIGINT) == 1);
  const auto throwing = [&] {
    worker.add([] { throw std::bad_alloc(); });
    worker.add([&] { done.clear(); });
    worker.finish();
  };
  CHECK_THROWS_AS(throwing(), std::bad_alloc);
  CHECK(done.size() == 100);
}
