// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Copies of stacks, tried on memory of this program itself, which changes as the test wants it to.
#include "stack_copies.hpp"

#include <cstring>
#include <numeric>

#include <sys/mman.h>

#include "catch.hpp"

using namespace mpiacq;

namespace {

constexpr std::size_t page = read_page_size;

/// Memory with nothing mapped behind it, as behind a thread's stack.
class region {
 public:
  explicit region(std::size_t pages) : size_(pages * page) {
    void* at = ::mmap(nullptr, size_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    bytes_ = static_cast<unsigned char*>(at);
    REQUIRE(::mprotect(bytes_ + size_, page, PROT_NONE) == 0);
    std::iota(bytes_, bytes_ + size_, static_cast<unsigned char>(1));
  }
  ~region() { ::munmap(bytes_, size_ + page); }
  region(const region&) = delete;
  region& operator=(const region&) = delete;

  [[nodiscard]] target_address at(std::size_t offset) const {
    return target_address{reinterpret_cast<std::uintptr_t>(bytes_) + offset};
  }
  [[nodiscard]] std::vector<std::byte> bytes(std::size_t offset, std::size_t count) const {
    std::vector<std::byte> copy(count);
    std::memcpy(copy.data(), bytes_ + offset, count);
    return copy;
  }
  void overwrite() { std::memset(bytes_, 0xee, size_); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  unsigned char* bytes_ = nullptr;
};

thread_registers stopped_at(target_address sp) {
  thread_registers one;
  one.sp = sp;
  return one;
}

/// What is read of `wanted` bytes: as many as there are.
std::vector<std::byte> read(stack_copies& copies, target_address address, std::size_t wanted) {
  std::vector<std::byte> into(wanted);
  memory_range range{address, into};
  REQUIRE(copies.read_ranges({&range, 1}));
  into.resize(range.got);
  return into;
}

process_id ourselves() {
  return process_id{::getpid()};
}

result<void> copied(stack_copies& copies, std::span<const thread_registers> threads) {
  std::vector<std::byte> room;
  return copies.copy(threads, room);
}

}  // namespace

TEST_CASE("a stack is read as it was, from below its pointer to the end of its mapping") {
  region stack(3);
  stack_copies copies(ourselves());
  constexpr std::size_t pointer = page + 64;
  const std::array threads{stopped_at(stack.at(pointer))};
  REQUIRE(copied(copies, threads));
  // What a leaf function keeps below the pointer stands on the page before.
  const auto before = stack.bytes(pointer - 128, stack.size() - (pointer - 128));
  stack.overwrite();
  CHECK(read(copies, stack.at(pointer - 128), before.size()) == before);
  CHECK_FALSE(copies.missed());

  SECTION("past its end there is nothing, and that is known") {
    CHECK(read(copies, stack.at(stack.size() - 8), 64).size() == 8);
    CHECK_FALSE(copies.missed());
  }
  SECTION("when it stands still again it is read as it is") {
    copies.forget();
    CHECK(read(copies, stack.at(pointer), 16) == stack.bytes(pointer, 16));
    CHECK(read(copies, stack.at(pointer), 1).front() == std::byte{0xee});
    CHECK_FALSE(copies.missed());
  }
}

TEST_CASE("what is neither on a stack nor lasting is read, and noticed") {
  region stack(2), other(2);
  stack_copies copies(ourselves());
  const std::array threads{stopped_at(stack.at(256))};
  REQUIRE(copied(copies, threads));

  SECTION("lasting") {
    copies.set_lasting({{other.at(0), other.at(page)}});
    CHECK(read(copies, other.at(8), 16) == other.bytes(8, 16));
    CHECK(read(copies, other.at(page - 16), 16).size() == 16);
    CHECK_FALSE(copies.missed());
  }
  SECTION("a read that leaves what lasts") {
    copies.set_lasting({{other.at(0), other.at(page)}});
    CHECK(read(copies, other.at(page - 8), 16) == other.bytes(page - 8, 16));
    CHECK(copies.missed());
  }
  SECTION("neither") {
    CHECK(read(copies, other.at(8), 16) == other.bytes(8, 16));
    CHECK(copies.missed());
  }
  SECTION("the next copy begins anew") {
    (void)read(copies, other.at(8), 16);
    REQUIRE(copied(copies, threads));
    CHECK_FALSE(copies.missed());
  }
}

TEST_CASE("deep stacks are copied up to a megabyte in all, and what is beyond is noticed") {
  constexpr std::size_t deep = (std::size_t{2} << 20) / page;
  region first(16 + 20), second(deep);
  stack_copies copies(ourselves());
  const std::array threads{stopped_at(first.at(200)), stopped_at(second.at(200))};
  REQUIRE(copied(copies, threads));
  const auto end_of_first = first.bytes(first.size() - 16, 16);
  const auto below_bound = second.bytes(std::size_t{512} << 10, 16);
  first.overwrite();
  second.overwrite();
  CHECK(read(copies, first.at(first.size() - 16), 16) == end_of_first);
  CHECK(read(copies, second.at(std::size_t{512} << 10), 16) == below_bound);
  CHECK_FALSE(copies.missed());
  // Its copy has ended by here: this is what is there now.
  CHECK(read(copies, second.at(second.size() - 16), 16).front() == std::byte{0xee});
  CHECK(copies.missed());
}

TEST_CASE("a stack pointer that points nowhere gives a copy of nothing") {
  stack_copies copies(ourselves());
  const std::array threads{stopped_at(target_address{0}), stopped_at(target_address{~std::uint64_t{0} - 7})};
  REQUIRE(copied(copies, threads));
  CHECK(read(copies, target_address{0}, 8).empty());
  CHECK(read(copies, target_address{~std::uint64_t{0} - 7}, 8).empty());
  CHECK(copies.missed());
}
