// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// One message of each kind with a value in every member, for tests and as seeds for the fuzzer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "wire/agent_messages.hpp"

namespace mpiacq::test {

inline std::shared_ptr<const code_place> some_place(const std::string& function) {
  return std::make_shared<const code_place>(code_place{function, function + ".c", 7, "/bin/app", {}});
}

/// The stack of a rank, outermost call first.
inline void add_stack(call_tree& tree, std::uint32_t rank, const std::vector<std::string>& calls,
                      stack_end end = stack_end::outermost) {
  thread_stack stack;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) stack.frames.push_back({{}, some_place(*call)});
  stack.end = end;
  if (end != stack_end::outermost) stack.why = "for the test's sake";
  tree.add(entry_index{rank}, stack);
}

inline call_tree some_tree() {
  call_tree tree;
  add_stack(tree, 0, {"main", "solve", "MPI_Recv"});
  add_stack(tree, 1, {"main", "solve", "MPI_Send"});
  add_stack(tree, 2, {"poll"}, stack_end::no_unwind_info);
  // A name that is not UTF-8.
  add_stack(tree, 3, {"main", "caf\xe9"});
  return tree;
}

inline called_communicator some_communicator() {
  called_communicator made;
  made.facts.id = 9;
  made.facts.name = "half";
  made.facts.local_rank = 1;
  made.facts.size = 3;
  made.facts.group = {1, 4, 9};
  made.facts.is_inter = true;
  made.facts.remote_group = {0, 2};
  made.sources = {0, 2};
  return made;
}

inline rank_activity some_activity() {
  return {mpi_call_kind::receive,
          "MPI_Recv",
          true,
          {{mpi_role::buffer, true, true, 0x7000, "", argument_source::instructions},
           {mpi_role::source, true, false, -1, "MPI_ANY_SOURCE"},
           {mpi_role::tag, false, false, 0, ""}},
          {"solve", "/src/solver.c", 88},
          awaited_requests{{{mpi_request_kind::collective, true, 3, "MPI_COMM_WORLD", 2},
                            {mpi_request_kind::point_to_point, false, 4, "", 1, request_message{true, 2, 7, 42}}},
                           1,
                           5},
          some_communicator()};
}

inline group_queues some_queues() {
  queue_operation operation;
  operation.desired = {false, 1, 5};
  operation.tag = 42;
  operation.length = 8;
  operation.buffer = target_address{0x7f0000001000};
  operation.actual = queue_message{{true, {}, {}}, -1, 16};
  operation.extra = {"a line"};
  queue_communicator world;
  world.id = 3;
  world.name = "MPI_COMM_WORLD";
  world.size = 4;
  world.group = {0, 2, 4, 6, -1};
  world.is_inter = false;
  world.of(queue_class::sends) = {queue_knowledge::complete, {operation}};
  queue_report report;
  report.library_path = "/usr/lib/libqueues.so";
  report.compatibility = 2;
  report.unit = length_unit::bytes;
  report.communicators = {world, world};
  report.communicators.back().remote_group = std::vector<std::int64_t>{1, 3};
  report.new_processes = {{process_id{77}, "/bin/child", "n2"}};
  report.missing = {{"MPIR_Comm", "context"}};
  report.notes = {"a note"};
  report.problems = {error{error_code::limit, "too many"}.with_errno(12).at(target_address{4096}).on("/x")};
  group_queues queues;
  queues.ranks.push_back({entry_index{1}, process_id{11}, report, some_activity(), "ob1", true});
  queues.ranks.push_back({entry_index{4}, process_id{14}, fail(error_code::process_gone, "has ended")});
  queues.held_for = std::chrono::microseconds{1234};
  queues.notes = {"types from a carrier"};
  return queues;
}

/// The account of a remote directory process, with a problem in each table.
inline mpi2dd::process_account some_account() {
  using namespace mpi2dd;
  process_rows rows;
  rows.strings = {"n1", "localhost", "/bin/app", "w0", "caf\xe9"};
  rows.hosts = {0, 1, no_string, unreadable_string};
  rows.executables = {2, 2, 2, 4};
  rows.worlds = {3, 3, 3, no_string};
  rows.spawns = {no_spawn, no_spawn, 0, unreadable_spawn};
  rows.pids = {100, 101, 102, -1};
  rows.ranks = {0, 1, 2, 7};
  rows.spawn_descriptions = {{3, 1, 0}};
  rows.facts.address = target_address{0x4000};
  rows.facts.claimed = 5;
  rows.facts.problems = {{3, table_field::pid, entry_fault::impossible_number, target_address{0x4080}, {}, -1}};
  rows.facts.problem_count = 1;
  rows.facts.shortfall = error{error_code::unreadable_memory, "the last entry is not there"};
  directory_rows directories;
  directories.strings = {"n1"};
  directories.hosts = {0};
  directories.executables = {no_string};
  directories.pids = {99};
  directories.facts.claimed = 1;
  directories.stride = {20, layout_source::inferred, "by its entries"};
  process_account said;
  said.state = visit_state::read;
  said.info.emplace();
  said.info->address = target_address{0x5000};
  said.info->block.state = debug_state{77};
  said.info->block.mpi_flags = flag_set<mpi_flag>{0x8003};
  said.info->block.meta_pid = 42;
  said.info->block.padding[3] = std::byte{9};
  said.info->meta_host = "n9";
  said.info->abort_reason = "";
  said.info->warnings = {error{error_code::bad_format, "another variant"}};
  said.processes.entries = make_process_entries(std::move(rows)).value();
  said.directories.entries = make_directory_entries(std::move(directories)).value();
  said.metadirectories.failure = error{error_code::unreadable_memory, "not there"}.at(target_address{1});
  said.rereads = 2;
  said.unsettled = true;
  said.own_names = {"localhost", "n1"};
  return said;
}

