// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "stack_walk.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "arch.hpp"

namespace mpiacq::unwinding {

result<void> process_view::prepare() {
  auto made = frame_stepper::create(*this);
  if (!made) return fail(std::move(made).error());
  stepper_ = std::move(*made);
  return {};
}

const process_code::place& process_view::enter(target_address pc) {
  const process_code::place& found = code_.at(pc);
  current_ = found.record ? found.home : nullptr;
  return found;
}

std::optional<std::uint64_t> process_view::table_word(target_address address) {
  return current_ == nullptr ? std::nullopt : code_.table_word(*current_, address);
}

std::vector<std::byte> process_view::code_at(target_address pc) {
  std::vector<std::byte> code(arch::code_size);
  memory_range range{pc, code};
  if (auto read = memory_.pages().read_ranges({&range, 1}); !read) memory_.failure() = std::move(read).error();
  code.resize(range.got);
  return code;
}

std::optional<error> process_view::failure() {
  if (code_.failure()) return std::exchange(code_.failure(), std::nullopt);
  return std::exchange(memory_.failure(), std::nullopt);
}

namespace {

/// Interrupted code may be on any stack, so that nothing but their number bounds frames that signals have pushed.
constexpr std::size_t most_signal_frames = 1000;

class stack_walk {
 public:
  stack_walk(process_view& process, const thread_registers& thread, const walk_options& options)
      : process_(process), options_(options), pc_(thread.pc), sp_(thread.sp) {
    stack_.thread = thread.thread;
    if (!process_.stepper().begin(thread, false)) end(stack_end::no_unwind_info, "the registers are not all known");
  }

  raw_stack walk() {
    const std::size_t most = std::max<std::size_t>(options_.max_frames, 1);
    while (!ended_) {
      if (stack_.frames.size() == most) {
        end(stack_end::frame_limit, fmt::format("more than {} frames: the next is at {:#x}", most, pc_.value()));
        break;
      }
      stack_.frames.push_back({pc_, by_call_, false});
      leave_frame();
    }
    return std::move(stack_);
  }

 private:
  void end(stack_end how, std::string why) {
    stack_.end = how;
    stack_.why = std::move(why);
    ended_ = true;
  }

  void leave_frame() {
    const process_code::place& place = process_.enter(by_call_ ? pc_ - 1 : pc_);
    if (!place.record) return leave_unknown_code(place);
    const bool signal_frame = place.record->signal_frame;
    const record_address record{place.home->facts.tables_begin + place.record->position, place.record->begin,
                                place.record->end};
    step(record, signal_frame);
  }

  /// What can be told without tables.
  void leave_unknown_code(const process_code::place& place) {
    const bool in_module = place.home != nullptr;
    const auto code = process_.code_at(pc_);
    if (arch::is_signal_return(code)) return step(std::nullopt, true);
    // An address that something returns to is never one of these.
    if (!by_call_ && (code.empty() || arch::is_jump_stub(code))) return undo_call();
    end(stack_end::no_unwind_info,
        in_module ? fmt::format("no unwind information for {:#x} in {}", pc_.value(), place.home->facts.path)
                  : fmt::format("no unwind information for {:#x}, which is in no module", pc_.value()));
  }

  void undo_call() {
    thread_registers registers = process_.stepper().registers();
    auto undone = arch::undo_call(registers, process_.memory().pages());
    if (!undone) {
      process_.memory().failure() = std::move(undone).error();
      return end(stack_end::unreadable_memory, {});
    }
    if (!*undone || !process_.stepper().begin(registers, true)) {
      return end(stack_end::no_unwind_info,
                 fmt::format("there is no code at {:#x}, and nothing says who called it", pc_.value()));
    }
    pc_ = registers.pc;
    sp_ = registers.sp;
    by_call_ = true;
    if (pc_.is_null()) end(stack_end::outermost, {});
  }

  void step(const std::optional<record_address>& record, bool signal_frame) {
    stack_.frames.back().signal_frame = signal_frame;
    const target_address below = sp_;
    step_result how = process_.stepper().step(record);
    const target_address pc = process_.stepper().pc();
    const target_address sp = process_.stepper().sp();
    // A return address of 0 is how some beginnings of threads say that there is no caller. What a signal interrupted
    // may have been a call to 0.
    if (how == step_result::stepped && !signal_frame && pc.is_null()) how = step_result::outermost;
    if (how == step_result::outermost && signal_frame && pc.is_null() && !sp.is_null()) how = step_result::stepped;
    switch (how) {
      case step_result::outermost:
        return end(stack_end::outermost, {});
      case step_result::unreadable:
        return end(stack_end::unreadable_memory,
                   fmt::format("the caller of {:#x} is on memory at {:#x} that cannot be read", pc_.value(),
                               process_.stepper().unreadable_at().value()));
      case step_result::refused:
        return end(stack_end::no_unwind_info,
                   fmt::format("the unwind information for {:#x} cannot be followed", pc_.value()));
      case step_result::stepped:
        break;
    }
    if (signal_frame ? is_loop(pc, sp) : sp <= below) {
      return end(stack_end::no_progress,
                 fmt::format("the caller of {:#x} would be at {:#x} with its stack at {:#x}, which is "
                             "no further out than {:#x}",
                             pc_.value(), pc.value(), sp.value(), below.value()));
    }
    pc_ = pc;
    sp_ = sp;
    by_call_ = !signal_frame;
  }

  bool is_loop(target_address pc, target_address sp) {
    const std::pair interrupted{pc, sp};
    if (std::find(interrupted_.begin(), interrupted_.end(), interrupted) != interrupted_.end()) return true;
    interrupted_.push_back(interrupted);
    return interrupted_.size() > most_signal_frames;
  }

  process_view& process_;
  const walk_options& options_;
  raw_stack stack_;
  target_address pc_;
  target_address sp_;
  bool by_call_ = false;
  bool ended_ = false;
  std::vector<std::pair<target_address, target_address>> interrupted_;  ///< what signals interrupted
};

}  // namespace

result<raw_stack> walk_stack(process_view& process, const thread_registers& thread, std::span<const std::byte> top,
                             const walk_options& options) {
  process.memory().begin(thread.sp, top);
  raw_stack stack = stack_walk{process, thread, options}.walk();
  if (auto failure = process.failure()) return fail(std::move(*failure));
  return stack;
}

}  // namespace mpiacq::unwinding
