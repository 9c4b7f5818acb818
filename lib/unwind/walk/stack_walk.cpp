// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "walk/stack_walk.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::unwinding {

result<void> process_view::prepare() {
  if (stepper_ != nullptr) return {};
  auto made = TRY(frame_stepper::create(*this));
  stepper_ = std::move(made);
  return {};
}

process_code::place process_view::enter(target_address pc) {
  const process_code::place found = code_.at(pc);
  current_ = found.frame == nullptr ? nullptr : found.home;
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

/// Interrupted code may be on any stack, so only a limit on their number bounds the frames that signals have pushed.
constexpr std::size_t most_signal_frames = 1000;

/// Steps by the plain rules of each place. The walk gives up at a place without plain rules, unless libunwind does not
/// support this code: then all rules of the place are followed.
class by_rules {
 public:
  explicit by_rules(process_view& process) : process_(process), stepper_(process.rules()) {}
  [[nodiscard]] bool begin(const thread_registers& registers, bool by_call) {
    stepper_.begin(registers, by_call);
    return true;
  }
  [[nodiscard]] std::optional<step_result> step(const process_code::place& place, target_address pc) {
    if (place.frame != nullptr && place.frame->rule) return stepper_.step(*place.frame->rule);
    if (process_.machine().has_libunwind) return std::nullopt;
    const auto all = place.frame == nullptr ? std::nullopt : process_.row_at(place, pc);
    return all ? stepper_.step(all->row) : step_result::refused;
  }
  [[nodiscard]] rule_stepper& now() { return stepper_; }

 private:
  process_view& process_;
  rule_stepper& stepper_;
};

/// Steps by libunwind, which follows every kind of rule.
class by_libunwind {
 public:
  explicit by_libunwind(process_view& process) : stepper_(process.stepper()) {}
  [[nodiscard]] bool begin(const thread_registers& registers, bool by_call) {
    return stepper_.begin(registers, by_call);
  }
  [[nodiscard]] std::optional<step_result> step(const process_code::place& place, target_address) {
    if (place.frame == nullptr) return stepper_.step(std::nullopt);
    const known_frame& frame = *place.frame;
    const std::uint64_t moved = place.home->facts.tables_begin - frame.tables_begin;
    return stepper_.step(record_address{place.home->facts.tables_begin + frame.covers.position,
                                        frame.covers.begin + moved, frame.covers.end + moved});
  }
  [[nodiscard]] frame_stepper& now() { return stepper_; }

 private:
  frame_stepper& stepper_;
};

template <class Stepper>
class stack_walk {
 public:
  stack_walk(process_view& process, const thread_registers& thread, const walk_options& options)
      : process_(process),
        machine_(process.machine()),
        stepper_(process),
        options_(options),
        pc_(thread.pc),
        sp_(thread.sp) {
    stack_.thread = thread.thread;
    if (!stepper_.begin(thread, false)) end(stack_end::no_unwind_info, "the registers are not all known");
  }

  /// Empty: this stack needs another stepper.
  std::optional<raw_stack> walk(frame_registers* next) {
    const std::size_t most = std::max<std::size_t>(options_.max_frames, 1);
    while (!ended_) {
      if (stack_.frames.size() == most) {
        if (next != nullptr) *next = registers_now();
        end(stack_end::frame_limit, fmt::format("more than {} frames: the next is at {:#x}", most, pc_.value()));
        break;
      }
      stack_.frames.push_back({pc_, by_call_, false, sp_});
      leave_frame();
    }
    if (gave_up_) return std::nullopt;
    return std::move(stack_);
  }

 private:
  [[nodiscard]] frame_registers registers_now() {
    frame_registers now{stepper_.now().registers()};
    for (std::size_t i = 0; i < machine_.register_count; ++i) {
      if (stepper_.now().knows(i)) now.known |= std::uint64_t{1} << i;
    }
    return now;
  }

  void end(stack_end how, std::string why) {
    stack_.end = how;
    stack_.why = std::move(why);
    ended_ = true;
  }

  void leave_frame() {
    const target_address instruction = by_call_ ? pc_ - 1 : pc_;
    const process_code::place place = process_.enter(instruction);
    if (place.frame == nullptr) return leave_unknown_code(place);
    step(place, instruction, place.frame->covers.signal_frame);
  }

  /// The results that need no tables.
  void leave_unknown_code(const process_code::place& place) {
    const bool in_module = place.home != nullptr;
    const auto code = process_.code_at(pc_);
    if (machine_.is_signal_return(code)) return step(place, pc_, true);
    // A return address never points to such code.
    if (!by_call_ && (code.empty() || machine_.is_jump_stub(code))) return undo_call();
    end(stack_end::no_unwind_info,
        in_module ? fmt::format("no unwind information for {:#x} in {}", pc_.value(), place.home->facts.file->path)
                  : fmt::format("no unwind information for {:#x}, which is in no module", pc_.value()));
  }

  void undo_call() {
    thread_registers registers = stepper_.now().registers();
    auto undone = machine_.undo_call(registers, process_.memory().pages());
    if (!undone) {
      process_.memory().failure() = std::move(undone).error();
      return end(stack_end::unreadable_memory, {});
    }
    if (!*undone || !stepper_.begin(registers, true)) {
      return end(stack_end::no_unwind_info,
                 fmt::format("there is no code at {:#x}, and its caller is not known", pc_.value()));
    }
    pc_ = registers.pc;
    sp_ = registers.sp;
    by_call_ = true;
    if (pc_.is_null()) end(stack_end::outermost, {});
  }

  void step(const process_code::place& place, target_address instruction, bool signal_frame) {
    stack_.frames.back().signal_frame = signal_frame;
    const target_address below = sp_;
    const std::optional<step_result> stepped = stepper_.step(place, instruction);
    if (!stepped) {
      gave_up_ = ended_ = true;
      return;
    }
    step_result how = *stepped;
    const target_address pc = stepper_.now().pc();
    const target_address sp = stepper_.now().sp();
    // Some thread start functions have a return address of 0, which marks the end of the stack. Code that a signal
    // interrupted may really have called address 0.
    if (how == step_result::stepped && !signal_frame && pc.is_null()) how = step_result::outermost;
    if (how == step_result::outermost && signal_frame && pc.is_null() && !sp.is_null()) how = step_result::stepped;
    switch (how) {
      case step_result::outermost:
        return end(stack_end::outermost, {});
      case step_result::unreadable:
        return end(stack_end::unreadable_memory,
                   fmt::format("the caller of {:#x} is on memory at {:#x} that cannot be read", pc_.value(),
                               stepper_.now().unreadable_at().value()));
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
  const architecture& machine_;
  Stepper stepper_;
  const walk_options& options_;
  raw_stack stack_;
  target_address pc_;
  target_address sp_;
  bool by_call_ = false;
  bool ended_ = false;
  bool gave_up_ = false;
  std::vector<std::pair<target_address, target_address>> interrupted_;  ///< the code that signals interrupted
};

}  // namespace

result<raw_stack> walk_stack(process_view& process, const thread_registers& stopped, std::span<const std::byte> top,
                             const walk_options& options, frame_registers* next) {
  const thread_registers thread = process.machine().registers_of(stopped);
  process.memory().begin(thread.sp, top);
  auto stack = stack_walk<by_rules>{process, thread, options}.walk(next);
  if (!stack) {
    TRY(process.prepare());
    // The walk starts again from the first frame, so that libunwind has the state of every frame.
    process.memory().begin(thread.sp, top);
    stack = stack_walk<by_libunwind>{process, thread, options}.walk(next);
  }
  if (auto failure = process.failure()) return fail(std::move(*failure));
  return std::move(*stack);
}

}  // namespace mpiacq::unwinding
