// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "call_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "calls/mpi_arguments.hpp"
#include "calls/mpi_function.hpp"
#include "calls/mpi_parameters.hpp"
#include "columns/target_integer.hpp"
#include "errors/try.hpp"
#include "handles/process_handles.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/queues/mpi_call.hpp"
#include "objects/mpich_requests.hpp"
#include "objects/openmpi_called_communicator.hpp"
#include "objects/openmpi_requests.hpp"

namespace mpiacq {

namespace {

/// The MPI function that the program has called.
struct called_function {
  mpi_function function;
  std::size_t frame = 0;  ///< of the stack as it was walked: inlined functions do not count
};

bool may_wait_for_requests(mpi_call_kind kind) {
  return kind == mpi_call_kind::wait_one || kind == mpi_call_kind::wait_all || kind == mpi_call_kind::wait_any ||
         kind == mpi_call_kind::test;
}
bool names_requests(const mpi_function& function) {
  return function.call != nullptr && may_wait_for_requests(function.call->kind);
}

std::optional<called_function> called_by_program(const thread_stack& thread) {
  std::optional<called_function> outermost;
  std::size_t frame = 0;
  for (const stack_frame& one : thread.frames) {
    const std::string name = called_function_name(one.place->function, one.place->module_path);
    if (!name.empty() && activity_in(name).kind != mpi_call_kind::none) {
      // A function that was inlined was not called.
      outermost.reset();
      auto function = one.inlined ? std::nullopt : mpi_function_named(name);
      // A compiler may leave out parameters of an inner function. Requests confirm themselves; other arguments do not.
      if (function && (name == one.place->function || names_requests(*function)))
        outermost = called_function{std::move(*function), frame};
    }
    if (!one.inlined) ++frame;
  }
  return outermost;
}

/// The number of these bytes in memory; empty if they cannot be read.
std::optional<std::uint64_t> number_at(std::uint64_t address, std::size_t bytes, memory_reader& memory) {
  std::array<std::byte, sizeof(std::uint64_t)> room{};
  memory_range range{target_address{address}, std::span{room}.first(bytes)};
  if (!memory.read_ranges({&range, 1}) || range.got != bytes) return std::nullopt;
  // Only calls of this machine's code are followed, and all such machines are little-endian.
  return load_integer<byte_order::little, sizeof(std::uint64_t)>(room.data());
}

/// The value of a parameter: what was passed, or what lies behind the address that was passed.
found_argument value_of(const call_argument& passed, std::size_t bytes_behind, memory_reader& memory) {
  if (!passed.is_known()) return {};
  if (bytes_behind == 0) return {passed.value, true, passed.bits, passed.source};
  const bool is_address = passed.bits == 64;
  const auto behind = is_address ? number_at(passed.value, bytes_behind, memory) : std::nullopt;
  return behind ? found_argument{*behind, true, 64, passed.source} : found_argument{};
}

}  // namespace

result<process_handles> call_reader::handles_of(process_id pid, memory_reader& memory) {
  const auto code = stacks_.code_of(pid);
  if (auto known = known_.find(code)) return std::move(*known);
  const auto symbols = TRY(process_symbols::open(pid, memory, search_));
  const target_abi abi = symbols->abi();
  target stopped{memory, nullptr, abi, *symbols};
  auto handles = TRY(find_process_handles(stopped));
  if (types_ != nullptr) {
    const auto types = types_->of(*symbols, memory);
    if (types) find_layouts(stopped, **types, handles);
  }
  known_.learn(code, handles);
  return handles;
}

read_call call_reader::read(const thread_stack& thread) {
  const auto called = called_by_program(thread);
  if (!called || called->function.call == nullptr) return {};
  const auto parameters = parameters_of(called->function.call->parameters);
  const auto passed = stacks_.arguments(thread.process, thread.thread, called->frame, parameters.size());
  const bool has_any = passed && std::any_of(passed->arguments.begin(), passed->arguments.end(),
                                             [](const call_argument& one) { return one.is_known(); });
  if (!has_any) return {};
  process_memory memory(thread.process);
  page_cache cache(memory);
  const auto handles = handles_of(thread.process, cache);
  if (!handles) return {};
  const handle_context context = handles->context(called->function.language);
  std::vector<found_argument> found;
  for (std::size_t i = 0; i < std::min(parameters.size(), passed->arguments.size()); ++i) {
    found.push_back(value_of(passed->arguments[i], bytes_behind(parameters[i], called->function, context), cache));
  }
  read_call made{explain_arguments(called->function, found, context), {}, {}};
  if (names_requests(called->function)) {
    made.requests = read_openmpi_requests(made.arguments, *handles, called->function.language, cache);
    if (!made.requests) {
      made.requests = read_mpich_requests(made.arguments, *handles, called->function.language, cache);
    }
  }
  made.on = read_openmpi_communicator(made.arguments, *handles, called->function.language, cache);
  if (made.on) groups_.share(made.on->facts);
  return made;
}

}  // namespace mpiacq
