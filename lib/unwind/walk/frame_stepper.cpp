// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "walk/frame_stepper.hpp"

#include <libunwind.h>

#include "arch/unwind_arch.hpp"

// The library exports this function and declares it in none of its headers. perf declares it in the same way.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t*, unw_proc_info_t*, int,
                                                  void*);

namespace mpiacq::unwinding {

namespace {

/// libunwind gets a search table of one entry. It lies at an address where no process has memory.
constexpr unw_word_t only_entry = 0xfffffffffffff000;

/// The limit on the words that one step reads. No compiler makes a record whose evaluation takes more.
constexpr std::size_t most_words_a_step = 200000;

}  // namespace

struct frame_stepper::state {
  stepper_view& view;
  unw_addr_space_t space = nullptr;
  unw_cursor_t cursor{};
  thread_registers initial{};
  std::optional<record_address> record{};
  std::uint64_t entry = 0;      ///< the word at `only_entry`
  bool reading_record = false;  ///< the current reads are reads of the tables, including the personality routine
  std::size_t words = 0;        ///< read in this step
  bool unreadable = false;
  target_address unreadable_at{};

  explicit state(stepper_view& v) : view(v) {}
  static unw_accessors_t accessors();
  static state& of(void* argument) { return *static_cast<state*>(argument); }
  int find_record(unw_addr_space_t as, unw_word_t pc, unw_proc_info_t* into, int with_program);
  int read_word(unw_word_t address, unw_word_t* into);
  /// False: the tables do not restore the register.
  [[nodiscard]] bool read(std::size_t number, unw_word_t& value) const;
  [[nodiscard]] unw_word_t get(std::size_t number) const;
};

/// The record must cover `pc`.
int frame_stepper::state::find_record(unw_addr_space_t as, unw_word_t pc, unw_proc_info_t* into, int with_program) {
  if (!record) return -UNW_ENOINFO;
  // The entry has two signed halves: the distances of the code and of the record from the segment base. The address of
  // the code serves as the segment base.
  const auto distance = static_cast<std::int64_t>(record->record - record->code_begin);
  if (distance != static_cast<std::int32_t>(distance)) return -UNW_EINVAL;
  entry = static_cast<std::uint64_t>(static_cast<std::uint32_t>(distance)) << 32;

  unw_dyn_info_t table{};
  table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  table.start_ip = record->code_begin.value();
  table.end_ip = record->code_end.value();
  table.u.rti.segbase = record->code_begin.value();
  table.u.rti.table_len = 1;
  table.u.rti.table_data = only_entry;
  reading_record = true;
  const int answer = UNW_OBJ(dwarf_search_unwind_table)(as, pc, &table, into, with_program, this);
  reading_record = false;
  // If the answer were "no information", libunwind would guess along the frame pointers.
  return answer == -UNW_ENOINFO ? -UNW_EINVAL : answer;
}

int frame_stepper::state::read_word(unw_word_t address, unw_word_t* into) {
  if (++words > most_words_a_step) return -UNW_EINVAL;
  if (reading_record && address == only_entry) {
    *into = entry;
    return 0;
  }
  if (const auto word = view.table_word(target_address{address})) {
    *into = *word;
    return 0;
  }
  if (reading_record) {
    // The pointer to the personality routine leads out of the tables. Unwinding does not need that routine.
    *into = 0;
    return 0;
  }
  if (const auto word = view.word(target_address{address})) {
    *into = *word;
    return 0;
  }
  unreadable = true;
  unreadable_at = target_address{address};
  return -UNW_EINVAL;
}

unw_accessors_t frame_stepper::state::accessors() {
  unw_accessors_t a{};
  a.find_proc_info = [](unw_addr_space_t as, unw_word_t pc, unw_proc_info_t* into, int with_program, void* argument) {
    return of(argument).find_record(as, pc, into, with_program);
  };
  // libunwind frees only the results of its own search.
  a.put_unwind_info = [](unw_addr_space_t, unw_proc_info_t*, void*) {};
  a.get_dyn_info_list_addr = [](unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; };
  a.access_mem = [](unw_addr_space_t, unw_word_t address, unw_word_t* word, int write, void* argument) {
    return write != 0 ? -UNW_EINVAL : of(argument).read_word(address, word);
  };
  a.access_reg = [](unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void* argument) {
    if (write != 0 || number < 0 || static_cast<std::size_t>(number) >= arch::native().register_count)
      return -UNW_EBADREG;
    *value = of(argument).initial.by_dwarf_number[static_cast<std::size_t>(number)];
    return 0;
  };
  a.access_fpreg = [](unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) { return -UNW_EINVAL; };
  a.resume = [](unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; };
  a.get_proc_name = [](unw_addr_space_t, unw_word_t, char*, std::size_t, unw_word_t*, void*) { return -UNW_EINVAL; };
  return a;
}

bool frame_stepper::state::read(std::size_t number, unw_word_t& value) const {
  // libunwind does not change a cursor when it reads a register.
  auto* const at = const_cast<unw_cursor_t*>(&cursor);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return unw_get_reg(at, static_cast<unw_regnum_t>(number), &value) == 0;
}

unw_word_t frame_stepper::state::get(std::size_t number) const {
  unw_word_t value = 0;
  (void)read(number, value);
  return value;
}

frame_stepper::frame_stepper(std::unique_ptr<state> s) : state_(std::move(s)) {}

frame_stepper::~frame_stepper() {
  unw_destroy_addr_space(state_->space);
}

result<std::unique_ptr<frame_stepper>> frame_stepper::create(stepper_view& view) {
  auto s = std::make_unique<state>(view);
  unw_accessors_t a = state::accessors();
  s->space = unw_create_addr_space(&a, 0);
  if (s->space == nullptr) return fail(error_code::system, "libunwind cannot make an address space");
  return std::unique_ptr<frame_stepper>(new frame_stepper(std::move(s)));
}

bool frame_stepper::begin(const thread_registers& registers, bool by_call) {
  state& s = *state_;
  s.initial = registers;
  s.initial.by_dwarf_number[arch::native().sp_number] = registers.sp.value();
  s.initial.by_dwarf_number[arch::native().pc_number] = registers.pc.value() - (by_call ? 1 : 0);
  s.record.reset();
  s.words = 0;
  return unw_init_remote(&s.cursor, s.space, &s) == 0;
}

step_result frame_stepper::step(const std::optional<record_address>& record) {
  state& s = *state_;
  s.record = record;
  s.words = 0;
  s.unreadable = false;
  const int answer = unw_step(&s.cursor);
  if (answer > 0) return step_result::stepped;
  // libunwind may report the end of the stack when a read has failed.
  if (s.unreadable) return step_result::unreadable;
  return answer == 0 ? step_result::outermost : step_result::refused;
}

target_address frame_stepper::pc() const {
  return target_address{state_->get(arch::native().pc_number)};
}

target_address frame_stepper::sp() const {
  return target_address{state_->get(arch::native().sp_number)};
}

bool frame_stepper::knows(std::size_t number) const {
  unw_word_t value = 0;
  return state_->read(number, value);
}

target_address frame_stepper::unreadable_at() const {
  return state_->unreadable_at;
}

thread_registers frame_stepper::registers() const {
  thread_registers r = state_->initial;
  for (std::size_t i = 0; i < arch::native().register_count; ++i) r.by_dwarf_number[i] = state_->get(i);
  r.pc = pc();
  r.sp = sp();
  return r;
}

}  // namespace mpiacq::unwinding
