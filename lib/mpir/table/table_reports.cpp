// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Reads the table that the acquisition reports: extent, layout, and the job's ids (MPIR 1.1, chapter 8, steps 10 to
// 14).
#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpir_acquisition_state.hpp"
#include "mpir_variables.hpp"

namespace mpiacq::mpir {

namespace {

std::string debug_file_of(const module& m) {
  const std::string id = build_id_text(m);
  if (id.size() < 4) return fmt::format("{} has no build id: it takes a build of it with debug information", m.path);
  return fmt::format(
      "its debug file is missing: install the one for build id {} "
      "(/usr/lib/debug/.build-id/{}/{}.debug), or set DEBUGINFOD_URLS",
      id, id.substr(0, 2), id.substr(2));
}

}  // namespace

result<acquisition::state::extent> acquisition::state::table_extent(const target& starter) const {
  const auto entries = TRY(read_integer(starter.memory, starter.abi, *(*symbols)[known::proctable_size]));
  if (entries <= 0) return extent{entries, {}};
  const auto base = TRY(read_pointer_variable(starter.memory, starter.abi, *(*symbols)[known::proctable]));
  return extent{entries, base};
}

result<process_table> acquisition::state::read_table(const target& starter, const extent& where, actions& todo) {
  if (!layout || layout->source == layout_source::inferred) {
    TRY(learn_layout(starter, where, todo));
  }
  auto read = read_process_table(starter.memory, starter.abi, *layout, where.base,
                                 static_cast<std::uint64_t>(where.entries), options.limits);
  if (read) read->belongs_to(starter.user);
  return read;
}

/// Takes the layout from debug information (step 11). Without it, infers the layout from the ABI and checks it against
/// this table.
result<void> acquisition::state::learn_layout(const target& starter, const extent& where, actions& todo) {
  const symbol& variable = *(*symbols)[known::proctable];
  const symbol& near = *(*symbols)[known::breakpoint];
  const bool is_near = near.home != nullptr && near.home == variable.home;
  auto known_layout = starter.symbols.layout_pointed_to_by(variable, is_near ? &near : nullptr);
  if (!known_layout) {
    if (ends_everything(known_layout.error())) return fail(std::move(known_layout).error());
    todo.push_back(
        report_problem{std::move(known_layout).error().while_doing("looking for the type of MPIR_proctable")});
  } else if (known_layout->has_value()) {
    layout = std::move(**known_layout);
    return {};
  }
  structure_layout inferred = inferred_descriptor_layout(starter.abi);
  if (variable.home) inferred.module_path = variable.home->path;
  auto checked = check_layout_against_data(starter.memory, starter.abi, inferred, where.base,
                                           static_cast<std::uint64_t>(where.entries));
  if (!checked) {
    if (checked.error().code != error_code::bad_format || !variable.home) return checked;
    error refused = std::move(checked).error();
    refused.path = variable.home->path;
    refused.message +=
        fmt::format("; {} has no debug information for MPIR_proctable, so that this layout was inferred: {}",
                    variable.home->path, debug_file_of(*variable.home));
    return fail(std::move(refused));
  }
  layout = std::move(inferred);
  return {};
}

result<void> acquisition::state::read_ids(const target& starter, actions& todo) {
  for (const auto& [id, into] :
       {std::pair{known::totalview_jobid, &facts.job_id}, std::pair{known::totalview_stepid, &facts.step_id}}) {
    if (!symbols->has(id)) continue;
    auto text = read_string_variable(starter.memory, starter.abi, *(*symbols)[id]);
    if (text) {
      *into = std::move(*text);
    } else if (auto added = add_problem(std::move(text).error(), todo); !added) {
      return added;
    }
  }
  return {};
}

void acquisition::state::report(process_table read, actions& todo) {
  if (read.shortfall()) todo.push_back(report_problem{*read.shortfall()});
  if (table && table->same_processes(read)) return;
  table = std::make_shared<const process_table>(std::move(read));
  todo.push_back(report_processes{table});
}

}  // namespace mpiacq::mpir
