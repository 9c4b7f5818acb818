// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "judges/clause_words.hpp"
#include "judges/clauses_mpi2dd.hpp"
#include "judges/judges.hpp"
#include "judges/judging.hpp"
#include "watch/definition.hpp"

namespace mpiacq::check {

namespace {

using mpir::known;

/// A clause that only requires a symbol with the document's definition.
template <known K, std::uint64_t ArraySize = 0>
finding is_defined(const observations& o) {
  return judge_definition(o, K, ArraySize);
}

// Scripts of users refer to ids: a new clause gets a new id, and no id is reused.
constexpr std::array mpir_clauses = {
    clause{"3.2", "3.2", "the starter defines the interface",
           "By definition, the starter process contains functions, data structures, and symbol table information for "
           "the MPIR Process Acquisition Interface.",
           must, both, judges::defines_interface},
    clause{"4.1a", "4.1", "the interface has debug information",
           "The starter process compilation unit(s) containing the functions, data structures, and types defined by "
           "the interface must be built with symbolic debugging information.",
           must, both, judges::has_debug_information},
    clause{"4.1b", "4.1", "nothing is optimised away",
           "The starter process implementation must ensure that the functions, data structures, types, and symbol "
           "table information are not discarded as a result of compiler or linker optimizations.",
           must, launch, judges::calls_not_optimised},
    clause{"4.1c", "4.1", "nothing is stripped or separated",
           "The packaging, distribution, and installation procedures for the starter process implementation must "
           "ensure that the symbol table information is not stripped, separated or otherwise discarded.",
           must, both, judges::not_stripped},
    clause{"6.1a", "6.1", "the job spawn event is raised",
           "Under the MPIR job launch mode, the tool is invoked on the starter process executable, which in turn "
           "starts the MPI application. (8, step 9: the starter raises MPIR events at MPIR_Breakpoint.)",
           must, launch, judges::spawn_event_raised},
    clause{
        "6.1b", "6.1", "a running job can be attached to",
        "The MPIR Process Acquisition Interface supports both launching an MPI application under the control of the "
        "tool, and attaching the tool to an already running MPI application. (8, step 6: then MPIR_proctable_size is "
        "greater than zero.)",
        must, applies::attach, judges::table_there_at_attach},
    clause{"6.2a", "6.2", "processes do not return from MPI_Init",
           "Under the job launch mode the MPI implementation must ensure that the MPI processes do not return from "
           "MPI_INIT. (Also 7.1, step 4, and 9.8.)",
           must, launch, judges::held_in_init},
    clause{"6.2b", "6.2", "MPIR_partial_attach_ok where no gate is needed",
           "When an implementation uses a synchronization technique that does not require the tool to set "
           "MPIR_debug_gate, and does not require the tool to attach to and continue the MPI process, it should define "
           "the symbol MPIR_partial_attach_ok in the starter process.",
           should, launch, judges::partial_attach_announced},
    clause{"6.2c", "6.2", "no gate where none is needed",
           "If possible, an MPI implementation that does not require the tool to set MPIR_debug_gate should avoid "
           "defining MPIR_debug_gate in the MPI processes.",
           should, launch, judges::no_gate_where_unneeded},
    clause{"7.1a", "7.1", "the daemon's variables come together",
           "The tool daemon launch extension adds two character array variables to the MPIR interface.", must, both,
           judges::daemon_variables_together},
    clause{
        "7.1b", "7.1", "the tool's daemons are launched",
        "The starter process notices that the value of MPIR_being_debugged changed to a non-zero value, and launches "
        "the executable named by the MPIR_executable_path variable and passes the command line arguments contained "
        "in the MPIR_server_arguments variable.",
        must, both, judges::daemons_launched},
    clause{"7.2a", "7.2", "the starter waits on its FIFO",
           "When the starter launches an MPI job, it locally opens a FIFO (named pipe) that is owned and writable by "
           "its owner, writes the FIFO's path to the MPIR_attach_fifo variable, and waits for a byte to arrive through "
           "the channel.",
           must, both, judges::fifo_waited_on},
    clause{"7.2b", "7.2", "the FIFO goes with the starter",
           "The MPI job control runtime system is responsible for [...] cleaning up the FIFO when the starter "
           "terminates.",
           must, both, judges::fifo_removed},
    clause{"8", "8", "MPIR_proctable_size begins as 0",
           "Step 5: If the tool spawned the starter process, then this value is expected to be 0.", must, launch,
           judges::size_initially_zero},
    clause{
        "9.1", "9.1", "what the tool writes is volatile",
        "VOLATILE is used with MPIR variables defined in the starter and MPI processes but are set by the tool. (9.3, "
        "9.6 and 9.8 declare their variables so.)",
        must, both, judges::tools_variables_volatile},
    clause{
        "9.2a", "9.2", "the type MPIR_PROCDESC is defined",
        "Definition is contained within the symbol table of the starter process. (8, step 11: by the type's name, or "
        "through the type of MPIR_proctable.)",
        must, both, judges::descriptor_type},
    clause{"9.2b", "9.2", "its members",
           "The structure must contain three members with the same names and types as specified above.", must, both,
           judges::descriptor_members},
    clause{"9.2c", "9.2", "pid is wide enough",
           "Implementations should define pid as an integer size that is large enough to hold a process identifier for "
           "the target system.",
           should, both, judges::descriptor_pid_width},
    clause{
        "9.2d", "9.2", "host_name can be read",
        "The host_name member is a pointer to a null-terminated character string in the address space of the starter "
        "process.",
        must, both, judges::host_names_readable},
    clause{"9.2e", "9.2", "host_name has an address",
           "[It] specifies the target node location of the MPI process in the form of a host name or IP address string "
           "that must be translatable to an IP address. On [BProc] systems, the string is an integer node number.",
           must, both, judges::host_names_translatable},
    clause{"9.2f", "9.2", "executable_name can be read",
           "The executable_name member is a pointer to a null-terminated character string in the address space of the "
           "starter process.",
           must, both, judges::executables_readable},
    clause{
        "9.2g", "9.2", "executable_name is a full path",
        "The string should be the full path name to the executable, which may be relative to the host node or target "
        "node.",
        should, both, judges::executables_full_paths},
    clause{"9.2h", "9.2", "executable_name is what runs",
           "[It] specifies the name of the executable the MPI process is running.", must, both,
           judges::executables_true},
    clause{"9.2i", "9.2", "pid is the process", "The pid member is the integer process identifier of the MPI process.",
           must, both, judges::pids_alive},
    clause{"9.2j", "9.2", "strings are shared",
           "The MPI implementation should share the host and executable name character strings across multiple process "
           "descriptor entries whenever possible.",
           should, both, judges::strings_shared},
    clause{"9.3a", "9.3", "MPIR_being_debugged is an int",
           "VOLATILE int MPIR_being_debugged; Definition is not required.", must, both,
           is_defined<known::being_debugged>},
    clause{"9.3b", "9.3", "MPIR_being_debugged is the tool's, and heeded",
           "Variable is written by the tool, and read by the starter process and the MPI processes.", must, both,
           judges::being_debugged_heeded},
    clause{"9.4a", "9.4", "MPIR_proctable is a pointer", "MPIR_PROCDESC *MPIR_proctable; Definition is required.", must,
           both, is_defined<known::proctable>},
    clause{"9.4b", "9.4", "the index is the rank",
           "The index position in the process descriptor table is the rank of the process in MPI_COMM_WORLD.", must,
           both, judges::index_is_rank},
    clause{
        "9.4c", "9.4", "each process stands there once",
        "[9.2:] MPIR_PROCDESC [...] holds process descriptor information for a single MPI process. [9.4:] index 0 in "
        "the table specifies rank 0 [...], index 1 specifies rank 1, and so forth.",
        must, both, judges::each_process_once},
    clause{"9.5a", "9.5", "MPIR_proctable_size is an int", "int MPIR_proctable_size; Definition is required.", must,
           both, is_defined<known::proctable_size>},
    clause{
        "9.5b", "9.5", "it is the number of entries",
        "MPIR_proctable_size is an integer variable set by the starter process that specifies the number of elements "
        "in the procedure descriptor table.",
        must, both, judges::size_is_true},
    clause{"9.6a", "9.6", "MPIR_debug_state is an int", "VOLATILE int MPIR_debug_state; Definition is required.", must,
           both, is_defined<known::debug_state>},
    clause{"9.6b", "9.6", "MPIR_debug_state begins as 0", "Variables initial value should be 0 (MPIR_NULL).", should,
           launch, judges::state_initially_null},
    clause{
        "9.6c", "9.6", "events have a known state",
        "The following events are defined: MPIR_NULL (0), MPIR_DEBUG_SPAWNED (1), MPIR_DEBUG_ABORTING (2). (9.9: the "
        "starter process must set the MPIR_debug_state variable to an appropriate value before calling.)",
        must, both, judges::states_known},
    clause{
        "9.6d", "9.6", "at the spawn event the table is filled in",
        "If the value is MPIR_DEBUG_SPAWNED (1), then the starter process has spawned the MPI processes and filled in "
        "the process descriptor table.",
        must, both, judges::table_filled_at_spawn},
    clause{
        "9.6e", "9.6", "events come in order",
        "The tool can attach to any additional MPI processes that have appeared in the process descriptor table. [...] "
        "If the value is MPIR_DEBUG_ABORTING (2), then the MPI job has aborted.",
        must, both, judges::events_in_order},
    clause{"9.7a", "9.7", "MPIR_debug_abort_string is a char *",
           "char *MPIR_debug_abort_string; Definition is not required.", must, both,
           is_defined<known::debug_abort_string>},
    clause{"9.7b", "9.7", "an abort has its reason",
           "MPIR_debug_abort_string is a pointer to a null-terminated character string set by the starter process when "
           "MPI job has aborted. [It] is intended to be a human readable string.",
           must, both, judges::abort_string_set},
    clause{"9.8a", "9.8", "MPIR_debug_gate is an int", "VOLATILE int MPIR_debug_gate; Definition is not required.",
           must, both, judges::gate_is_int},
    clause{"9.8b", "9.8", "MPIR_debug_gate is the tool's",
           "Variable is written by the tool, and read by the MPI processes.", must, launch, judges::gate_left_to_tool},
    clause{"9.8c", "9.8", "MPIR_debug_gate lets a process go",
           "MPIR_debug_gate is an integer variable that is set to 1 by the tool to notify the MPI processes that the "
           "debugger has attached. (8, step 18: the tool must set it to release them from the gate.)",
           must, launch, judges::gate_releases},
    clause{"9.9a", "9.9", "MPIR_Breakpoint is a function", "void MPIR_Breakpoint() {} Definition is required.", must,
           both, is_defined<known::breakpoint>},
    clause{"9.9b", "9.9", "MPIR_Breakpoint is called",
           "MPIR_Breakpoint is the subroutine called by the starter process to notify the tool that an MPIR event has "
           "occurred.",
           must, launch, judges::breakpoint_called},
    clause{"9.10a", "9.10", "a separate starter is marked",
           "Definition is required when the MPIR starter process is not also an MPI process.", must, both,
           judges::starter_marked},
    clause{"9.10b", "9.10", "a starter that is rank 0 is not",
           "If MPI rank process 0 is the starter process, this symbol must not be defined.", must, both,
           judges::rank_starter_unmarked},
    clause{"9.10c", "9.10", "no MPI process is marked",
           "This symbol must not be defined if the process is an MPI process.", must, both, judges::ranks_unmarked},
    clause{"9.11", "9.11", "MPIR_acquired_pre_main is true",
           "If the symbol is defined, the tool may assume that the MPI processes to which it is attaching are stopped "
           "upon creation [...] and have not yet entered the main subprogram.",
           must, launch, judges::acquired_pre_main},
    clause{
        "9.12", "9.12", "MPIR_force_to_main",
        "[It] informs the tool that it should display the source code of the main subprogram after acquiring the MPI "
        "processes.",
        must, both, judges::force_to_main},
    clause{
        "9.13", "9.13", "MPIR_partial_attach_ok is true",
        "If the symbol MPIR_partial_attach_ok is present, [...] the tool needs only to release the starter process to "
        "release the whole MPI job.",
        must, launch, judges::starter_releases_all},
    clause{"9.14", "9.14", "MPIR_ignore_queues",
           "[It] informs the tool that MPI message queues support should be suppressed.", must, both,
           judges::ignore_queues},
    clause{"9.15", "9.15", "MPIR_executable_path is an array",
           "char MPIR_executable_path[256]; Definition is not required.", must, both,
           is_defined<known::executable_path, 256>},
    clause{"9.16", "9.16", "MPIR_server_arguments is an array",
           "char MPIR_server_arguments[1024]; Definition is not required.", must, both,
           is_defined<known::server_arguments, 1024>},
    clause{"9.17a", "9.17", "MPIR_attach_fifo is an array", "char MPIR_attach_fifo[256]; Definition is not required.",
           must, both, is_defined<known::attach_fifo, 256>},
    clause{"9.17b", "9.17", "it names a FIFO of the starter's owner",
           "The string is the path name of a FIFO (named pipe) that is owned and writable by the owner of the starter "
           "process. The FIFO resides on the node where the starter is running.",
           must, both, judges::fifo_usable},
    clause{
        "dll", "mpich-attach", "MPIR_dll_name holds a name",
        "If the symbol MPIR_dll_name is present in the image, then it is expected to be extern char [] MPIR_dll_name; "
        "and to contain a string which is the name of the message queue debugging library.",
        must, both, judges::queue_library_named},
    clause{
        "MPI2DD", "MPI2DD", "MPI2DD_info begins as the draft says",
        "magic[0] == 'M', magic[1] = 'P', magic[2] = 'I', magic[3] = '2', magic[4] = 0x7f; version and variant are one "
        "(1).",
        must, both, judges::mpi2dd},
};

template <std::size_t... Nth, std::size_t... More>
constexpr auto joined(std::index_sequence<Nth...>, std::index_sequence<More...>) {
  return std::array{mpir_clauses[Nth]..., mpi2dd_clauses[More]...};
}
constexpr auto clause_rows =
    joined(std::make_index_sequence<mpir_clauses.size()>(), std::make_index_sequence<mpi2dd_clauses.size()>());

}  // namespace

std::span<const clause> clauses() {
  return clause_rows;
}

std::vector<judgement> judge(const observations& seen) {
  std::vector<judgement> all;
  all.reserve(clause_rows.size());
  for (const clause& rule : clause_rows) {
    if (rule.where == applies::launch && seen.how != mode::launch) {
      all.push_back({&rule, not_applicable("can be judged only of a starter that we launch")});
    } else if (rule.where == applies::attach && seen.how != mode::attach) {
      all.push_back({&rule, not_applicable("can be judged only of a starter that we attach to")});
    } else {
      all.push_back({&rule, rule.judge(seen)});
    }
  }
  return all;
}

}  // namespace mpiacq::check