inline agents::visits_part some_visits() {
  mpi2dd::process_account gone;
  gone.failure = error{error_code::process_gone, "there is no process 7"};
  agents::agent_accounts there{2, {}};
  there.said.push_back(agents::part_of(some_account()));
  there.said.push_back(agents::part_of(gone));
  return {{there}};
}

/// A rank that has failed with a value in every member.
inline rank_end some_end() {
  rank_end end;
  end.entry = entry_index{5};
  end.pid = process_id{105};
  end.status = {true, 11, false};
  end.thread = thread_id{106};
  end.signal_code = -6;
  end.sender = process_id{42};
  end.sender_name = "slurmstepd";
  end.fault = target_address{0x10};
  end.out_of_memory = true;
  thread_registers& registers = end.registers.emplace();
  registers.thread = end.thread;
  registers.count = 17;
  for (std::size_t i = 0; i < registers.count; ++i) registers.by_dwarf_number[i] = 1000 + i;
  registers.pc = target_address{0x401000};
  registers.sp = target_address{0x7ffd0000};
  return end;
}

/// Two ranks that have failed, one without registers.
inline group_ends some_ends() {
  rank_end exited;
  exited.entry = entry_index{6};
  exited.pid = process_id{107};
  exited.status = {false, 3, false};
  exited.phase = mpi_phase::running;
  group_ends ends;
  ends.failed = {some_end(), exited};
  ends.ended = rank_set{7};
  ends.followed = rank_set::parse("0-4").value();
  ends.refused = {{rank_set(9), error{error_code::busy, "another tracer"}}};
  ends.stacks.tree = some_tree();
  ends.stacks.taken = rank_set::parse("0-3").value();
  return ends;
}

inline rank_queue_options some_queue_options() {
  rank_queue_options how;
  how.ranks = rank_selection::parse("0-3").value();
  how.library = "/lib/q.so";
  how.no_library = "no queues";
  how.types.file = "/types";
  how.types.cache_folder = "/cache";
  how.types.debug_files.folders = {"/opt/debug", "/usr/lib/debug"};
  how.host.trust_library = true;
  how.host.limits.operations = 17;
  how.host.limits.call_time = std::chrono::milliseconds{1234};
  how.stacks = false;
  how.ranks_at_once = 3;
  return how;
}

inline std::vector<agents::message> sample_messages() {
  using namespace agents;
  const peer_address somebody{{"tcp://10.0.0.1:4000", "tcp://[fe80::1]:4000"}, curve_key{std::byte{7}, std::byte{9}}};
  const error why = error{error_code::permission, "not permitted"}.with_errno(1);
  rank_set ranks = rank_set::parse("0-3,7").value();
  group_stacks stacks{some_tree(),
                      ranks,
                      {{rank_set(9), why}},
                      std::chrono::microseconds{99},
                      {why},
                      {{entry_index{1}, some_activity()}}};
  stacks.not_run = rank_set(3U);
  return {hello{"MUNGE:AwQ=:", 3, {"n1", "node1.site", "n1", {"10.0.0.2"}}, somebody},
          assignment{4,
                     {somebody, somebody},
                     {{entry_index{0}, process_id{100}, "/bin/app", rank_number{0}, ""},
                      {entry_index{5}, process_id{105}, "", {}, "1:1"}}},
          welcome{},
          goodbye{},
          ask{1, 5000, ask_hold{}},
          ask{2, 5000, ask_release{leave::stopped}},
          ask{3, 5000,
              ask_stacks{{rank_selection::parse("0-3,1:8").value(), which_threads::all, 100, true}, {{"/opt/debug"}}}},
          ask{4, 5000, ask_queues{some_queue_options()}},
          answer{1, ranks, {{6, why}}, hold_part{ranks, {{entry_index{9}, process_id{109}, hold_state::busy, why}}}},
          answer{2, ranks, {}, release_part{ranks, {{rank_set(9), why}}}},
          answer{3, ranks, {}, std::move(stacks)},
          answer{4, rank_set{1}, {}, some_queues()},
          answer{5, {}, {{2, why}}, std::nullopt},
          heartbeat{3, 1000000},
          ask{6, 5000,
              ask_visits{
                  {{2, {{"", process_id{7}, "/bin/dir", {true, false, true}}}}}, {}, 4, user_id{1000}, {"/opt/debug"}}},
          answer{6, rank_set{2}, {}, some_visits()},
          finish_early{6},
          goodbye{why},
          ask{7, 5000, ask_gates{{{}, interface_kind::mpi2dd, std::chrono::milliseconds{3000}}, {{"/opt/debug"}}}},
          answer{7, ranks, {}, opened_gates{ranks, rank_set{8}, {{rank_set(9), why}}}},
          ask{8, 5000, ask_job_ranks{3, {"00ff", ""}}},
          answer{8, ranks, {}, job_ranks_part{{{3, {{1, 7, process_id{107}, "/bin/app"}}, 2}}}},
          ask{9, 5000, ask_follow{true}},
          ask{10, 5000, ask_follow{false}},
          ask{11, 5000, ask_ends{}},
          ask{12, 5000, ask_cores{{rank_selection::parse("5-6").value(), "/tmp/cores", 4096}}},
          answer{11, ranks, {}, some_ends()},
          answer{12,
                 ranks,
                 {},
                 rank_cores{{{entry_index{5}, "n1", "/tmp/cores/core.5.105", 4096, 16}}, {{rank_set(6), why}}}}};
}

}  // namespace mpiacq::test
