// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/mpi2dd/mpi2dd_acquisition.hpp"

#include <array>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq::mpi2dd {

namespace {

/// Whether the target cannot be used any more. A fault of one of its structures does not end the acquisition.
bool ends_everything(const error& e) {
  return e.code == error_code::process_gone || e.code == error_code::permission;
}

table_selection changes(const info_block& before, const info_block& now) {
  return {before.proctable != now.proctable || before.proctable_size != now.proctable_size,
          before.directory_table != now.directory_table || before.directory_size != now.directory_size,
          before.metadirectory_table != now.metadirectory_table || before.metadirectory_size != now.metadirectory_size};
}

write_flags flags_in_block(const target& process, target_address block, flag_set<debugger_flag> flags) {
  std::vector<std::byte> bytes(4);
  encode_integer(flags.bits(), process.abi.order, bytes);
  return {block + layout_of_info(process.abi.pointer_size).debugger_flags, std::move(bytes), flags};
}

}  // namespace

result<std::optional<std::vector<write_flags>>> gate_of_rank(const target& process) {
  const auto info = TRY(find_info(process));
  if (!info) return std::nullopt;
  const auto flags = TRY(read_info_block(process, info->address())).debugger_flags;
  std::vector<write_flags> writes;
  if (!flags.has(debugger_flag::gate)) {
    writes.push_back(flags_in_block(process, info->address(), flags.with(debugger_flag::gate)));
  }
  return writes;
}

struct acquisition::state {
  explicit state(acquisition_options o) : options(o) {}

  using actions = std::vector<action>;

  acquisition_options options;
  std::optional<symbol> info_found;
  std::optional<target_address> breakpoint;
  std::optional<info_block> block;
  bool flags_written = false;

  result<actions> take_hold(const target& process) {
    actions todo;
    constexpr std::array<std::string_view, 2> names = {info_symbol, breakpoint_symbol};
    auto found = TRY(process.symbols.find_symbols(names));
    info_found = found[0];
    if (process.writer == nullptr) {
      TRY(look(process, todo));
      return todo;
    }
    if (!info_found || !found[1]) {
      todo.emplace_back(watch_modules{});
      return todo;
    }
    TRY(look(process, todo));
    raise_flags(process, todo);
    breakpoint = found[1]->address();
    todo.emplace_back(plant_breakpoint{*breakpoint});
    return todo;
  }

  /// Reads the info block again. If the block is faulty, reports the problem and leaves `block` empty.
  result<void> look(const target& process, actions& todo) {
    block.reset();
    if (!info_found) return {};
    auto read = read_info_block(process, info_found->address());
    if (read) {
      block = *read;
    } else if (ends_everything(read.error())) {
      return fail(std::move(read).error());
    } else {
      todo.emplace_back(report_problem{std::move(read).error()});
    }
    return {};
  }

  void raise_flags(const target& process, actions& todo) {
    if (!block) return;
    auto flags = block->debugger_flags.with(debugger_flag::being_debugged);
    if (options.directory_events) flags = flags.with(debugger_flag::request_directory_events);
    write(process, flags, todo);
    flags_written = true;
  }

  /// Requests no write if the flags already have this value.
  void write(const target& process, flag_set<debugger_flag> flags, actions& todo) {
    if (flags == block->debugger_flags) return;
    todo.emplace_back(flags_in_block(process, info_found->address(), flags));
    block->debugger_flags = flags;
  }

  /// Reads only the abort string: the block's other strings do not belong to an event.
  result<void> read_reason(const target& process, report_event& event, actions& todo) const {
    if (block->abort_string.is_null()) return {};
    auto text = read_c_string(process.memory, block->abort_string, max_info_string);
    if (text) {
      event.reason = std::move(*text);
      return {};
    }
    if (ends_everything(text.error())) return fail(std::move(text).error());
    todo.emplace_back(report_problem{std::move(text).error().while_doing("reading abort_string of MPI2DD_info")});
    return {};
  }
};

