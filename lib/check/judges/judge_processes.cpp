// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Judges the processes of the table: while the starter was held at the spawn event, and after it went on.
#include <algorithm>

#include "judges/judges.hpp"
#include "judges/judging.hpp"
#include "watch/definition.hpp"

namespace mpiacq::check::judges {

namespace {

using mpir::known;
using progress = rank_seen::progress;

std::size_t count_where(const observations& o, const std::function<bool(const rank_seen&)>& holds) {
  return ranks_where(o, holds).size();
}

std::size_t count_at(const observations& o, place where) {
  return count_where(o, [&](const rank_seen& r) { return is_live_rank(r) && r.at_spawn == where; });
}

/// One process that defines a gate stands for all.
const rank_seen* with_gate(const observations& o) {
  const auto found =
      std::find_if(o.ranks.begin(), o.ranks.end(), [](const rank_seen& r) { return r.gate.has_value(); });
  return found == o.ranks.end() ? nullptr : &*found;
}

bool opened_a_gate(const observations& o) {
  return std::any_of(o.ranks.begin(), o.ranks.end(), [](const rank_seen& r) { return r.gate_opened; });
}

constexpr std::string_view none_held = "no process of this node was seen waiting at the spawn event";
constexpr std::string_view not_gone_on = "the processes had not gone on when we stopped looking";

}  // namespace

finding held_in_init(const observations& o) {
  const auto past =
      ranks_where(o, [](const rank_seen& r) { return is_live_rank(r) && r.at_spawn == place::past_init; });
  if (!past.empty()) {
    return failed("{}: in main and not in MPI_Init, while the starter stood at the spawn event", rank_list(past));
  }
  const std::size_t in_init = count_at(o, place::in_mpi_init);
  const std::size_t before = count_at(o, place::before_main) + count_at(o, place::before_init);
  if (in_init + before != 0) {
    return passed("{} in MPI_Init, {} before it, of {} looked at", in_init, before, o.ranks.size());
  }
  if (count_at(o, place::no_mpi) != 0) return not_applicable("the processes run no MPI program");
  return not_applicable("where the processes were could not be seen");
}

finding partial_attach_announced(const observations& o) {
  if (o.defined.has(known::partial_attach_ok)) return not_applicable("it is defined (9.13)");
  const std::size_t held = count_where(o, is_held);
  if (held == 0) return not_applicable("{}", none_held);
  if (!ranks_where(o, [](const rank_seen& r) { return r.gate_value.value_or(0) != 0; }).empty()) {
    return not_applicable("MPIR_debug_gate was not shut at the spawn event (9.8b)");
  }
  if (opened_a_gate(o)) return passed("not defined, and the processes waited for MPIR_debug_gate");
  const std::size_t gone_on =
      count_where(o, [](const rank_seen& r) { return is_held(r) && r.went_on == progress::with_starter; });
  if (gone_on != held) return not_applicable("{}", not_gone_on);
  return failed("not defined, and all {} processes went on with the starter alone", held);
}

finding no_gate_where_unneeded(const observations& o) {
  if (!o.defined.has(known::partial_attach_ok)) return not_applicable("MPIR_partial_attach_ok is not defined");
  if (opened_a_gate(o)) return not_applicable("the processes do wait for it (9.13)");
  const rank_seen* rank = with_gate(o);
  if (rank != nullptr) {
    return failed("{} defines it, in {}, and MPIR_partial_attach_ok is defined", rank_list({rank->rank}),
                  rank->gate->module);
  }
  if (count_where(o, [](const rank_seen& r) { return r.defines_i_am_starter.has_value(); }) == 0) {
    return not_applicable("{}", no_process_here);
  }
  return passed("no process of this node defines it");
}

finding gate_is_int(const observations& o) {
  const rank_seen* rank = with_gate(o);
  if (rank == nullptr) return not_applicable("not defined in any process of this node, and it need not be");
  return judge_form(*rank->gate, mpir::symbol_form::integer, o.defined.abi);
}

finding gate_left_to_tool(const observations& o) {
  if (with_gate(o) == nullptr) return not_applicable("not defined in any process of this node");
  const auto open = ranks_where(o, [](const rank_seen& r) { return r.gate_value && *r.gate_value != 0; });
  if (!open.empty()) return failed("it was not 0 at the spawn event, and no tool had written it: {}", rank_list(open));
  return passed("0 at the spawn event");
}

finding gate_releases(const observations& o) {
  const auto opened = ranks_where(o, [](const rank_seen& r) { return r.gate_opened; });
  if (opened.empty()) return not_applicable("no process needed it");
  const auto stuck =
      ranks_where(o, [](const rank_seen& r) { return r.gate_opened && r.went_on != progress::with_gate; });
  if (!stuck.empty()) return failed("it was set to 1, and they did not go on: {}", rank_list(stuck));
  return passed("set to 1, it let {} processes go on", opened.size());
}

finding starter_marked(const observations& o) {
  if (!o.defined.any_required()) return not_applicable("nothing of the interface was found (3.2, 4.1c)");
  if (o.defined.has(known::i_am_starter)) {
    return o.starter_in_table ? not_applicable("the starter is one of the processes (9.10b)") : passed("it is defined");
  }
  if (o.spawn() == nullptr) return not_applicable("{}", no_spawn_event);
  if (o.starter_is_entry_0) return passed("not defined, and the starter is rank 0");
  return failed("not defined, and entry 0 of the table is not the starter");
}

finding rank_starter_unmarked(const observations& o) {
  if (!o.starter_in_table) return not_applicable("the starter is none of the processes");
  if (o.defined.has(known::i_am_starter)) return failed("the starter is in the table, and it is defined");
  return passed("not defined");
}

finding ranks_unmarked(const observations& o) {
  const auto marked =
      ranks_where(o, [](const rank_seen& r) { return !r.is_starter && r.defines_i_am_starter.value_or(false); });
  if (!marked.empty()) return failed("MPI processes define it: {}", rank_list(marked));
  const std::size_t known_ranks =
      count_where(o, [](const rank_seen& r) { return !r.is_starter && r.defines_i_am_starter.has_value(); });
  if (known_ranks == 0) return not_applicable("{}", no_process_here);
  return passed("not defined in the processes of this node");
}

finding acquired_pre_main(const observations& o) {
  if (!o.defined.has(known::acquired_pre_main)) return not_applicable("not defined, and it need not be");
  const auto in_main = ranks_where(o, [](const rank_seen& r) {
    return is_live_rank(r) && (r.at_spawn == place::in_mpi_init || r.at_spawn == place::before_init ||
                               r.at_spawn == place::past_init || r.at_spawn == place::no_mpi);
  });
  if (!in_main.empty()) return failed("defined, and they had entered main at the spawn event: {}", rank_list(in_main));
  const std::size_t before = count_at(o, place::before_main);
  if (before == 0) return not_applicable("where the processes were could not be seen");
  return passed("{} processes had not entered main", before);
}

finding starter_releases_all(const observations& o) {
  if (!o.defined.has(known::partial_attach_ok)) return not_applicable("not defined, and it need not be");
  const auto waited = ranks_where(o, [](const rank_seen& r) { return r.gate_opened; });
  if (!waited.empty())
    return failed("defined, and they waited for MPIR_debug_gate all the same: {}", rank_list(waited));
  const std::size_t held = count_where(o, is_held);
  if (held == 0) return not_applicable("{}", none_held);
  const std::size_t gone_on =
      count_where(o, [](const rank_seen& r) { return is_held(r) && r.went_on == progress::with_starter; });
  if (gone_on != held) return not_applicable("{}", not_gone_on);
  return passed("{} processes went on with the starter", held);
}

finding queue_library_named(const observations& o) {
  const auto rank =
      std::find_if(o.ranks.begin(), o.ranks.end(), [](const rank_seen& r) { return r.queue_library.has_value(); });
  if (rank == o.ranks.end()) return not_applicable("no process of this node defines it, and none need");
  const seen_symbol& symbol = *rank->queue_library;
  const bool is_pointer =
      symbol.type ? symbol.type->kind != type_kind::array : symbol.size == o.defined.abi.pointer_size;
  if (is_pointer) {
    return failed("it is {} in {}", symbol.type ? type_text(*symbol.type) : "as large as a pointer", symbol.module);
  }
  if (!rank->queue_library_name) return failed("it holds no name");
  return passed("{}", *rank->queue_library_name);
}

}  // namespace mpiacq::check::judges
