// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ends of ranks and core files in documents. The structures here are sent in place of those of other rooms, for which
// the tracer's messages name the members.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "mpiacq/ranks/rank_core.hpp"
#include "mpiacq/ranks/rank_end.hpp"
#include "wire/document.hpp"

namespace mpiacq::agents {

struct sent_registers {
  std::vector<std::uint64_t> by_number;
  target_address pc, sp;
};
struct sent_end {
  entry_index entry;
  process_id pid;
  bool signaled = false;
  int value = 0;
  thread_id thread;
  int signal_code = 0;
  process_id sender;
  std::string sender_name;
  target_address fault;
  bool out_of_memory = false;
  mpi_phase phase = mpi_phase::unknown;
  std::optional<sent_registers> registers;
};

template <>
struct stand_in<rank_end> {
  using type = sent_end;
  [[nodiscard]] static sent_end to(const rank_end& end);
  /// Errors: bad_format (a status that no process has; more registers than a machine has; a name that is longer than
  /// the system's).
  [[nodiscard]] static result<rank_end> from(sent_end end);
};

template <>
inline constexpr auto last_of<mpi_phase> = mpi_phase::finalized;

}  // namespace mpiacq::agents

namespace mpiacq {

template <>
inline constexpr auto members<agents::sent_registers> =
    std::tuple{member{"by_number", &agents::sent_registers::by_number}, member{"pc", &agents::sent_registers::pc},
               member{"sp", &agents::sent_registers::sp}};
template <>
inline constexpr auto members<agents::sent_end> = std::tuple{
    member{"rank", &agents::sent_end::entry},        member{"pid", &agents::sent_end::pid},
    member{"signaled", &agents::sent_end::signaled}, member{"value", &agents::sent_end::value},
    member{"thread", &agents::sent_end::thread},     member{"signal_code", &agents::sent_end::signal_code},
    member{"sender", &agents::sent_end::sender},     member{"sender_name", &agents::sent_end::sender_name},
    member{"fault", &agents::sent_end::fault},       member{"out_of_memory", &agents::sent_end::out_of_memory},
    member{"phase", &agents::sent_end::phase},       member{"registers", &agents::sent_end::registers}};
template <>
inline constexpr auto members<rank_core_options> =
    std::tuple{member{"ranks", &rank_core_options::ranks}, member{"folder", &rank_core_options::folder},
               member{"most_bytes", &rank_core_options::most_bytes}};
template <>
inline constexpr auto members<rank_core> =
    std::tuple{member{"rank", &rank_core::entry}, member{"host", &rank_core::host}, member{"path", &rank_core::path},
               member{"bytes", &rank_core::bytes}, member{"unread", &rank_core::unread}};

}  // namespace mpiacq
