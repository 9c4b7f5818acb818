// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The members of the parts of queue reports that travel (members.hpp).
#pragma once

#include <tuple>

#include "framing/members.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq {

template <>
inline constexpr auto members<queue_limits> = std::tuple{member{"communicators", &queue_limits::communicators},
                                                         member{"operations", &queue_limits::operations},
                                                         member{"fetch_bytes", &queue_limits::fetch_bytes},
                                                         member{"fetched_bytes", &queue_limits::fetched_bytes},
                                                         member{"allocated_bytes", &queue_limits::allocated_bytes},
                                                         member{"group_size", &queue_limits::group_size},
                                                         member{"call_us", &queue_limits::call_time},
                                                         member{"process_us", &queue_limits::process_time},
                                                         member{"output_bytes", &queue_limits::output_bytes}};
template <>
inline constexpr auto members<peer> =
    std::tuple{member{"any", &peer::any}, member{"local", &peer::local}, member{"global", &peer::global}};
template <>
inline constexpr auto members<queue_message> =
    std::tuple{member{"peer", &queue_message::from_or_to}, member{"tag", &queue_message::tag},
               member{"length", &queue_message::length}};
template <>
inline constexpr auto members<queue_operation> = std::tuple{member{"status", &queue_operation::status},
                                                            member{"peer", &queue_operation::desired},
                                                            member{"tag", &queue_operation::tag},
                                                            member{"length", &queue_operation::length},
                                                            member{"system_buffer", &queue_operation::system_buffer},
                                                            member{"buffer", &queue_operation::buffer},
                                                            member{"actual", &queue_operation::actual},
                                                            member{"extra", &queue_operation::extra}};
template <>
inline constexpr auto members<new_process> =
    std::tuple{member{"pid", &new_process::pid}, member{"executable", &new_process::executable},
               member{"host", &new_process::host}};
template <>
inline constexpr auto members<missing_type> =
    std::tuple{member{"type", &missing_type::type}, member{"field", &missing_type::field}};

}  // namespace mpiacq
