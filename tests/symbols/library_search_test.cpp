// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "modules/library_search.hpp"

#include <cstdio>
#include <memory>
#include <set>

#include "byte_writer.hpp"
#include "catch.hpp"
#include "modules/ld_so_cache.hpp"

using namespace mpiacq;
using namespace mpiacq::elf;
using namespace mpiacq::test;

namespace {

/// The entries of the cache for a library, by ldconfig.
std::multiset<std::string> by_ldconfig(const std::string& library) {
  std::multiset<std::string> paths;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> list{::popen("/sbin/ldconfig -p", "r"), &::pclose};
  char line[4096];
  while (list && std::fgets(line, sizeof line, list.get()) != nullptr) {
    const std::string text{line};
    const std::size_t arrow = text.find(" => ");
    if (arrow == std::string::npos || text.find("\t" + library + " (") != 0) continue;
    paths.insert(text.substr(arrow + 4, text.find_last_not_of('\n') - arrow - 3));
  }
  return paths;
}

byte_writer cache_with_one_entry(std::uint64_t count, std::uint64_t name, std::uint64_t path) {
  byte_writer w{abi_of_elf(2, 1, 0)};
  for (const char c : std::string_view{"glibc-ld.so.cache1.1"}) w.byte(static_cast<unsigned char>(c));
  w.word(count).word(20).pad_to(48).word(3).word(name).word(path).word(0).word(0).word(0);
  w.text("libx.so").text("/opt/libx.so");
  return w;
}

}  // namespace

TEST_CASE("our reader of the dynamic linker's cache agrees with ldconfig") {
  const auto expected = by_ldconfig("libc.so.6");
  if (expected.empty()) MPIACQ_SKIP("ldconfig has no cache here, or another C library is in use");
  const auto cache = ld_so_cache::read();
  const auto found = cache.find("libc.so.6");
  CHECK(std::multiset<std::string>(found.begin(), found.end()) == expected);
  CHECK(cache.find("no such library").empty());
}

TEST_CASE("an inconsistent cache is empty, or keeps its valid entries") {
  const auto good = cache_with_one_entry(1, 72, 80).take();
  const ld_so_cache cache{good};
  REQUIRE(cache.find("libx.so").size() == 1);
  CHECK(cache.find("libx.so")[0] == "/opt/libx.so");
  const std::pair<std::uint64_t, std::uint64_t> outside[] = {{0xffffffff, 80}, {72, 5000}, {500, 80}};
  for (const auto& [name, path] : outside) {
    CHECK(ld_so_cache{cache_with_one_entry(1, name, path).take()}.find("libx.so").empty());
  }
  CHECK(ld_so_cache{cache_with_one_entry(0xffffffff, 72, 80).take()}.find("libx.so").empty());
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK(ld_so_cache{std::span{good}.first(size)}.find("libx.so").empty());
  }
}
