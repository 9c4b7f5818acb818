// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpich_communicators.hpp"

#include "mpiacq/base/memory.hpp"

namespace mpiacq {

namespace {

constexpr std::uint64_t intercommunicator = 1;  ///< MPIR_COMM_KIND__INTERCOMM

/// The layout of MPIR_Comm, which was MPID_Comm before MPICH 3.3.
result<std::optional<structure_layout>> communicator_type(type_source& types) {
  auto found = types.type_named("MPIR_Comm", source_language::c);
  if (!found || *found) return found;
  return types.type_named("MPID_Comm", source_language::c);
}

std::optional<std::uint64_t> value_of(target& process, const structure_layout& type, target_address base,
                                      std::string_view name) {
  const structure_member* member = type.find(name);
  if (member == nullptr || member->size == 0 || member->size > sizeof(std::uint64_t)) return std::nullopt;
  const auto value =
      read_unsigned(process.memory, process.abi, base + member->offset, static_cast<std::size_t>(member->size));
  return value ? std::optional{*value} : std::nullopt;
}

}  // namespace

void look_at_mpich_communicators(target& process, type_source& types, queue_report& report) {
  if (report.communicators.empty()) return;
  constexpr std::string_view name = "MPIR_All_communicators";
  const auto found = process.symbols.look_up({&name, 1}, {true, nullptr});
  if (!found || !found->front()) return;
  const auto type = communicator_type(types);
  if (!type || !*type) return;
  for (queue_communicator& one : report.communicators) {
    const target_address at{one.id};
    const auto rank = value_of(process, **type, at, "rank");
    const auto context = value_of(process, **type, at, "recvcontext_id");
    const auto kind = value_of(process, **type, at, "comm_kind");
    if (!rank || !context || *rank != static_cast<std::uint64_t>(one.local_rank)) continue;
    one.id = *context;
    if (!kind) continue;
    if (*kind == intercommunicator) {
      make_inter(one, {});
    } else if (!one.is_inter) {
      one.is_inter = false;
    }
  }
}

}  // namespace mpiacq
