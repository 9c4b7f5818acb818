// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/json/queues_json.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/json/mpi_call_json.hpp"
#include "report/json/table_json.hpp"

namespace mpiacq::tool {

namespace {

json sentences(const std::vector<std::string>& all) {
  json list = json::array();
  for (const std::string& one : all) list.push_back(one);
  return list;
}
json messages(const std::vector<error>& all) {
  json list = json::array();
  for (const error& one : all) list.push_back(one.message);
  return list;
}

json json_of(const peer& who) {
  return {{"any", who.any}, {"local", number_or_null(who.local)}, {"global", number_or_null(who.global)}};
}

json json_of(const queue_operation& operation) {
  json actual = nullptr;
  if (operation.actual) {
    actual = {{"peer", json_of(operation.actual->from_or_to)},
              {"tag", operation.actual->tag},
              {"length", operation.actual->length}};
  }
  return {{"status", name(operation.status)},
          {"peer", json_of(operation.desired)},
          {"tag", number_or_null(operation.tag)},
          {"length", operation.length},
          {"buffer", fmt::format("{:#x}", operation.buffer.value())},
          {"system_buffer", operation.system_buffer},
          {"actual", std::move(actual)},
          {"extra", sentences(operation.extra)}};
}

json json_of(const queue_listing& queue) {
  json list = json::array();
  for (const queue_operation& operation : queue.operations) list.push_back(json_of(operation));
  return list;
}

json json_of(const queue_communicator& one) {
  json document = {{"id", one.id}, {"name", one.name}, {"local_rank", one.local_rank}, {"size", one.size}};
  document["group"] = one.group ? json(one.group->numbers()) : json(nullptr);
  document["intercommunicator"] = one.is_inter ? json(*one.is_inter) : json(nullptr);
  document["remote_group"] = one.remote_group ? json(one.remote_group->numbers()) : json(nullptr);
  for (const queue_class c : all_queue_classes) document[std::string(name(c))] = json_of(one.of(c));
  json known = json::object();
  for (const queue_class c : all_queue_classes) known[std::string(name(c))] = name(one.of(c).known);
  document["known"] = std::move(known);
  json origins = json::object();
  for (const queue_class c : all_queue_classes) origins[std::string(name(c))] = name(one.of(c).origin);
  document["origins"] = std::move(origins);
  return document;
}

json json_of(const new_process& one) {
  return {{"pid", one.pid.value()}, {"host", or_null(one.host)}, {"executable", or_null(one.executable)}};
}

void add_report(json& rank, const queue_report& report) {
  rank["library"] = {{"path", report.library_path},
                     {"version", or_null(report.library_version)},
                     {"compatibility", report.compatibility}};
  rank["length_unit"] = name(report.unit);
  for (const auto& one : report.communicators) rank["communicators"].push_back(json_of(one));
  for (const auto& one : report.new_processes) rank["new_processes"].push_back(json_of(one));
  for (const auto& one : report.missing) {
    rank["missing_types"].push_back(json{{"type", one.type}, {"field", or_null(one.field)}});
  }
  rank["notes"] = sentences(report.notes);
  rank["problems"] = messages(report.problems);
}

json json_of_rank(const queues_snapshot& snapshot, std::size_t place) {
  const rank_report& one = snapshot.seen.ranks[place];
  json rank = {{"rank", snapshot.names.rank(one.entry).value()},
               {"world", world_of(snapshot.names, one.entry)},
               {"pid", one.pid.value()},
               {"host", or_null(std::string(snapshot.hosts.of(one.entry)))},
               {"outcome", outcome_of(one)},
               {"call", or_null(one.doing.function)},
               {"arguments", arguments_of(one.doing)},
               {"requests", requests_of(one.doing)},
               {"called_communicator", called_communicator_of(one.doing)},
               {"at", json_of_site(one.doing.at)},
               {"stopped_by_signal", one.stopped_by_signal},
               {"pml", or_null(one.pml)},
               {"library", nullptr},
               {"length_unit", name(length_unit::unknown)},
               {"communicators", json::array()},
               {"new_processes", json::array()},
               {"missing_types", json::array()},
               {"notes", json::array()},
               {"problems", json::array()}};
  if (one.report) {
    add_report(rank, *one.report);
  } else {
    rank["problems"].push_back(one.report.error().message);
  }
  return rank;
}

/// A reference to an operation: the rank, and the positions in its lists.
json json_of(const operation_place& place, const queues_snapshot& snapshot) {
  return {{"rank", rank_of(snapshot.names, snapshot.seen.ranks[place.rank].entry)},
          {"communicator", place.communicator},
          {"queue", name(place.queue)},
          {"operation", place.operation}};
}

json json_of(const rank_wait& wait, const rank_names& names) {
  return {{"from", rank_of(names, wait.from)},
          {"to", wait.to.count() == 1 ? rank_of(names, entry_index{wait.to.lowest()}) : json(nullptr)},
          {"to_ranks", names.text(wait.to)},
          {"needs", wait.any_of ? "any" : "all"},
          {"certain", wait.certain},
          {"why", wait.why}};
}

json ranks_of(const std::vector<entry_index>& entries, const rank_names& names) {
  json all = json::array();
  for (const entry_index entry : entries) all.push_back(rank_of(names, entry));
  return all;
}

void write_pairs(json_writer& out, const queues_snapshot& snapshot) {
  out.key("pairs").begin_array();
  for (const operation_pair& pair : snapshot.waits.pairs) {
    out.value(json{{"send", json_of(pair.send, snapshot)},
                   {"receive", json_of(pair.receive, snapshot)},
                   {"only_choice", pair.only_choice}});
  }
  out.end_array().key("unpaired").begin_array();
  for (const unpaired_operation& single : snapshot.waits.unpaired) {
    json one = json_of(single.where, snapshot);
    one["unmatched"] = single.unmatched;
    out.value(one);
  }
  out.end_array();
}

json json_of(const call_mismatch& one, const rank_names& names) {
  json calls = json::array();
  for (const auto& [call, ranks] : one.calls) calls.push_back({{"call", call}, {"ranks", names.text(ranks)}});
  return {{"communicator", one.communicator}, {"certain", one.certain}, {"calls", std::move(calls)}};
}

json json_of(const std::vector<call_mismatch>& found, const rank_names& names) {
  json mismatches = json::array();
  for (const call_mismatch& one : found) mismatches.push_back(json_of(one, names));
  return mismatches;
}

json json_of(const deadlock& found, const rank_names& names) {
  return {{"ranks", ranks_of(found.ranks, names)},
          {"ring", found.is_ring},
          {"behind", names.text(found.behind)},
          {"in_finalize", names.text(found.in_finalize)},
          {"ended", names.text(found.ended)},
          {"mismatches", json_of(found.mismatches, names)},
          {"certain", found.certain}};
}

json json_of_call(const rank_call& call, const rank_names& names) {
  return {{"call", or_null(call.function)}, {"ranks", names.text(call.ranks)}, {"at", json_of_site(call.at)}};
}

json json_of(const std::optional<odd_ranks>& found, const rank_names& names) {
  if (!found) return nullptr;
  json others = json::array();
  for (const rank_call& call : found->others) others.push_back(json_of_call(call, names));
  return {{"call", found->most.function}, {"ranks", names.text(found->most.ranks)}, {"others", std::move(others)}};
}

void write_waits(json_writer& out, const queues_snapshot& snapshot) {
  write_pairs(out, snapshot);
  write_wait_list(out.key("waits"), snapshot);
  json cycles = json::array();
  for (const deadlock& found : snapshot.waits.deadlocks) {
    if (found.certain) cycles.push_back(ranks_of(found.ranks, snapshot.names));
  }
  out.member("cycles", cycles).member("deadlocks", json_of_deadlocks(snapshot));
  out.member("mismatches", json_of(snapshot.waits.mismatches, snapshot.names));
  out.member("odd", json_of(find_odd_ranks(snapshot.seen.ranks), snapshot.names));
  out.member("not_known", sentences(snapshot.waits.doubts));
  json calls = json::array(), gaps = json::array();
  const auto seen_calls = calls_of(snapshot.seen.ranks);
  for (const rank_call& call : seen_calls) {
    calls.push_back({{"call", or_null(call.function)},
                     {"known", call.kind != mpi_call_kind::unknown},
                     {"ranks", snapshot.names.text(call.ranks)}});
  }
  for (const collective_gap& gap : collective_gaps(seen_calls)) {
    gaps.push_back({{"call", gap.function},
                    {"ranks", snapshot.names.text(gap.in)},
                    {"missing", snapshot.names.text(gap.missing)}});
  }
  out.member("calls", calls).member("collective_gaps", gaps);
}

/// The library of the first rank that has one: as a rule all ranks have the same.
json library_of(const queues_snapshot& snapshot) {
  const auto& ranks = snapshot.seen.ranks;
  const auto found = std::find_if(ranks.begin(), ranks.end(), [](const rank_report& rank) {
    return rank.report && !rank.report->library_path.empty();
  });
  if (found == ranks.end()) return nullptr;
  return {{"path", found->report->library_path},           {"version", or_null(found->report->library_version)},
          {"compatibility", found->report->compatibility}, {"chosen", snapshot.library_chosen},
          {"trusted", snapshot.library_trusted},           {"isolated", !snapshot.in_process}};
}

}  // namespace

void write_wait_list(json_writer& out, const queues_snapshot& snapshot) {
  out.begin_array();
  for (const rank_wait& wait : snapshot.waits.waits) out.value(json_of(wait, snapshot.names));
  out.end_array();
}

json json_of_deadlocks(const queues_snapshot& snapshot) {
  json all = json::array();
  for (const deadlock& found : snapshot.waits.deadlocks) all.push_back(json_of(found, snapshot.names));
  return all;
}

void write_queues(json_writer& out, const queues_snapshot& snapshot) {
  out.begin_object()
      .members({{"schema", "mpiacq.queues/1"},
                {"starter", json_of(snapshot.starter)},
                {"source", name(snapshot.origin.source)},
                {"launcher", name(snapshot.origin.launcher)},
                {"worlds", json_of_worlds(snapshot.worlds)},
                {"library", library_of(snapshot)},
                {"types_file", or_null(snapshot.types_file)},
                {"held_seconds", snapshot.held.count()},
                {"looks", snapshot.looks},
                {"interrupted", snapshot.interrupted}})
      .key("ranks")
      .begin_array();
  for (std::size_t i = 0; i < snapshot.seen.ranks.size(); ++i) out.value(json_of_rank(snapshot, i));
  out.end_array().member("remote", snapshot.names.text(snapshot.remote));
  write_waits(out, snapshot);
  out.member("notes", sentences(snapshot.seen.notes)).member("problems", messages(snapshot.problems)).end_object();
}

}  // namespace mpiacq::tool
