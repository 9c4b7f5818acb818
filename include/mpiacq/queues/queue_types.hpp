// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Where the types of a job's ranks come from when their message queues are read, and what their MPI says of itself.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/process/process_types.hpp"
#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/type_source.hpp"
#include "mpiacq/queues/message_queues.hpp"
#include "mpiacq/queues/type_carriers.hpp"

namespace mpiacq {

/// Where types are looked for.
struct queue_types_options {
  std::string file;          ///< a file of types that is used before all other sources; empty: none
  std::string cache_folder;  ///< the cache of type carriers; empty: default_carrier_folder()
  debug_file_search debug_files;
  /// Make a type carrier if the cache has none for the MPI of a rank, before the ranks are stopped. It is possible if
  /// the compiler wrapper in PATH links with the same library and the internal headers are installed
  /// (make_type_carrier). A compiler then runs once for each MPI, for some seconds, and the carrier is written into the
  /// cache.
  bool make_missing = false;
};

/// The types for all ranks of a job. For each rank they come from the first of: `queue_types_options::file`; the
/// carrier in the cache for the build id of its MPI library; the debug information of its modules, the MPI library
/// first; the built-in types of the release of its MPI (find_built_in_types). Types of a file, of a carrier, and
/// built-in ones are used only if the process confirms them: it has the same ABI, and objects of its library have the
/// sizes of the types (check_types).
///
/// Thread: any for `of` and `notes`; one at a time for each source that `of` returns.
class queue_types {
 public:
  /// Opens `queue_types_options::file`, if there is one. Errors: those of `type_file::open`.
  [[nodiscard]] static result<std::unique_ptr<queue_types>> create(queue_types_options options = {});
  ~queue_types();
  queue_types(const queue_types&) = delete;
  queue_types& operator=(const queue_types&) = delete;

  /// The types of one process. `symbols`, `memory` and this object must outlive the result. Errors: bad_format (the
  /// requested file does not fit the process; the message names the type). A cached carrier that does not fit is only a
  /// note.
  [[nodiscard]] result<std::unique_ptr<type_source>> of(process_symbols& symbols, memory_reader& memory);
  /// The same for the process in a core file, whose memory is `memory`.
  [[nodiscard]] result<std::unique_ptr<type_source>> of(core_symbols& symbols, memory_reader& memory);

  /// The types of one module of a process: from `queue_types_options::file`, if there is one, and from the debug
  /// information of the module. It suits types that are private to a part of the MPI: nothing else is searched while
  /// the process is stopped. `one` is a module of `symbols`, which must outlive the result, as must this object.
  [[nodiscard]] std::unique_ptr<type_source> of_module(process_symbols& symbols, const module& one);

  /// Makes a carrier for the MPI of a process if the cache has none and it is possible; see
  /// queue_types_options::make_missing. It happens once for each MPI, and a note says what was made. It takes seconds,
  /// so no rank should be stopped meanwhile. False if the process has no MPI library: it may load one later.
  bool make_missing(process_symbols& symbols);

  /// Sentences for people, each once: carriers that were made; cached carriers and built-in types that are used, or why
  /// they do not fit; files that could not be read.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  struct state;
  explicit queue_types(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// The PML of Open MPI that a process uses: "ob1", "cm", "ucx". It is found by the types if they are known, else by the
/// module whose functions are in the table of the PML. Empty for another MPI, and before the PML is chosen in MPI_Init.
/// Errors: those of `memory_reader::read_ranges`.
[[nodiscard]] result<std::optional<std::string>> pml_in_use(target& process, type_source& types);

/// A sentence about a PML whose operations the queue library of Open MPI does not see, or sees wrongly; empty for a PML
/// that it shows. With such a PML an empty queue does not mean that nothing is pending.
[[nodiscard]] std::optional<std::string> about_pml(std::string_view pml);

/// A sentence about the types that a report lacks; empty if it lacks none. A missing field of a known type means that
/// the types belong to another version.
[[nodiscard]] std::optional<std::string> about_missing_types(std::span<const missing_type> missing);

}  // namespace mpiacq
