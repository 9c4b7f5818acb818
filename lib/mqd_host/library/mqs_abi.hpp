// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The binary interface of queue libraries: the types that a library and its caller pass to each other in one process.
// It follows "Message Queue Dumping 1.06" and the behaviour of existing libraries; where headers differ, a comment says
// how. All types have the host's sizes, because a library runs on the host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpiacq::mqd_host::abi {

// Opaque to the library. The values are numbers, never pointers (callbacks.hpp).
struct image;
struct process;
struct job;
struct type;
// Opaque to the caller of the library.
struct image_info;
struct process_info;
struct job_info;

using address = unsigned long;  ///< mqs_taddr_t
using word = long;              ///< mqs_tword_t

/// The results of both sides' functions. From `first_own` on, each side defines its own codes.
enum result_code : int { ok = 0, no_information = 1, end_of_list = 2, first_own = 100 };

/// mqs_lang_code
enum language : int { lang_c = 'c', lang_cplusplus = 'C', lang_f77 = 'f', lang_f90 = 'F' };

inline constexpr int version_mpi1 = 2;
inline constexpr int version_mpi2 = 3;

/// The common part of mqs_target_type_sizes in all headers. Open MPI's continues with bool and size_t. The library
/// allocates the structure, so only these five ints may be written.
struct type_sizes {
  int short_size;
  int int_size;
  int long_size;
  int long_long_size;
  int pointer_size;
};
static_assert(sizeof(type_sizes) == 20);

/// mqs_communicator
struct communicator {
  address unique_id;
  word local_rank;
  word size;
  char name[64];
};
static_assert(sizeof(communicator) == 88);
static_assert(offsetof(communicator, local_rank) == 8 && offsetof(communicator, size) == 16);
static_assert(offsetof(communicator, name) == 24);

inline constexpr std::size_t extra_lines = 5;
inline constexpr std::size_t extra_line_bytes = 64;

/// mqs_pending_operation
struct operation {
  int status;
  word desired_local_rank;
  word desired_global_rank;
  int tag_wild;
  word desired_tag;
  word desired_length;
  int system_buffer;
  address buffer;
  word actual_local_rank;
  word actual_global_rank;
  word actual_tag;
  word actual_length;
  char extra_text[extra_lines][extra_line_bytes];
};
static_assert(sizeof(operation) == 416);
static_assert(offsetof(operation, desired_local_rank) == 8 && offsetof(operation, desired_global_rank) == 16);
static_assert(offsetof(operation, tag_wild) == 24 && offsetof(operation, desired_tag) == 32);
static_assert(offsetof(operation, desired_length) == 40 && offsetof(operation, system_buffer) == 48);
static_assert(offsetof(operation, buffer) == 56 && offsetof(operation, actual_local_rank) == 64);
static_assert(offsetof(operation, actual_global_rank) == 72 && offsetof(operation, actual_tag) == 80);
static_assert(offsetof(operation, actual_length) == 88 && offsetof(operation, extra_text) == 96);

/// One fork of MPICH has one member more after `buffer`, under the same version.
inline constexpr std::size_t longer_operation_by = 8;

inline constexpr std::size_t image_name_bytes = 4096;  // FILENAME_MAX of all C libraries on Linux
inline constexpr std::size_t host_name_bytes = 64;

/// mqs_process_location
struct process_location {
  long pid;
  char image_name[image_name_bytes];
  char host_name[host_name_bytes];
};
static_assert(sizeof(process_location) == 4168);
static_assert(offsetof(process_location, image_name) == 8 && offsetof(process_location, host_name) == 4104);

/// mqs_basic_callbacks. The last two members belong to the extension: a library of version 2 does not read them.
struct basic_callbacks {
  void* (*malloc)(std::size_t bytes);
  void (*free)(void* memory);
  void (*dprints)(const char* text);
  char* (*errorstring)(int code);
  void (*put_image_info)(image*, image_info*);
  image_info* (*get_image_info)(image*);
  void (*put_process_info)(process*, process_info*);
  process_info* (*get_process_info)(process*);
  void (*put_job_info)(job*, job_info*);
  job_info* (*get_job_info)(job*);
};
static_assert(sizeof(basic_callbacks) == 80 && offsetof(basic_callbacks, put_job_info) == 64);

/// mqs_image_callbacks
struct image_callbacks {
  void (*get_type_sizes)(process*, type_sizes* into);
  int (*find_function)(image*, char* name, int language, address* into);
  int (*find_symbol)(image*, char* name, address* into);
  type* (*find_type)(image*, char* name, int language);
  int (*field_offset)(type*, char* field);
  int (*size_of)(type*);
};
static_assert(sizeof(image_callbacks) == 48);

/// mqs_process_callbacks. The last member belongs to the extension.
struct process_callbacks {
  int (*get_global_rank)(process*);
  image* (*get_image)(process*);
  int (*fetch_data)(process*, address from, int bytes, void* into);
  void (*target_to_host)(process*, const void* from, void* into, int bytes);
  job* (*get_process_job)(process*);
  int (*get_process_identity)(job*);  ///< the document declares a job; libraries pass a process
};
static_assert(sizeof(process_callbacks) == 48 && offsetof(process_callbacks, get_process_job) == 32);

/// mqs_job_callbacks
struct job_callbacks {
  process* (*get_process)(job*, int index);
};
static_assert(sizeof(job_callbacks) == 8);

// The library's functions.
using setup_basic_callbacks = void(const basic_callbacks*);
using give_text = char*();
using give_number = int();
using error_string = char*(int code);
using setup_image = int(image*, const image_callbacks*);
using image_has_queues = int(image*, char** message);
using destroy_image_info = void(image_info*);
using setup_process = int(process*, const process_callbacks*);
using process_has_queues = int(process*, char** message);
using destroy_process_info = void(process_info*);
using of_process = int(process*);  ///< the iterators of communicators and of new processes
using get_communicator = int(process*, void* into);
using get_comm_group = int(process*, int* into);
using setup_operation_iterator = int(process*, int queue);
using next_operation = int(process*, void* into);
using setup_job = int(job*, const job_callbacks*);
using destroy_job_info = int(job_info*);
using set_process_identity = int(process*, int identity);
using next_new_process = int(process*, void* into);
using spawn_breakpoint_name = int(process*, char* into, int bytes);

}  // namespace mpiacq::mqd_host::abi
