// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The declarations of lib/pmix beside those of an installed PMIx: the build fails where they differ.
#include <cstddef>
#include <string_view>

#include <pmix_tool.h>

#include "separate/pmix_abi.hpp"

namespace abi = mpiacq::pmix::abi;

#define SAME_MEMBER(ours, our_member, theirs, their_member) \
  static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member))

static_assert(sizeof(abi::proc) == sizeof(pmix_proc_t) && alignof(abi::proc) == alignof(pmix_proc_t));
SAME_MEMBER(abi::proc, rank, pmix_proc_t, rank);
static_assert(sizeof(abi::value) == sizeof(pmix_value_t) && alignof(abi::value) == alignof(pmix_value_t));
SAME_MEMBER(abi::value, data, pmix_value_t, data);
static_assert(sizeof(abi::info) == sizeof(pmix_info_t));
SAME_MEMBER(abi::info, flags, pmix_info_t, flags);
SAME_MEMBER(abi::info, value, pmix_info_t, value);
static_assert(sizeof(abi::query) == sizeof(pmix_query_t));
SAME_MEMBER(abi::query, qualifiers, pmix_query_t, qualifiers);
SAME_MEMBER(abi::query, qualifier_count, pmix_query_t, nqual);
static_assert(sizeof(abi::data_array) == sizeof(pmix_data_array_t));
SAME_MEMBER(abi::data_array, size, pmix_data_array_t, size);
SAME_MEMBER(abi::data_array, array, pmix_data_array_t, array);
static_assert(sizeof(abi::proc_info) == sizeof(pmix_proc_info_t));
SAME_MEMBER(abi::proc_info, hostname, pmix_proc_info_t, hostname);
SAME_MEMBER(abi::proc_info, executable_name, pmix_proc_info_t, executable_name);
SAME_MEMBER(abi::proc_info, pid, pmix_proc_info_t, pid);
SAME_MEMBER(abi::proc_info, state, pmix_proc_info_t, state);

static_assert(sizeof(abi::app) == sizeof(pmix_app_t));
SAME_MEMBER(abi::app, arguments, pmix_app_t, argv);
SAME_MEMBER(abi::app, environment, pmix_app_t, env);
SAME_MEMBER(abi::app, folder, pmix_app_t, cwd);
SAME_MEMBER(abi::app, most_processes, pmix_app_t, maxprocs);
SAME_MEMBER(abi::app, about, pmix_app_t, info);
SAME_MEMBER(abi::app, about_count, pmix_app_t, ninfo);

static_assert(static_cast<int>(abi::data_type::uint16) == PMIX_UINT16);
static_assert(static_cast<int>(abi::data_type::boolean) == PMIX_BOOL);
static_assert(static_cast<int>(abi::data_type::string) == PMIX_STRING);
static_assert(static_cast<int>(abi::data_type::proc) == PMIX_PROC);
static_assert(static_cast<int>(abi::data_type::info) == PMIX_INFO);
static_assert(static_cast<int>(abi::data_type::proc_info) == PMIX_PROC_INFO);
static_assert(static_cast<int>(abi::data_type::data_array) == PMIX_DATA_ARRAY);
static_assert(abi::debugger_release == PMIX_DEBUGGER_RELEASE);
static_assert(abi::lost_connection == PMIX_ERR_LOST_CONNECTION && abi::job_end == PMIX_EVENT_JOB_END);
static_assert(abi::action_complete == PMIX_EVENT_ACTION_COMPLETE && abi::custom_range == PMIX_RANGE_CUSTOM);
static_assert(abi::any_rank == PMIX_RANK_WILDCARD);
static_assert(std::string_view{abi::server_uri} == PMIX_SERVER_URI);
static_assert(std::string_view{abi::query_namespaces} == PMIX_QUERY_NAMESPACES);
static_assert(std::string_view{abi::query_table} == PMIX_QUERY_PROC_TABLE);
static_assert(std::string_view{abi::name_space} == PMIX_NSPACE && std::string_view{abi::parent} == PMIX_PARENT_ID);
static_assert(std::string_view{abi::event_non_default} == PMIX_EVENT_NON_DEFAULT);
static_assert(std::string_view{abi::event_custom_range} == PMIX_EVENT_CUSTOM_RANGE);
static_assert(std::string_view{abi::event_affected} == PMIX_EVENT_AFFECTED_PROC);
static_assert(std::string_view{abi::debugger_daemons} == PMIX_DEBUGGER_DAEMONS);
static_assert(std::string_view{abi::debug_target} == PMIX_DEBUG_TARGET);
static_assert(std::string_view{abi::daemons_per_node} == PMIX_DEBUG_DAEMONS_PER_NODE);
