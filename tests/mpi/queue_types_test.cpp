// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The types for the ranks of a job: from the cache, from the user's file, and for a process without debug information.
// Also the PML in use.
#include "mpiacq/queues/queue_types.hpp"

#include <cstdlib>

#include "fake_openmpi.hpp"
#include "live_process.hpp"
#include "mpiacq/process/process_symbols.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A waiting rank of the fake MPI, and what reading it needs.
class waiting_rank {
 public:
  explicit waiting_rank(const fake_openmpi& mpi) : process_({mpi.rank()}), memory_(process_.pid()) {
    REQUIRE(process_.next_line() == std::optional<std::string>{"ready"});
    auto opened = process_symbols::open(process_.pid(), memory_, {{}, false});
    REQUIRE(opened.has_value());
    symbols_ = std::move(*opened);
  }
  [[nodiscard]] process_symbols& symbols() { return *symbols_; }
  [[nodiscard]] live_memory& memory() { return memory_; }

 private:
  live_process process_;
  live_memory memory_;
  std::unique_ptr<process_symbols> symbols_;
};

std::unique_ptr<queue_types> types_with(const fake_openmpi& mpi, const std::string& file = {}) {
  auto made = queue_types::create({file, mpi.path("cache/types"), {{}, false}});
  if (!made) FAIL(made.error().message);
  return std::move(*made);
}

std::optional<std::uint64_t> size_of(type_source& types, std::string_view name) {
  const auto found = types.type_named(name, source_language::c);
  REQUIRE(found.has_value());
  return *found ? std::optional{(*found)->size} : std::nullopt;
}

