// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The lists of one process: its communicators, and the group and the three queues of each.
#include <utility>

#include <fmt/format.h>

#include "library/mqs_decoding.hpp"
#include "library/session_state.hpp"

namespace mpiacq::mqd_host {

namespace {
std::string title(const queue_communicator& c) {
  return c.name.empty() ? fmt::format("communicator {:#x}", c.id) : fmt::format("communicator {}", c.name);
}
}  // namespace

// The document declares the function void; the headers of Open MPI and MPICH declare it int. The register of a void
// function's result holds no code. Both libraries return an error only after a failed allocation, which is reported
// separately. So no result ends the list.
void session_run::update_communicators() {
  constexpr auto entry = entry_point::update_communicator_list;
  const int left = call<abi::of_process>(entry, process_handle());
  if (left >= abi::first_own) callbacks_.note(failure(entry, left).message);
}

void session_run::list_communicators() {
  if (is_over()) return;
  update_communicators();
  if (is_over()) return;
  auto last = entry_point::setup_communicator_iterator;
  int code = call<abi::of_process>(last, process_handle());
  if (code == abi::no_information) return callbacks_.note("the library has no information on communicators");
  for (std::uint32_t count = 0; code == abi::ok && !is_over(); ++count) {
    if (count == limits_.communicators) {
      return callbacks_.problem(
          {error_code::limit, fmt::format("the library lists more than {} communicators", limits_.communicators)});
    }
    if (!list_communicator()) return;
    // Not called again after the end: libraries follow a null pointer there.
    last = entry_point::next_communicator;
    code = call<abi::of_process>(last, process_handle());
  }
  if (code != abi::ok && code != abi::end_of_list) callbacks_.problem(failure(last, code));
}

bool session_run::list_communicator() {
  communicator_.prefill();
  const int code = call<abi::get_communicator>(entry_point::get_communicator, process_handle(), communicator_.data());
  if (wrote_beyond(communicator_, sizeof(abi::communicator), entry_point::get_communicator)) return false;
  if (code != abi::ok) {
    callbacks_.problem(failure(entry_point::get_communicator, code));
    return false;
  }
  auto c = decode_communicator(communicator_);
  if (!c) {
    callbacks_.problem(std::move(c.error()));
    return false;
  }
  if (!take_group(*c)) return false;
  sink_.communicator(queue_communicator(*c));
  for (const queue_class which : all_queue_classes) {
    if (is_over() || !list_queue(which, *c)) return false;
  }
  return !is_over();
}

bool session_run::take_group(queue_communicator& c) {
  if (!library_.has(entry_point::get_comm_group) || c.size == 0 || is_over()) return true;
  if (c.size > static_cast<std::int64_t>(limits_.group_size)) {
    callbacks_.problem({error_code::limit, fmt::format("the library gives {} {} ranks; the limit is {}", title(c),
                                                       c.size, limits_.group_size)});
    return true;
  }
  const auto size = static_cast<std::size_t>(c.size);
  filled_area area(size * sizeof(int));
  const int code =
      call<abi::get_comm_group>(entry_point::get_comm_group, process_handle(), static_cast<int*>(area.data()));
  if (wrote_beyond(area, size * sizeof(int), entry_point::get_comm_group)) return false;
  if (code == abi::ok) {
    c.group = decode_group(area, size);
  } else if (code != abi::no_information) {
    callbacks_.note(fmt::format("{}: {}", title(c), failure(entry_point::get_comm_group, code).message));
  }
  return true;
}

bool session_run::list_queue(queue_class which, const queue_communicator& of) {
  sink_.queue_begins(which);
  const int code = call<abi::setup_operation_iterator>(entry_point::setup_operation_iterator, process_handle(),
                                                       static_cast<int>(which));
  bool stop = false;
  auto known = queue_knowledge::failed;
  if (code == abi::ok) {
    known = list_operations(which, of, stop);
  } else if (code == abi::end_of_list) {
    known = queue_knowledge::complete;
  } else if (code == abi::no_information) {
    known = queue_knowledge::none;
  } else {
    callbacks_.problem(failure(entry_point::setup_operation_iterator, code)
                           .while_doing(fmt::format("{} of {}", name(which), title(of))));
  }
  sink_.queue_ends(which, known);
  return !stop;
}

queue_knowledge session_run::list_operations(queue_class which, const queue_communicator& of, bool& stop) {
  const auto spoilt = [&](error e, std::uint64_t listed) {
    callbacks_.problem(std::move(e).while_doing(fmt::format("{} of {}", name(which), title(of))));
    return listed == 0 ? queue_knowledge::failed : queue_knowledge::cut_short;
  };
  for (std::uint64_t listed = 0;; ++listed) {
    if (is_over()) {
      stop = true;
      return queue_knowledge::cut_short;
    }
    if (operations_ == limits_.operations) {
      stop = true;
      return spoilt({error_code::limit,
                     fmt::format("the library lists more than {} operations of the process", limits_.operations)},
                    operations_);
    }
    operation_.prefill();
    const int code = call<abi::next_operation>(entry_point::next_operation, process_handle(), operation_.data());
    if (wrote_beyond(operation_, sizeof(abi::operation) + abi::longer_operation_by, entry_point::next_operation)) {
      stop = true;
      return queue_knowledge::cut_short;
    }
    if (code == abi::end_of_list) return queue_knowledge::complete;
    if (code == abi::no_information && listed == 0) return queue_knowledge::none;
    if (code != abi::ok) return spoilt(failure(entry_point::next_operation, code), listed);
    longer_operations_ = longer_operations_ || is_longer_operation(operation_, which);
    auto op = decode_operation(operation_, which, longer_operations_, of);
    // After such an operation, the position of the library's iterator is unknown, and the rest of the list too.
    if (!op) return spoilt(std::move(op.error()), listed);
    ++operations_;
    sink_.operation(std::move(*op));
  }
}

}  // namespace mpiacq::mqd_host