acquisition::acquisition(acquisition_options options) : state_(std::make_unique<state>(options)) {}
acquisition::~acquisition() = default;
acquisition::acquisition(acquisition&&) noexcept = default;
acquisition& acquisition::operator=(acquisition&&) noexcept = default;

result<std::vector<action>> acquisition::at_entry(const target& process) {
  *state_ = state(state_->options);  // after an exec, the process runs another program
  return state_->take_hold(process);
}

result<std::vector<action>> acquisition::at_attach(const target& process) {
  *state_ = state(state_->options);
  return state_->take_hold(process);
}

result<std::vector<action>> acquisition::modules_changed(const target& process) {
  if (state_->breakpoint) return std::vector<action>{};
  return state_->take_hold(process);
}

result<std::vector<action>> acquisition::at_breakpoint(const target& process) {
  state& s = *state_;
  std::vector<action> todo;
  const std::optional<info_block> before = s.block;
  TRY(s.look(process, todo));
  if (!s.block) return todo;
  // If the block was not filled at the entry point, its flags are written now.
  if (!s.flags_written && process.writer != nullptr) s.raise_flags(process, todo);
  if (s.block->state == debug_state::none) return todo;
  if (name(s.block->state).empty()) {
    todo.emplace_back(report_problem{
        error{error_code::unsupported,
              fmt::format("MPI2DD_breakpoint was called with the unknown debug_state {}: the process continues",
                          unsigned{static_cast<std::uint8_t>(s.block->state)})}
            .at(s.info_found->address())});
    return todo;
  }
  report_event event{s.block->state, before ? changes(*before, *s.block) : table_selection{}, {}};
  if (event.state == debug_state::directory_changed) event.changed.processes = true;
  // The draft does not say which of the two tables changed. If neither address nor size differs, both may have changed.
  if (event.state == debug_state::metadirectory_changed && !event.changed.directories &&
      !event.changed.metadirectories) {
    event.changed.directories = event.changed.metadirectories = true;
  }
  if (event.state == debug_state::abort) {
    TRY(s.read_reason(process, event, todo));
  }
  todo.emplace_back(std::move(event));
  return todo;
}

result<std::vector<action>> acquisition::open_gate(const target& process) {
  state& s = *state_;
  std::vector<action> todo;
  if (process.writer == nullptr) return todo;
  TRY(s.look(process, todo));
  if (s.block) s.write(process, s.block->debugger_flags.with(debugger_flag::gate), todo);
  return todo;
}

result<std::vector<action>> acquisition::being_debugged(const target& process, bool is_so) {
  state& s = *state_;
  std::vector<action> todo;
  if (process.writer == nullptr) return todo;
  TRY(s.look(process, todo));
  if (!s.block) return todo;
  const auto flags = s.block->debugger_flags;
  const auto flag = debugger_flag::being_debugged;
  s.write(process, is_so ? flags.with(flag) : flags.without(flag), todo);
  return todo;
}

result<std::vector<action>> acquisition::before_detach(const target& process) {
  state& s = *state_;
  std::vector<action> todo;
  if (process.writer == nullptr) return todo;
  TRY(s.look(process, todo));
  if (s.block) {
    auto flags =
        s.block->debugger_flags.without(debugger_flag::being_debugged).without(debugger_flag::request_directory_events);
    if (s.options.of == part::rank) flags = flags.with(debugger_flag::gate);
    s.write(process, flags, todo);
  }
  if (s.breakpoint) todo.emplace_back(lift_breakpoint{*s.breakpoint});
  s.breakpoint.reset();
  return todo;
}

std::optional<target_address> acquisition::breakpoint() const {
  return state_->breakpoint;
}
const std::optional<info_block>& acquisition::info() const {
  return state_->block;
}

}  // namespace mpiacq::mpi2dd
