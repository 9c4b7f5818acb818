// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/mpich_requests.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mpiacq {

namespace {

using purpose = mpi_request_kind;

/// What MPIR_Request_kind_t says of a request.
struct request_sort {
  std::string_view name;  ///< behind "MPIR_REQUEST_KIND__"
  purpose what;
  bool persistent = false;
  bool is_send = false;
  bool is_receive = false;
};
constexpr std::array<request_sort, 10> sorts = {{
    {"SEND", purpose::point_to_point, false, true, false},
    {"RECV", purpose::point_to_point, false, false, true},
    {"PREQUEST_SEND", purpose::point_to_point, true, true, false},
    {"PREQUEST_RECV", purpose::point_to_point, true, false, true},
    {"PREQUEST_COLL", purpose::collective, true},
    {"PART_SEND", purpose::partitioned, true},
    {"PART_RECV", purpose::partitioned, true},
    {"PART", purpose::partitioned, true},
    {"COLL", purpose::collective},
    {"RMA", purpose::window},
}};

/// Null if the number has no name, or if requests of this sort are not understood.
const request_sort* sort_of(std::uint64_t number, const std::vector<enumerator>& kinds) {
  constexpr std::string_view beginning = "MPIR_REQUEST_KIND__";
  const auto named = std::find_if(kinds.begin(), kinds.end(), [&](const enumerator& one) {
    return one.value >= 0 && static_cast<std::uint64_t>(one.value) == number;
  });
  if (named == kinds.end() || !named->name.starts_with(beginning)) return nullptr;
  const std::string_view name = std::string_view{named->name}.substr(beginning.size());
  const auto sort = std::find_if(sorts.begin(), sorts.end(), [&](const request_sort& one) { return one.name == name; });
  return sort == sorts.end() ? nullptr : &*sort;
}

/// A communicator whose object is confirmed.
struct known_communicator {
  target_address object;
  std::uint64_t send_id = 0, receive_id = 0;
  std::int64_t peers = 0;  ///< the number of ranks that an operation can name
  std::string name;        ///< of a predefined one
};

class mpich_reader {
 public:
  mpich_reader(const process_handles& handles, memory_reader& memory)
      : handles_(handles),
        where_(*handles.mpich),
        objects_(memory, handles.machine(), where_),
        constants_(*constants_of(mpi_abi::mpich)),
        context_(handles.context(mpi_language::c)),
        requests_(places(mpich_request_tables, mpich_predefined_requests)),
        communicators_(places(mpich_communicator_table, mpich_communicators)) {}

  [[nodiscard]] bool is_ready() const { return requests_.has_value(); }
  void add_unknown(std::uint64_t count) { found_.unknown += count; }
  [[nodiscard]] awaited_requests take() { return std::move(found_); }

  void add(std::uint64_t handle_value) {
    if (meaning_of_handle(mpi_handle_kind::request, handle_value, context_).is_null) {
      ++found_.complete;
      return;
    }
    const auto request = objects_.request(handle_value, *requests_);
    const auto counter_at = request ? objects_.number(*request, where_.request.counter_at) : std::nullopt;
    const auto count = counter_at ? count_at(target_address{*counter_at}) : std::nullopt;
    if (!count || *count < 0) return add_unknown(1);
    // A complete request may be of any kind.
    if (*count == 0) {
      ++found_.complete;
      return;
    }
    auto pending = pending_at(*request, target_address{*counter_at});
    pending ? count_in(std::move(*pending)) : add_unknown(1);
  }

 private:
  [[nodiscard]] std::optional<mpich_places> places(std::string_view tables, std::string_view predefined) const {
    const auto begin = handles_.address_of(tables);
    return begin ? std::optional{mpich_places{*begin, handles_.address_of(predefined)}} : std::nullopt;
  }
  /// The number of things that must happen before a request is complete.
  [[nodiscard]] std::optional<std::int64_t> count_at(target_address counter) {
    return objects_.signed_number(counter, {0, where_.request.counter.size});
  }

  [[nodiscard]] std::optional<pending_requests> pending_at(target_address request, target_address counter) {
    const auto found_kind = objects_.number(request, where_.request.kind);
    const request_sort* sort = found_kind ? sort_of(*found_kind, where_.request.kinds) : nullptr;
    if (sort == nullptr) return std::nullopt;
    // A persistent request that was started shows the counter of another request, which is the operation.
    const target_address begun{counter.value() - where_.request.counter.offset};
    if (begun != request && !(sort->persistent && is_request(begun))) return std::nullopt;
    pending_requests one{sort->what, sort->persistent, std::nullopt, "", 1};
    const auto on = communicator_of(begun);
    if (!on) return one;
    one.communicator = on->receive_id;
    one.communicator_name = on->name;
    if (sort->is_send || sort->is_receive) one.message = message_of(begun, sort->is_send, *on);
    return one;
  }
  [[nodiscard]] bool is_request(target_address object) {
    const auto own_handle = objects_.number(object, where_.request.handle);
    return own_handle && objects_.request(*own_handle, *requests_) == object;
  }

