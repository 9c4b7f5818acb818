// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/openmpi_requests.hpp"

#include <utility>
#include <vector>

namespace mpiacq {

namespace {

using purpose = mpi_request_kind;

/// ompi_request_type_t, the same numbers in Open MPI 4 to 6. The last one is new in Open MPI 5.
enum class request_type : std::uint8_t {
  pml,
  io,
  generalized,
  window,
  collective,
  null,
  no_operation,
  communicator,
  partitioned
};

std::optional<purpose> purpose_of(std::uint64_t type) {
  switch (static_cast<request_type>(type)) {
    case request_type::pml:
      return purpose::point_to_point;
    case request_type::io:
      return purpose::file;
    case request_type::generalized:
      return purpose::generalized;
    case request_type::window:
      return purpose::window;
    case request_type::collective:
      return purpose::collective;
    case request_type::communicator:
      return purpose::communicator;
    case request_type::partitioned:
      return purpose::partitioned;
    case request_type::null:
    case request_type::no_operation:
      break;
  }
  return std::nullopt;
}

/// req_state: inactive, active, cancelled. An object that is not in use is invalid (0).
bool is_state(std::uint64_t state) {
  return state >= 1 && state <= 3;
}
/// req_complete: 1 if the request is complete, 0 if it is not, or the address of what waits for it.
bool is_complete(std::uint64_t flag) {
  return flag == 1;
}
bool is_completion(std::uint64_t flag) {
  return flag <= 1 || (flag >= read_page_size && flag % sizeof(std::uint32_t) == 0);
}

/// One request that is pending.
struct pending_request {
  purpose what;
  bool persistent;
  std::uint64_t communicator;  ///< the address of its object; 0 if it has none
};

class request_reader {
 public:
  request_reader(const process_handles& handles, const target_abi& abi, memory_reader& memory)
      : handles_(handles),
        where_(*handles.layouts),
        objects_(memory, abi, where_),
        of_requests_(handles.address_of(request_class)),
        of_communicators_(handles.address_of(communicator_class)),
        numbers_(handles.address_of(fortran_requests)) {}

  [[nodiscard]] bool is_ready() const { return of_requests_.has_value(); }

  void add_number(std::uint64_t number) {
    const auto object = numbers_ ? objects_.entry(*numbers_, number) : std::nullopt;
    object ? add(*object) : add_unknown(1);
  }
  void add(target_address request) {
    if (!objects_.is_a(request, *of_requests_)) return add_unknown(1);
    const auto type = objects_.number(request, where_.request_type);
    const auto flag = objects_.number(request, where_.request_complete);
    const auto state = objects_.number(request, where_.request_state);
    const auto persistent = objects_.number(request, where_.request_persistent);
    if (!type || !flag || !state || !persistent || *persistent > 1) return add_unknown(1);
    if (*type > static_cast<std::uint64_t>(request_type::partitioned)) return add_unknown(1);
    if (!is_state(*state) || !is_completion(*flag)) return add_unknown(1);
    const auto what = purpose_of(*type);
    if (is_complete(*flag) || !what) {
      ++found_.complete;
      return;
    }
    add(pending_request{*what, *persistent == 1, communicator_of(request, *what)});
  }
  void add_unknown(std::uint64_t count) { found_.unknown += count; }

  [[nodiscard]] awaited_requests take() { return std::move(found_); }

 private:
  /// The address of the communicator's object; 0 if the request has none, or if it is not plausible.
  [[nodiscard]] std::uint64_t communicator_of(target_address request, purpose what) {
    if (what == purpose::file || what == purpose::window || what == purpose::generalized || !of_communicators_)
      return 0;
    const auto object = objects_.number(request, where_.request_object);
    return object && objects_.is_a(target_address{*object}, *of_communicators_) ? *object : 0;
  }

  void add(const pending_request& one) {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const bool same = seen_[i].what == one.what && seen_[i].persistent == one.persistent &&
                        seen_[i].communicator == one.communicator;
      if (!same) continue;
      ++found_.pending[i].count;
      return;
    }
    if (seen_.size() == most_kinds_of_requests) return add_unknown(1);
    seen_.push_back(one);
    found_.pending.push_back({one.what, one.persistent, id_of(one.communicator), name_of(one.communicator), 1});
  }
  [[nodiscard]] std::optional<std::uint64_t> id_of(std::uint64_t communicator) {
    return communicator == 0 ? std::nullopt : objects_.number(target_address{communicator}, where_.communicator_id);
  }
  [[nodiscard]] std::string name_of(std::uint64_t communicator) const {
    if (communicator == 0) return "";
    return meaning_of_handle(mpi_handle_kind::communicator, communicator, handles_.context(mpi_language::c)).name;
  }

  const process_handles& handles_;
  const openmpi_objects& where_;
  object_reader objects_;
  std::optional<target_address> of_requests_, of_communicators_, numbers_;
  std::vector<pending_request> seen_;  ///< in the order of `pending`
  awaited_requests found_;
};

}  // namespace

std::optional<awaited_requests> read_openmpi_requests(std::span<const mpi_argument> arguments,
                                                      const process_handles& handles, mpi_language language,
                                                      memory_reader& memory) {
  if (handles.abi != mpi_abi::openmpi || !handles.layouts) return std::nullopt;
  const target_abi abi = handles.machine();
  const std::size_t width = handle_bytes(mpi_handle_kind::request, handles.context(language));
  const auto named = named_by(arguments, width, abi, memory);
  request_reader reader(handles, abi, memory);
  if (!named || !reader.is_ready()) return std::nullopt;
  for (const std::uint64_t handle : named->handles) {
    language == mpi_language::fortran ? reader.add_number(handle) : reader.add(target_address{handle});
  }
  reader.add_unknown(named->beyond);
  return reader.take();
}

}  // namespace mpiacq
