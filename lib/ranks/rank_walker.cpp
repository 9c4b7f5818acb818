// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rank_walker.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "descriptors/if_plenty_are_left.hpp"
#include "errors/try.hpp"
#include "proc/proc_text.hpp"

namespace mpiacq {

namespace {

/// A process can unload a library and load another one of the same size. Within this time the change would stay
/// unnoticed.
constexpr std::chrono::seconds modules_are_trusted{1};

}  // namespace

rank_walker::rank_walker(process_id pid, std::shared_ptr<unwind_tables> tables,
                         std::shared_ptr<module_catalogue> modules)
    : pid_(pid), tables_(std::move(tables)), modules_(std::move(modules)), memory_(pid) {}

rank_walker::image rank_walker::image_now() {
  if (!stat_) stat_ = base::unique_fd{::open(fmt::format("/proc/{}/stat", pid_.value()).c_str(), O_RDONLY | O_CLOEXEC)};
  std::array<char, most_of_stat> text{};
  const ssize_t got = ::pread(stat_.get(), text.data(), text.size(), 0);
  const auto stat = parse_process_stat({text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
  // A job can have more ranks on this node than this program can have descriptors.
  stat_ = base::if_plenty_are_left(std::move(stat_));
  return stat ? image{{stat->code_begin, stat->code_end, stat->stack_begin}, stat->memory_size} : image{};
}

/// Most changes of the mappings concern the heap, and leave the modules as they are.
bool rank_walker::is_as_learnt() {
  image now = image_now();
  if (now == seen_ && clock::now() < look_again_) return true;
  if (now.stack_and_code != seen_.stack_and_code) return false;
  const auto code = read_code_ranges(pid_);
  if (!code || *code != code_) return false;
  seen_ = now;
  look_again_ = clock::now() + modules_are_trusted;
  return true;
}

result<void> rank_walker::learn_modules() {
  if (unwinder_ && is_as_learnt()) return {};
  unwinder_.reset();
  stat_.reset();  // the pid may belong to another process now
  memory_.forget();
  seen_ = image_now();
  auto loaded = TRY(modules_->learn(pid_, memory_));
  code_ = std::move(loaded.ranges);
  look_again_ = clock::now() + modules_are_trusted;
  std::vector<stack_copies::part> lasting;
  for (const unwind_module& m : loaded.modules.modules) lasting.push_back({m.begin, m.end});
  memory_.set_lasting(std::move(lasting));
  auto made = TRY(unwinder::create(loaded.modules.abi, tables_, std::move(loaded.modules.modules), memory_));
  map_ = std::move(loaded.names);
  unwinder_ = std::move(made);
  return {};
}

void rank_walker::prepare() {
  if (!unwinder_) (void)learn_modules();
}

result<void> rank_walker::copy(std::vector<thread_registers> threads, std::vector<std::byte>& room) {
  if (!unwinder_) {
    if (auto learnt = learn_modules(); !learnt) return learnt;
  }
  threads_ = std::move(threads);
  return memory_.copy(threads_, room);
}

result<std::optional<std::vector<raw_stack>>> rank_walker::walk(const walk_options& options) {
  if (!is_as_learnt()) return std::nullopt;
  auto walked = TRY(unwinder_->walk(threads_, options));
  if (memory_.missed()) return std::nullopt;
  return std::optional(std::move(walked));
}

result<std::vector<raw_stack>> rank_walker::walk_held(std::span<const thread_registers> threads,
                                                      const walk_options& options) {
  TRY(learn_modules());
  memory_.forget();
  threads_.assign(threads.begin(), threads.end());
  return unwinder_->walk(threads, options);
}

const thread_registers* rank_walker::registers_of(thread_id thread) const {
  const auto known =
      std::find_if(threads_.begin(), threads_.end(), [&](const thread_registers& one) { return one.thread == thread; });
  return known == threads_.end() ? nullptr : &*known;
}

std::optional<thread_registers> rank_walker::kept_registers(thread_id thread, std::size_t frame) {
  const thread_registers* known = registers_of(thread);
  if (unwinder_ == nullptr || known == nullptr) return std::nullopt;
  auto kept = unwinder_->kept_registers(*known, frame);
  return kept ? *kept : std::nullopt;
}

result<call_arguments> rank_walker::arguments(thread_id thread, std::size_t frame, std::size_t count,
                                              const find_call_description& describe,
                                              const find_parameter_places& places) {
  const thread_registers* known = registers_of(thread);
  if (unwinder_ == nullptr || known == nullptr) {
    return fail(error_code::not_found, fmt::format("the stack of thread {} was not walked", thread.value()));
  }
  return unwinder_->arguments(*known, frame, count, describe, places);
}

}  // namespace mpiacq
