// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "mpiacq/check/check.hpp"

using namespace mpiacq;

namespace {

std::string_view where(check::applies mode) {
  switch (mode) {
    case check::applies::launch:
      return "launch";
    case check::applies::attach:
      return "attach";
    default:
      return "both";
  }
}

/// docs/check.md as it should be.
std::string page() {
  std::ostringstream out;
  out << R"(# The clauses of `mpiacq check`

Each clause is a sentence of *The MPIR Process Acquisition Interface*, version 1.1, that binds an implementation. The
clause `dll` is from the note *TV Process Acquisition with MPICH*. Clauses whose id begins with `MPI2DD` are from the
MPI2DD draft, as [mpi2dd.md](mpi2dd.md) reads it; the draft has headings instead of numbers, so each of these clauses
begins with its heading. An id never changes, and a new clause gets a new id. The test `check` compares this page with
the library's table; run the test with `MPIACQ_WRITE_DOCS=1` to write the page anew.

One fault of a starter fails one clause. A clause that cannot be judged because another one has failed is not-applicable
and names that one. A clause that a starter *should* keep fails like any other; the report shows the strength of each.

Sentences that bind the tool and not the starter are no clauses: chapters 1 to 3 (but 3.2), 4.2, 5, and 8 (but step 5).
Three sentences of 7.2 are not judged, because one run does not show them: that the FIFO is reset for the next tool,
that there is an option to fall back to polling, and that this option disables the FIFO.

For MPI2DD the checker writes nothing. So it does not judge what needs the flags of a debugger: gates, and the requested
events of directories. It walks the job at each event of the starter, and a few times in the seconds afterwards; it does
not see the events of ranks. A starter that has MPI2DD and nothing of MPIR is judged by the draft alone.

| id | title | strength | mode | the document says |
|---|---|---|---|---|
)";
  for (const check::clause& c : check::clauses()) {
    out << "| " << c.id << " | " << c.title << " | " << check::name(c.strength) << " | " << where(c.where) << " | "
        << c.says << " |\n";
  }
  return out.str();
}

}  // namespace

TEST_CASE("the page of clauses says what the table says") {
  const std::string path = std::string(MPIACQ_DOCS_FOLDER) + "/check.md";
  if (std::getenv("MPIACQ_WRITE_DOCS") != nullptr) std::ofstream(path) << page();
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  CHECK(text.str() == page());
}

TEST_CASE("every clause is whole, its id is its section's, and no id stands twice") {
  std::set<std::string_view> ids;
  for (const check::clause& c : check::clauses()) {
    INFO(c.id);
    CHECK(ids.insert(c.id).second);
    CHECK_FALSE(c.title.empty());
    CHECK_FALSE(c.says.empty());
    CHECK(c.judge != nullptr);
    const bool is_numbered = c.section[0] >= '0' && c.section[0] <= '9';
    if (is_numbered) CHECK((c.id == c.section || c.id.substr(0, c.id.size() - 1) == c.section));
  }
}

TEST_CASE("every section of chapter 9 has a clause") {
  std::set<std::string_view> sections;
  for (const check::clause& c : check::clauses()) sections.insert(c.section);
  for (int section = 1; section <= 17; ++section) {
    INFO(section);
    CHECK(sections.contains("9." + std::to_string(section)));
  }
  for (const char* section : {"3.2", "4.1", "6.1", "6.2", "7.1", "7.2", "8"}) CHECK(sections.contains(section));
}

TEST_CASE("a starter of which nothing was observed is not judged") {
  for (const check::judgement& j : check::judge({})) {
    INFO(j.rule->id << ": " << j.result.saw);
    CHECK(j.result.what == check::verdict::not_applicable);
    CHECK_FALSE(j.result.saw.empty());
  }
}
