// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The table of MPI calls against the headers of the installed MPIs.
#include <set>

#include "calls/mpi_calls.hpp"
#include "calls/mpi_parameters.hpp"
#include "catch.hpp"
#include "mpi_header.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using role = mpi_role;
using names = std::set<std::string>;

/// The types in C that a value with this role may have.
names bases_of(role meaning) {
  switch (meaning) {
    case role::buffer:
      return {"void"};
    case role::text:
      return {"char"};
    case role::count:
    case role::send_count:
    case role::receive_count:
    case role::target_count:
      return {"int", "MPI_Count"};
    case role::displacement:
      return {"int", "MPI_Aint", "MPI_Count"};
    case role::size:
      return {"int", "MPI_Aint", "MPI_Offset", "MPI_Count"};
    case role::number:
      return {"int", "MPI_Aint", "MPI_Count"};
    case role::datatype:
    case role::send_type:
    case role::receive_type:
    case role::target_type:
      return {"MPI_Datatype"};
    case role::communicator:
    case role::peer_communicator:
      return {"MPI_Comm"};
    case role::operation:
      return {"MPI_Op"};
    case role::request:
      return {"MPI_Request", "MPIO_Request"};  // MPICH: two names of one type
    case role::message:
      return {"MPI_Message"};
    case role::status:
      return {"MPI_Status"};
    case role::window:
      return {"MPI_Win"};
    case role::file:
      return {"MPI_File"};
    case role::group:
      return {"MPI_Group"};
    case role::info:
      return {"MPI_Info"};
    case role::session:
      return {"MPI_Session"};
    case role::error_handler:
      return {"MPI_Errhandler"};
    case role::offset:
      return {"MPI_Offset"};
    default:
      return {"int"};
  }
}

bool levels_fit(const mpi_parameter& parameter, std::size_t levels) {
  if (parameter.role == role::text) return levels >= 1 && levels <= 3;
  if (parameter.role == role::buffer) return levels == 1;
  return levels == (parameter.passing == mpi_passing::value ? 0U : 1U);
}

bool fits(const mpi_parameter& parameter, const c_type& type) {
  const bool may_be_written = parameter.passing != mpi_passing::output || !type.is_const;
  return bases_of(parameter.role).contains(type.base) && levels_fit(parameter, type.levels) && may_be_written;
}

void check_function(const std::string& name, const mpi_call& call, const std::vector<c_type>& types) {
  INFO("MPI_" << name << ": " << call.parameters);
  const auto parameters = parameters_of(call.parameters);
  REQUIRE(parameters.size() == types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    INFO("parameter " << i + 1 << ": " << types[i].base << ", " << types[i].levels << " levels");
    CHECK(fits(parameters[i], types[i]));
  }
}

/// Functions that ask or change something in the calling process alone.
bool is_local(const std::string& name) {
  static const std::regex local(
      "(T_|Type_|Info_|Group_|Attr_|Keyval_|Errhandler_|Error_|Add_error_|Remove_error_|Op_|Pack|Unpack|Get_(address|"
      "count|elements|hw|library|processor|version)|Status_|"
      "Grequest_|Dims_|Abi_|Address|Alloc_mem|Free_mem|Is_thread|Query_thread|Initialized|Finalized|Pcontrol|"
      "Reduce_local|Register_datarep|Topo_test|Test_cancelled|Buffer_attach|DUP_FN|"
      "Cart_(coords|get|map|rank|shift)|Cartdim_get|Graph_(get|map|neighbors.*)|Graphdims_get|Dist_graph_neighbors.*|"
      "(Comm|Win|File|Session)_(get_|call_errhandler|create_(errhandler|keyval)|delete_attr|free_keyval|set_(attr|"
      "errhandler|name))|"
      "Comm_(compare|group|rank|size|remote_(group|size)|test_inter|attach_buffer)|Session_(set_info|attach_buffer)|"
      "Win_(attach|detach|shared_query)|File_seek(_c)?$).*");
  return std::regex_match(name, local);
}

const mpi_call* row_of(const std::string& name) {
  if (const mpi_call* call = mpi_call_named(name)) return call;
  return name.ends_with("_c") ? mpi_call_named(name.substr(0, name.size() - 2)) : nullptr;
}

}  // namespace

TEST_CASE("the rows of MPI calls have the parameters that the installed headers declare", "[releases]") {
  const auto headers = installed_headers();
  if (headers.empty()) MPIACQ_SKIP("no mpi.h of Open MPI or MPICH is installed");
  for (const mpi_header& header : headers) {
    INFO(header.name);
    std::size_t checked = 0;
    for (const auto& [name, types] : header.functions) {
      const mpi_call* call = row_of(name);
      if (call == nullptr) continue;
      check_function(name, *call, types);
      ++checked;
    }
    std::string missing;
    std::size_t missing_count = 0;
    for (const mpi_call& call : mpi_calls()) {
      if (header.functions.contains(std::string(call.name))) continue;
      missing += " " + std::string(call.name);
      ++missing_count;
    }
    WARN(header.name << ": " << checked << " functions checked; " << missing_count
                     << " rows are not declared:" << missing);
    CHECK(checked > 160);
    CHECK(missing_count < 60);
  }
}

TEST_CASE("every function that an installed header declares has a row or concerns its own process alone",
          "[releases]") {
  const auto headers = installed_headers();
  if (headers.empty()) MPIACQ_SKIP("no mpi.h of Open MPI or MPICH is installed");
  for (const mpi_header& header : headers) {
    INFO(header.name);
    for (const auto& [name, types] : header.functions) {
      INFO("MPI_" << name);
      CHECK((row_of(name) != nullptr) != is_local(name));
    }
  }
}
