// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The same job, built with other options.
#include "told_graph.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::visit_state;

namespace {

job_graph graph_of_variant(const std::string& suffix) {
  reference_job job{{"mpi2dd_starter" + suffix, "--ranks", "3", "--directories", "2", "--above", "--world", "w0",
                     "--hold", "2/spawn=2"}};
  job.ready();
  INFO(suffix);
  job_graph seen = graph_from(job.rank("w0", 0));
  CHECK(ranks_of(seen.graph) == told_ranks(job));
  CHECK(spawns_of(seen.graph) == told_spawns(job));
  CHECK(metadirectories_of(seen.graph).size() == 2);
  return seen;
}

const mpi2dd::listing& directories_in(const job_graph& seen) {
  for (const mpi2dd::visit& v : seen.graph.visits()) {
    if (v.directories.entries.size() == 3) return v.directories;  // two, and the starter
  }
  FAIL("no table of directories");
  return seen.graph.visits()[0].directories;
}

}  // namespace

TEST_CASE("packed and compiled entries are read, with debug information and without") {
  for (const auto& [suffix, bytes, source] :
       {std::tuple{"", 20, layout_source::dwarf}, std::tuple{"_plain", 24, layout_source::dwarf},
        std::tuple{"_bare", 20, layout_source::inferred}, std::tuple{"_plain_bare", 24, layout_source::inferred},
        std::tuple{"_library", 20, layout_source::dwarf}, std::tuple{"_both", 20, layout_source::dwarf}}) {
    const job_graph seen = graph_of_variant(suffix);
    check_clean(seen.graph);
    const mpi2dd::listing& table = directories_in(seen);
    INFO(suffix);
    REQUIRE(table.stride.has_value());
    CHECK(table.stride->bytes == static_cast<std::size_t>(bytes));
    CHECK(table.stride->source == source);
  }
}

TEST_CASE("programs of 32 bits are read by a program of 64") {
#ifdef MPIACQ_HAVE_32_BIT_MPI2DD
  const job_graph seen = graph_of_variant("_32");
  check_clean(seen.graph);
  CHECK(directories_in(seen).stride->bytes == 12);
#else
  MPIACQ_SKIP("no C library for programs of 32 bits");
#endif
}

TEST_CASE("a job of both widths is one graph") {
#ifdef MPIACQ_HAVE_32_BIT_MPI2DD
  reference_job job{{"mpi2dd_starter", "--ranks", "3", "--directories", "2", "--world", "w0", "--directory-program",
                     MPIACQ_MPI2DD "/mpi2dd_directory_32", "--hold"}};
  job.ready();
  const job_graph seen = graph_from(job.rank("w0", 2));
  CHECK(ranks_of(seen.graph) == told_ranks(job));
  check_clean(seen.graph);
#else
  MPIACQ_SKIP("no C library for programs of 32 bits");
#endif
}

TEST_CASE("an unknown variant is read with a warning") {
  const job_graph seen = graph_of_variant("_variant_2");
  for (const mpi2dd::visit& v : seen.graph.visits()) {
    CHECK(v.state == visit_state::read);
    CHECK(v.warnings.size() == 1);
  }
}

TEST_CASE("another magic or version is an error at the start of a walk, and ends the walk elsewhere") {
  for (const auto& [suffix, code] :
       {std::pair{"_bad_magic", error_code::bad_format}, std::pair{"_version_2", error_code::unsupported}}) {
    const std::string name = suffix;
    INFO(name);
    reference_job whole{{"mpi2dd_starter" + name, "--ranks", "2", "--hold"}};
    whole.ready();
    const auto refused = look_at_graph(process_id{whole.pid()});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == code);
    CHECK_THAT(refused.error().message, ContainsSubstring(std::to_string(whole.pid())));

    reference_job part{{"mpi2dd_starter", "--ranks", "2", "--directories", "1", "--world", "w0", "--hold",
                        "--directory-program", std::string(MPIACQ_MPI2DD "/mpi2dd_directory") + name}};
    part.ready();
    const job_graph seen = graph_from(part.pid());
    const mpi2dd::visit& directory = visit_at(seen, part.said_pid("directory.0.pid"));
    CHECK(directory.state == visit_state::unreadable);
    REQUIRE(directory.failure.has_value());
    CHECK(directory.failure->code == code);
    CHECK(ranks_of(seen.graph).empty());
  }
}
