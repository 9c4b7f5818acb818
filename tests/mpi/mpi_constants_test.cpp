// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Predefined handles and constants against the headers of the installed MPIs.
#include <algorithm>

#include "catch.hpp"
#include "handles/handle_meaning.hpp"
#include "mpi_header.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using kind = mpi_handle_kind;

const std::map<std::string, kind> kinds = {{"MPI_Comm", kind::communicator},
                                           {"MPI_Group", kind::group},
                                           {"MPI_Datatype", kind::datatype},
                                           {"MPI_Op", kind::operation},
                                           {"MPI_Request", kind::request},
                                           {"MPI_Message", kind::message},
                                           {"MPI_Win", kind::window},
                                           {"MPI_File", kind::file},
                                           {"MPI_Info", kind::info},
                                           {"MPI_Session", kind::session},
                                           {"MPI_Errhandler", kind::error_handler}};

/// Names of the same handle: the standard has two names for some datatypes.
std::string first_name(const std::string& name) {
  static const std::map<std::string, std::string> others = {{"MPI_LONG_LONG_INT", "MPI_LONG_LONG"},
                                                            {"MPI_C_COMPLEX", "MPI_C_FLOAT_COMPLEX"},
                                                            {"MPI_CXX_COMPLEX", "MPI_CXX_FLOAT_COMPLEX"}};
  const auto found = others.find(name);
  return found == others.end() ? name : found->second;
}

mpi_abi abi_of(const mpi_header& header) {
  return header.name == "openmpi" ? mpi_abi::openmpi : mpi_abi::mpich;
}

/// A handle that the header defines: by its number (MPICH) or by its object (Open MPI).
std::size_t check_handles(const mpi_header& header) {
  static const std::regex by_number(R"(#\s*define\s+(MPI_\w+)\s+\(?\((MPI_\w+)\)\s*\(?(0x[0-9a-fA-F]+|0)\))");
  static const std::regex by_object(R"(#\s*define\s+(MPI_\w+)\s+OMPI_PREDEFINED_GLOBAL\(\s*(MPI_\w+),\s*(\w+)\))");
  const bool is_openmpi = header.name == "openmpi";
  const std::regex& definition = is_openmpi ? by_object : by_number;
  std::size_t checked = 0;
  for (std::sregex_iterator at(header.constants.begin(), header.constants.end(), definition), end; at != end; ++at) {
    const auto what = kinds.find((*at)[2].str());
    if (what == kinds.end()) continue;
    handle_context context{abi_of(header), mpi_language::c, 8, {}};
    context.symbol_at = [&](std::uint64_t) { return (*at)[3].str(); };
    const std::uint64_t value = is_openmpi ? 0x7f0000001000 : std::stoull((*at)[3].str(), nullptr, 0);
    INFO((*at)[0].str());
    CHECK(meaning_of_handle(what->second, value, context).name == first_name((*at)[1].str()));
    ++checked;
  }
  return checked;
}

std::optional<long> number_in(const std::string& text, const std::string& name) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex("#\\s*define\\s+" + name + R"(\s+\(?(-?\d+)\)?\s)"))) {
    return std::nullopt;
  }
  return std::stol(found[1].str());
}

/// Open MPI's numbers of handles in Fortran: "parameter (MPI_INT=39)".
std::size_t check_fortran_handles(const std::string& text) {
  static const std::regex definition(R"(parameter\s*\((MPI_\w+)=(\d+)\))");
  std::size_t checked = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), definition), end; at != end; ++at) {
    INFO((*at)[0].str());
    const std::string name = first_name((*at)[1].str());
    const auto row = std::find_if(predefined_handles().begin(), predefined_handles().end(),
                                  [&](const predefined_handle& each) { return each.name == name; });
    REQUIRE(row != predefined_handles().end());
    const handle_context context{mpi_abi::openmpi, mpi_language::fortran, 8, {}};
    CHECK(meaning_of_handle(row->kind, std::stoull((*at)[2].str()), context).name == name);
    ++checked;
  }
  return checked;
}

}  // namespace

TEST_CASE("predefined handles have the names that the installed headers give them", "[releases]") {
  const auto headers = installed_headers();
  if (headers.empty()) MPIACQ_SKIP("no mpi.h of Open MPI or MPICH is installed");
  for (const mpi_header& header : headers) {
    INFO(header.name);
    CHECK(check_handles(header) > 80);
  }
}

TEST_CASE("the constants of MPI have the values that the installed headers give them", "[releases]") {
  const auto headers = installed_headers();
  if (headers.empty()) MPIACQ_SKIP("no mpi.h of Open MPI or MPICH is installed");
  for (const mpi_header& header : headers) {
    INFO(header.name);
    const mpi_constants* ours = constants_of(abi_of(header));
    REQUIRE(ours != nullptr);
    CHECK(number_in(header.constants, "MPI_ANY_SOURCE") == ours->any_source);
    CHECK(number_in(header.constants, "MPI_ANY_TAG") == ours->any_tag);
    CHECK(number_in(header.constants, "MPI_PROC_NULL") == ours->proc_null);
    CHECK(number_in(header.constants, "MPI_ROOT") == ours->root);
    CHECK(number_in(header.constants, "MPI_LOCK_EXCLUSIVE") == ours->lock_exclusive);
    CHECK(number_in(header.constants, "MPI_LOCK_SHARED") == ours->lock_shared);
    CHECK(number_in(header.constants, "MPI_UNDEFINED") == mpi_undefined);
  }
}

TEST_CASE("Open MPI's handles in Fortran have the numbers of the installed header", "[releases]") {
  std::size_t files = 0;
  for (const mpi_header& header : installed_headers()) {
    const std::string text = read_text(header.folder / "mpif-handles.h");
    if (header.name != "openmpi" || text.empty()) continue;
    CHECK(check_fortran_handles(text) > 90);
    ++files;
  }
  if (files == 0) MPIACQ_SKIP("no mpif-handles.h of Open MPI is installed");
}
