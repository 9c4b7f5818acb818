// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The part of PMIx's binary interface that mpiacq uses, in declarations of its own. PMIx's headers belong to one
// version of PMIx. The library that mpiacq loads is the one that the starter has mapped, whatever its version is, so
// mpiacq cannot be compiled with the headers of that version. The PMIx Standard (4.1, chapters 3, 8 and 18) fixes these
// structures, keys and numbers; versions 4.2 to 7.0 agree in them. tests/pmix compares them with PMIx's headers where
// these are installed.
//
// The structures come from a foreign library: nothing in them is trusted. A length has a bound before it is used, and a
// pointer is followed only where the type next to it says what it points to.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace mpiacq::pmix::abi {

using status = int;

inline constexpr std::size_t longest_namespace = 255;  // PMIX_MAX_NSLEN
inline constexpr std::size_t longest_key = 511;        // PMIX_MAX_KEYLEN

inline constexpr status success = 0;
inline constexpr status debugger_release = -3;   // PMIX_DEBUGGER_RELEASE
inline constexpr status lost_connection = -61;   // PMIX_ERR_LOST_CONNECTION
inline constexpr status job_end = -145;          // PMIX_EVENT_JOB_END
inline constexpr status action_complete = -334;  // PMIX_EVENT_ACTION_COMPLETE

inline constexpr std::uint32_t any_rank = UINT32_MAX - 1;  // PMIX_RANK_WILDCARD

/// pmix_data_type_t: what a value is.
enum class data_type : std::uint16_t {
  undefined = 0,
  boolean = 1,
  string = 3,
  uint16 = 13,
  proc = 22,
  info = 24,
  proc_info = 38,
  data_array = 39,
};

/// pmix_data_range_t: the processes that an event is for.
inline constexpr std::uint8_t custom_range = 6;  // PMIX_RANGE_CUSTOM

inline constexpr const char* server_uri = "pmix.srvr.uri";         // PMIX_SERVER_URI, a string
inline constexpr const char* query_namespaces = "pmix.qry.ns";     // PMIX_QUERY_NAMESPACES, a string
inline constexpr const char* query_table = "pmix.qry.ptable";      // PMIX_QUERY_PROC_TABLE, an array of proc_info
inline constexpr const char* name_space = "pmix.nspace";           // PMIX_NSPACE, a string
inline constexpr const char* parent = "pmix.parent";               // PMIX_PARENT_ID, a proc
inline constexpr const char* event_non_default = "pmix.evnondef";  // PMIX_EVENT_NON_DEFAULT, a bool
inline constexpr const char* event_custom_range = "pmix.evrange";  // PMIX_EVENT_CUSTOM_RANGE, procs
inline constexpr const char* debugger_daemons = "pmix.debugger";   // PMIX_DEBUGGER_DAEMONS, a bool
inline constexpr const char* debug_target = "pmix.dbg.tgt";        // PMIX_DEBUG_TARGET, a proc
inline constexpr const char* daemons_per_node = "pmix.dbg.dpnd";   // PMIX_DEBUG_DAEMONS_PER_NODE, a uint16
inline constexpr const char* event_affected = "pmix.evproc";       // PMIX_EVENT_AFFECTED_PROC, a proc

struct proc {  // pmix_proc_t
  char nspace[longest_namespace + 1];
  std::uint32_t rank;
};

struct data_array {  // pmix_data_array_t
  data_type type;
  std::size_t size;
  void* array;
};

struct value {  // pmix_value_t
  data_type type;
  union {
    bool flag;
    char* text;
    std::uint16_t number;
    abi::proc* process;
    data_array* array;
    std::uint64_t words[3];  // the largest member, pmix_envar_t, has two pointers and a character
  } data;
};

struct info {  // pmix_info_t
  char key[longest_key + 1];
  std::uint32_t flags;
  abi::value value;
};

struct query {  // pmix_query_t
  char** keys;
  info* qualifiers;
  std::size_t qualifier_count;
};

struct proc_info {  // pmix_proc_info_t
  abi::proc proc;
  char* hostname;
  char* executable_name;
  pid_t pid;
  int exit_code;
  std::uint8_t state;
};

struct app {  // pmix_app_t
  char* command;
  char** arguments;
  char** environment;
  char* folder;
  int most_processes;
  info* about;
  std::size_t about_count;
};

using release_function = void (*)(void* data);
using info_callback = void (*)(status, info* results, std::size_t count, void* data, release_function,
                               void* to_release);
using value_callback = void (*)(status, value* found, void* data);
using done_callback = void (*)(status, void* data);
using spawned_callback = void (*)(status, char* nspace, void* data);
using registered_callback = void (*)(status, std::size_t id, void* data);
using handled_callback = void (*)(status, info* results, std::size_t count, done_callback, void* own_data, void* data);
using event_handler = void (*)(std::size_t id, status what, const proc* source, info* about, std::size_t about_count,
                               info* results, std::size_t result_count, handled_callback, void* data);

using get_version = const char*();
using error_string = const char*(status);
using tool_init = status(proc* own, info* directives, std::size_t count);
using tool_finalize = status();
using query_info_nb = status(query* queries, std::size_t count, info_callback, void* data);
using get_nb = status(const proc* of, const char* key, const info* directives, std::size_t count, value_callback,
                      void* data);
using register_event_handler = status(status* codes, std::size_t count, info* about, std::size_t about_count,
                                      event_handler, registered_callback, void* data);
using notify_event = status(status what, const proc* source, std::uint8_t range, const info* about, std::size_t count,
                            done_callback, void* data);

using spawn_nb = status(const info* about, std::size_t about_count, const app* apps, std::size_t app_count,
                        spawned_callback, void* data);

}  // namespace mpiacq::pmix::abi
