// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The phrases by which error sentences of the library recommend an option. The library knows no command line: a tool
/// finds a phrase in a sentence and adds what its user can type.
#pragma once

#include <string_view>

namespace mpiacq::remedies {

/// `debug_file_search::folders`.
inline constexpr std::string_view name_debug_folder = "name the folder of the debug file";
/// `job_options::interface`, `find_options::interface`.
inline constexpr std::string_view choose_mpir = "choose MPIR";
inline constexpr std::string_view choose_pmix = "choose PMIx";
/// `job::find`, and the looks of its `rank_group`.
inline constexpr std::string_view observe_the_job = "look at its stacks or queues";
/// The process that `job::find` and `job::attach` begin with.
inline constexpr std::string_view name_a_job = "name one of them";
/// `find_options::hosts`.
inline constexpr std::string_view name_hosts = "name its hosts";
/// The nodes on which `job::find` finds a `slurm_job`.
inline constexpr std::string_view ask_slurm_for_nodes = "ask Slurm for the nodes of the job";
/// A queue library other than the one that the rank names (`rank_queue_options::library`).
inline constexpr std::string_view name_queue_library = "name a queue library";
/// `queue_host_options::trust_library`.
inline constexpr std::string_view trust_queue_library = "declare the queue library trustworthy";
/// `queue_types_options::file`.
inline constexpr std::string_view name_types_file = "name a file that has its types";
/// `core_file_options`.
inline constexpr std::string_view name_core_files = "name the program's file or the folder that stands for the root";
/// `carrier_request::library`.
inline constexpr std::string_view name_mpi_library = "name the MPI library that the types are for";
/// `carrier_request::wrapper`.
inline constexpr std::string_view name_wrapper = "name the compiler wrapper of its own installation";

}  // namespace mpiacq::remedies
