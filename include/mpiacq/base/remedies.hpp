// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the library's error sentences tell the user to do, in words of their own. The library knows no command line: a
// tool finds these words in a sentence and adds what its user types.
#pragma once

#include <string_view>

namespace mpiacq::remedies {

/// `debug_file_search::folders`.
inline constexpr std::string_view name_debug_folder = "name the folder of the debug file";
/// `job_options::interface`, `look_options::interface`.
inline constexpr std::string_view choose_mpir = "choose MPIR";
/// `queue_host_options`: a file in place of what the rank names.
inline constexpr std::string_view name_queue_library = "name a queue library";
/// The same, to load a library that its owner could have changed.
inline constexpr std::string_view trust_queue_library = "declare the queue library trustworthy";
/// `queue_types`: a file with the types that an MPI was built with.
inline constexpr std::string_view name_types_file = "name a file that has its types";
/// `core_files`: where the files of a core are on this machine.
inline constexpr std::string_view name_core_files = "name the program's file or the folder that stands for the root";
/// `carrier_request::library`.
inline constexpr std::string_view name_mpi_library = "name the MPI library that the types are for";
/// `carrier_request::wrapper`.
inline constexpr std::string_view name_wrapper = "name the compiler wrapper of its own installation";

}  // namespace mpiacq::remedies