bool says(const std::vector<std::string>& notes, const std::string& text) {
  return std::any_of(notes.begin(), notes.end(), [&](const auto& n) { return n.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("a process without types gets the types that the cache has for its library") {
  const fake_openmpi mpi;
  waiting_rank rank{mpi};
  {
    const auto types = types_with(mpi);
    auto source = types->of(rank.symbols(), rank.memory());
    REQUIRE(source.has_value());
    CHECK_FALSE(size_of(**source, "ompi_request_t").has_value());
    CHECK(size_of(**source, "opal_list_t") == 99);
  }
  const auto carrier = make_type_carrier(mpi.request());
  REQUIRE(carrier.has_value());
  const auto types = types_with(mpi);
  auto source = types->of(rank.symbols(), rank.memory());
  REQUIRE(source.has_value());
  CHECK(types->notes().empty());  // no type has been requested yet
  CHECK(size_of(**source, "ompi_request_t") == 20);
  CHECK(size_of(**source, "opal_list_t") == 15);  // the library's type, and not the program's
  CHECK_FALSE(size_of(**source, "absent").has_value());
  CHECK(says(types->notes(), carrier->path));
}

TEST_CASE("the types of one module are those of its own debug information, and of the file that is asked for") {
  const fake_openmpi mpi;
  waiting_rank rank{mpi};
  const auto carrier = make_type_carrier(mpi.request());
  REQUIRE(carrier.has_value());
  const module& program = *rank.symbols().modules().front();
  const std::string_view name = "MPIR_dll_name";
  const auto found = rank.symbols().look_up({&name, 1}, {true, nullptr});
  REQUIRE((found && found->front()));
  const module& library = *found->front()->home;
  const auto types = types_with(mpi);
  CHECK(size_of(*types->of_module(rank.symbols(), program), "opal_list_t") == 99);
  CHECK_FALSE(size_of(*types->of_module(rank.symbols(), library), "opal_list_t").has_value());
  CHECK(types->notes().empty());  // the cache was not asked
  const auto with_file = types_with(mpi, carrier->path);
  CHECK(size_of(*with_file->of_module(rank.symbols(), library), "opal_list_t") == 15);
}

TEST_CASE("types that the process contradicts are not used") {
  const fake_openmpi mpi;
  waiting_rank rank{mpi};
  const auto good = make_type_carrier(mpi.request());
  REQUIRE(good.has_value());
  // A carrier of another build, which fits only its own library.
  const fake_openmpi other;
  other.set_compiler("gcc -DREQUEST_SIZE=28");
  other.build_library("ob1", "-DREQUEST_SIZE=28");
  const auto others = make_type_carrier(other.request());
  REQUIRE(others.has_value());
  const std::string& bad = others->path;
  SECTION("in the cache: as if they were not there, with a note") {
    std::filesystem::copy_file(bad, good->path, std::filesystem::copy_options::overwrite_existing);
    const auto types = types_with(mpi);
    auto source = types->of(rank.symbols(), rank.memory());
    REQUIRE(source.has_value());
    CHECK_FALSE(size_of(**source, "ompi_request_t").has_value());
    CHECK(says(types->notes(), "ompi_request_t has 28 bytes"));
  }
  SECTION("the file that was asked for: an error") {
    const auto types = types_with(mpi, bad);
    const auto source = types->of(rank.symbols(), rank.memory());
    REQUIRE_FALSE(source.has_value());
    CHECK(source.error().code == error_code::bad_format);
    CHECK_THAT(source.error().message, ContainsSubstring("ompi_request_t has 28 bytes") && ContainsSubstring(bad));
  }
  SECTION("the right file") {
    const auto types = types_with(mpi, good->path);
    auto source = types->of(rank.symbols(), rank.memory());
    REQUIRE(source.has_value());
    CHECK(size_of(**source, "ompi_request_t") == 20);
  }
  SECTION("no file") {
    CHECK_FALSE(queue_types::create({mpi.path("none.so"), {}, {{}, false}}).has_value());
  }
}

TEST_CASE("missing types are compiled on request from the headers of the rank's own library") {
  const fake_openmpi mpi;
  waiting_rank rank{mpi};
  // The wrapper is found through PATH.
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (mpi.path("") + ":" + path).c_str(), 1);
  SECTION("once, and the note is one line") {
    const auto types = types_with(mpi);
    types->make_missing(rank.symbols());
    CHECK(mpi.in_cache().size() == 1);
    auto source = types->of(rank.symbols(), rank.memory());
    REQUIRE(source.has_value());
    CHECK(size_of(**source, "ompi_request_t") == 20);
    types->make_missing(rank.symbols());
    REQUIRE(types->notes().size() == 1);
    CHECK(says(types->notes(), "were compiled"));
    const auto again = types_with(mpi);
    again->make_missing(rank.symbols());
    CHECK(again->notes().empty());
  }
  SECTION("not out of another installation's") {
    // The rank still runs with the file from before.
    mpi.set_compiler("gcc -DREQUEST_SIZE=28");
    mpi.build_library("ob1", "-DREQUEST_SIZE=28");
    const auto types = types_with(mpi);
    types->make_missing(rank.symbols());
    CHECK(mpi.in_cache().empty());
    CHECK(types->notes().empty());
  }
  ::setenv("PATH", path.c_str(), 1);
}

TEST_CASE("the PML in use is found by types, and without them by its functions") {
  const fake_openmpi mpi;
  waiting_rank rank{mpi};
  target process{rank.memory(), nullptr, rank.symbols().abi(), rank.symbols()};
  const auto types = types_with(mpi);
  auto source = types->of(rank.symbols(), rank.memory());
  REQUIRE(source.has_value());
  // The two ways give different answers here, so that the test sees which one was used.
  const auto by_functions = pml_in_use(process, **source);
  REQUIRE(by_functions.has_value());
  CHECK(*by_functions == "cm");
  REQUIRE(make_type_carrier(mpi.request()).has_value());
  const auto with_carrier = types_with(mpi);
  auto carried = with_carrier->of(rank.symbols(), rank.memory());
  REQUIRE(carried.has_value());
  const auto by_types = pml_in_use(process, **carried);
  REQUIRE(by_types.has_value());
  CHECK(*by_types == "ob1");

  CHECK_FALSE(about_pml("ob1").has_value());
  for (const char* pml : {"cm", "ucx", "something_new"}) {
    INFO(pml);
    REQUIRE(about_pml(pml).has_value());
    CHECK_THAT(*about_pml(pml), ContainsSubstring(pml) && ContainsSubstring("--mca pml ob1"));
  }
}

TEST_CASE("the types that a report lacks give one sentence") {
  CHECK_FALSE(about_missing_types(std::vector<missing_type>{}).has_value());
  const std::vector<missing_type> types = {{"opal_list_t", ""}, {"ompi_group_t", ""}};
  CHECK_THAT(*about_missing_types(types), ContainsSubstring("opal_list_t and 1 more"));
  const std::vector<missing_type> field = {{"ompi_group_t", "grp_new"}};
  CHECK_THAT(*about_missing_types(field), ContainsSubstring("no field grp_new"));
}
