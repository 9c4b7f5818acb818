// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Where the types of a job's ranks come from when their message queues are read, and what their MPI says of itself.
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

struct queue_types_options {
  std::string file;          ///< a type carrier that goes before all else; empty: none
  std::string cache_folder;  ///< of carriers; empty: default_carrier_folder()
  debug_file_search debug_files;
  /// Where the cache has no carrier for a rank's MPI, `node_ranks::queues` makes one before it stops the ranks, if the
  /// compiler wrapper in PATH links with this very library and its internal headers are there (make_type_carrier). That
  /// runs a compiler once for an MPI, for some seconds, and writes into the cache.
  bool make_missing = false;
};

/// The types for all ranks of a job. Of each rank: `file` where one is given, else the carrier that the cache has for
/// the build id of its MPI library, else the debug information of its modules, the MPI library first, else the built-in
/// types of its MPI's release (find_built_in_types). Types of a file or a carrier, and built-in ones, are used for a
/// process only if the process bears them out: the same ABI, and objects of the library whose sizes the types have
/// (check_types).
///
/// Thread: `of` and `notes` any; each source that `of` gives one at a time.
class queue_types {
 public:
  /// Errors: those of `type_file::open` for the file.
  [[nodiscard]] static result<std::unique_ptr<queue_types>> create(queue_types_options options = {});
  ~queue_types();
  queue_types(const queue_types&) = delete;
  queue_types& operator=(const queue_types&) = delete;

  /// The types of one process. `symbols` and `memory` must outlive what it gives, and so must this. bad_format: the
  /// file does not fit the process, with the type that shows it. That goes for the file that was asked for; what is
  /// wrong with a cached one is a note.
  [[nodiscard]] result<std::unique_ptr<type_source>> of(process_symbols& symbols, memory_reader& memory);
  /// The same for a core file, whose memory is `memory`.
  [[nodiscard]] result<std::unique_ptr<type_source>> of(core_symbols& symbols, memory_reader& memory);

  /// Makes a carrier for this process's MPI where the cache has none and one can be made: see
  /// queue_types_options::make_missing. Once for each MPI; a note says what was made. Takes seconds: no rank should be
  /// stopped meanwhile.
  void make_missing(process_symbols& symbols);

  /// For people, each once: a carrier that was made, a cached one or built-in types that serve, or that do not fit and
  /// why; files that could not be read.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  struct state;
  explicit queue_types(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// Which of Open MPI's layers for point-to-point messages (PML) a process uses: "ob1", "cm", "ucx". By the types where
/// they are known, else by whose functions stand in its table of them. Empty where that is another MPI, or not decided
/// yet (before the end of MPI_Init). Errors: those of reading memory that concern the whole process.
[[nodiscard]] result<std::optional<std::string>> pml_in_use(target& process, type_source& types);

/// What to say of a PML whose operations Open MPI's queue library does not see, or sees wrongly; empty for one that it
/// shows. An empty queue is not an idle one.
[[nodiscard]] std::optional<std::string> about_pml(std::string_view pml);

/// `about_missing_types` for what a report lacks; empty where it lacks nothing. A field that is missing in a type that
/// is known says that the types are another version's.
[[nodiscard]] std::optional<std::string> about_missing_types(std::span<const missing_type> missing);

}  // namespace mpiacq
