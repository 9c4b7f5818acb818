// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Judges the starter's symbols, types and debug information.
#include <algorithm>

#include <fmt/ranges.h>

#include "judges/judges.hpp"
#include "judges/judging.hpp"
#include "watch/definition.hpp"

namespace mpiacq::check::judges {

namespace {

using mpir::known;

/// The variables of chapter 9 that the starter defines. Flags are left out: they may be of any type, or absolute.
std::vector<const seen_symbol*> variables(const observations& o) {
  std::vector<const seen_symbol*> all;
  for (const mpir::known_symbol& s : mpir::known_symbols()) {
    const bool is_variable = s.form != mpir::symbol_form::function && s.form != mpir::symbol_form::flag;
    const bool is_starters = s.where != mpir::found_in::rank && s.section.starts_with("9.");
    if (is_variable && is_starters && o.defined.has(s.id)) all.push_back(&*o.defined[s.id]);
  }
  return all;
}

bool any_type_known(const observations& o) {
  const auto all = variables(o);
  return std::any_of(all.begin(), all.end(), [](const seen_symbol* s) { return s->type.has_value(); });
}

std::string module_title(const definitions_seen& defined) {
  return defined.home_build_id.empty() ? defined.home
                                       : fmt::format("{} (build id {})", defined.home, defined.home_build_id);
}

constexpr std::string_view no_types = "no debug information tells any type of the interface (4.1a, 4.1c)";

const structure_member* member(const observations& o, std::string_view name) {
  return o.defined.descriptor ? o.defined.descriptor->find(name) : nullptr;
}

}  // namespace

finding defines_interface(const observations& o) {
  if (!o.looked) return not_applicable("the starter's entry point was not reached");
  if (o.defined.any_required()) return passed("in {}", o.defined.home);
  if (o.mpi2dd.info) return not_applicable("{} speaks MPI2DD, and nothing of MPIR", o.mpi2dd.info->module);
  if (!o.defined.home_has_symbol_table) {
    return not_applicable("{} has no symbol table that could hold it (4.1c)", module_title(o.defined));
  }
  return failed("neither {} nor any library that it loaded defines MPIR_Breakpoint or any variable of the interface",
                module_title(o.defined));
}

finding has_debug_information(const observations& o) {
  const auto all = variables(o);
  if (all.empty()) return not_applicable("nothing of the interface was found (3.2, 4.1c)");
  std::vector<std::string_view> without;
  for (const seen_symbol* s : all) {
    if (!s->type) without.push_back(s->name);
  }
  if (without.empty()) return passed("for all {} variables of the interface", all.size());
  if (!o.defined.home_has_symbol_table) return not_applicable("{} has been stripped (4.1c)", o.defined.home);
  return failed("{} has none for {}", module_title(o.defined), fmt::join(without, ", "));
}

finding calls_not_optimised(const observations& o) {
  if (o.spawned_without_stop) {
    return failed(
        "MPIR_debug_state was 1 and MPIR_Breakpoint was not called: a compiler or linker has put its body in "
        "the place of the call");
  }
  if (o.stops.empty()) return not_applicable("no event was raised (9.9b)");
  return passed("MPIR_Breakpoint is called where an event is raised");
}

finding not_stripped(const observations& o) {
  if (!o.looked) return not_applicable("the starter's entry point was not reached");
  if (!o.defined.any_required() && o.mpi2dd.info) {
    return not_applicable("{} speaks MPI2DD, which needs no symbol table but the loaded one", o.mpi2dd.info->module);
  }
  if (!o.defined.home_has_symbol_table) {
    return failed("{} has been stripped of its symbol table and its debug information", module_title(o.defined));
  }
  if (!o.defined.any_required()) return not_applicable("nothing of the interface was found (3.2)");
  for (const seen_symbol* s : variables(o)) {
    if (s->type && s->type->source != layout_source::dwarf) {
      return failed("the debug information of {} has been separated: it is in {}", module_title(o.defined),
                    s->type->debug_file);
    }
  }
  if (!any_type_known(o)) return not_applicable("there is no debug information that could have been (4.1a)");
  return passed("symbol table and debug information are in {}", o.defined.home);
}

finding tools_variables_volatile(const observations& o) {
  std::vector<std::string> plain;
  std::vector<std::string> good;
  const auto look = [&](const std::optional<seen_symbol>& s, const std::string& where) {
    if (!s || !s->type) return;
    (s->type->is_volatile ? good : plain).push_back(s->name + where);
  };
  look(o.defined[known::being_debugged], "");
  look(o.defined[known::debug_state], "");
  // One process stands for all: they run the same MPI library.
  const auto with_gate =
      std::find_if(o.ranks.begin(), o.ranks.end(), [](const rank_seen& r) { return r.gate && r.gate->type; });
  if (with_gate != o.ranks.end()) look(with_gate->gate, " of " + rank_list({with_gate->rank}));
  if (!plain.empty()) return failed("not declared volatile: {}", fmt::join(plain, ", "));
  if (good.empty()) return not_applicable("{}", no_types);
  return passed("{}", fmt::join(good, ", "));
}

finding descriptor_type(const observations& o) {
  const auto& table = o.defined[known::proctable];
  if (!table) return not_applicable("MPIR_proctable is not defined (9.4a)");
  if (!table->type) {
    return any_type_known(o) ? not_applicable("no debug information tells the type of MPIR_proctable (4.1a)")
                             : not_applicable("{}", no_types);
  }
  if (table->type->kind != type_kind::pointer) return not_applicable("MPIR_proctable is no pointer (9.4a)");
  if (!o.defined.descriptor) {
    return failed("MPIR_proctable is declared as {}: no structure is defined for it{}", type_text(*table->type),
                  o.defined.descriptor_problem.empty() ? "" : ": " + o.defined.descriptor_problem);
  }
  if (table->type->inner_name != "MPIR_PROCDESC") {
    return failed(
        "the structure that MPIR_proctable points to is called {}: a tool that looks for MPIR_PROCDESC by "
        "name does not find it",
        table->type->inner_name.empty() ? "nothing" : table->type->inner_name);
  }
  return passed("a structure of {} bytes", o.defined.descriptor->size);
}

finding descriptor_members(const observations& o) {
  if (!o.defined.descriptor) return not_applicable("the structure is not known (9.2a, 4.1)");
  std::vector<std::string> wrong;
  std::vector<std::string> good;
  for (const char* name : {"host_name", "executable_name", "pid"}) {
    const bool wants_pointer = std::string_view(name) != "pid";
    const structure_member* m = member(o, name);
    if (m == nullptr) {
      wrong.push_back(fmt::format("it has no member {}", name));
    } else if (m->is_pointer != wants_pointer || (wants_pointer && m->size != o.defined.abi.pointer_size)) {
      wrong.push_back(fmt::format("{} is {} pointer ({} bytes)", name, m->is_pointer ? "a" : "no", m->size));
    } else if (!wants_pointer && (m->size == 0 || m->size > 8)) {
      wrong.push_back(fmt::format("{} has {} bytes, as no integer has", name, m->size));
    } else {
      good.push_back(fmt::format("{} at {}", name, m->offset));
    }
  }
  if (!wrong.empty()) return failed("{}", fmt::join(wrong, ", "));
  return passed("{}", fmt::join(good, ", "));
}

finding descriptor_pid_width(const observations& o) {
  constexpr std::uint64_t pid_t_size = 4;  // Linux has it so on every machine
  const structure_member* pid = member(o, "pid");
  if (pid == nullptr || pid->is_pointer) return not_applicable("the member pid is not known (9.2a, 9.2b, 4.1)");
  if (pid->size < pid_t_size) return failed("{} bytes: a pid_t has {} here", pid->size, pid_t_size);
  return passed("{} bytes", pid->size);
}

}  // namespace mpiacq::check::judges