  [[nodiscard]] std::optional<known_communicator> communicator_of(target_address request) {
    const auto object = objects_.number(request, where_.request.communicator);
    return object ? communicator_at(target_address{*object}) : std::nullopt;
  }
  [[nodiscard]] std::optional<known_communicator> communicator_at(target_address object) {
    const mpich_communicator_fields& in = where_.communicator;
    const auto own_handle = objects_.number(object, in.handle);
    if (!own_handle || !communicators_ || objects_.communicator(*own_handle, *communicators_) != object)
      return std::nullopt;
    const auto send_id = objects_.number(object, in.send_id), receive_id = objects_.number(object, in.receive_id);
    const auto peers = objects_.signed_number(object, in.peers);
    if (!send_id || !receive_id || !peers || *peers <= 0) return std::nullopt;
    return known_communicator{object, *send_id, *receive_id, *peers,
                              meaning_of_handle(mpi_handle_kind::communicator, *own_handle, context_).name};
  }

  /// Empty if MPICH does not keep it in the request, or if it is not plausible.
  [[nodiscard]] std::optional<request_message> message_of(target_address request, bool is_send,
                                                          const known_communicator& on) {
    if (!where_.message) return std::nullopt;
    const auto tag = objects_.signed_number(request, where_.message->tag);
    const auto rank = objects_.signed_number(request, where_.message->rank);
    const auto id = objects_.number(request, where_.message->id);
    // A message of a collective operation has another id than its communicator.
    if (!tag || !rank || id != (is_send ? on.send_id : on.receive_id)) return std::nullopt;
    request_message made{is_send, std::nullopt, std::nullopt, std::nullopt};
    if (*rank >= 0 && *rank < on.peers) {
      made.peer = *rank;
      made.world_rank = world_rank_of(*rank, on);
    } else if (is_send || *rank != constants_.any_source) {
      return std::nullopt;
    }
    if (*tag >= 0) {
      made.tag = *tag;
    } else if (is_send || *tag != constants_.any_tag) {
      return std::nullopt;
    }
    return made;
  }

  /// The process behind a rank of a communicator.
  struct process_in_group {
    std::uint64_t group = 0;
    std::int64_t rank = 0;
  };
  [[nodiscard]] std::optional<process_in_group> process_of(std::int64_t rank, const known_communicator& on) {
    if (!where_.processes) return std::nullopt;
    const mpich_process_fields& in = *where_.processes;
    const auto table = objects_.number(on.object, in.of_communicator);
    const auto count = table ? objects_.signed_number(target_address{*table}, in.count) : std::nullopt;
    if (!count || rank >= *count) return std::nullopt;
    const std::uint64_t width = handles_.machine().pointer_size;
    const auto process =
        objects_.number(target_address{*table}, {in.first.offset + static_cast<std::uint64_t>(rank) * width, width});
    const auto group = process ? objects_.number(target_address{*process}, in.group) : std::nullopt;
    const auto its_rank = group ? objects_.signed_number(target_address{*process}, in.rank_in_group) : std::nullopt;
    return its_rank ? std::optional{process_in_group{*group, *its_rank}} : std::nullopt;
  }
  /// All processes of MPI_COMM_WORLD are one group.
  [[nodiscard]] std::optional<std::uint32_t> world_rank_of(std::int64_t rank, const known_communicator& on) {
    if (on.name == "MPI_COMM_WORLD") return static_cast<std::uint32_t>(rank);
    const auto process = process_of(rank, on);
    const auto world = communicators_->predefined ? communicator_at(*communicators_->predefined) : std::nullopt;
    const auto first = world && world->name == "MPI_COMM_WORLD" ? process_of(0, *world) : std::nullopt;
    if (!process || !first || process->group != first->group) return std::nullopt;
    if (process->rank < 0 || process->rank >= world->peers) return std::nullopt;
    return static_cast<std::uint32_t>(process->rank);
  }

  /// `one` is one request.
  void count_in(pending_requests one) {
    for (pending_requests& seen : found_.pending) {
      one.count = seen.count;
      if (seen != one) continue;
      ++seen.count;
      return;
    }
    if (found_.pending.size() == most_kinds_of_requests) return add_unknown(1);
    one.count = 1;
    found_.pending.push_back(std::move(one));
  }

  const process_handles& handles_;
  const mpich_objects& where_;
  mpich_object_reader objects_;
  const mpi_constants& constants_;
  handle_context context_;
  std::optional<mpich_places> requests_, communicators_;
  awaited_requests found_;
};

}  // namespace

std::optional<awaited_requests> read_mpich_requests(std::span<const mpi_argument> arguments,
                                                    const process_handles& handles, mpi_language language,
                                                    memory_reader& memory) {
  if (handles.abi != mpi_abi::mpich || !handles.mpich) return std::nullopt;
  const std::size_t width = handle_bytes(mpi_handle_kind::request, handles.context(language));
  const auto named = named_by(arguments, width, handles.machine(), memory);
  mpich_reader reader(handles, memory);
  if (!named || !reader.is_ready()) return std::nullopt;
  for (const std::uint64_t one : named->handles) reader.add(one & UINT32_MAX);
  reader.add_unknown(named->beyond);
  return reader.take();
}

}  // namespace mpiacq
