// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elf/elf_image.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq::debug_info {

/// The facts about a module that the search for its debug file uses.
struct debug_file_wanted {
  std::string module_path;          ///< as the target has it
  std::vector<std::byte> build_id;  ///< may be empty
  std::optional<elf::debug_link> link;
  /// Folders below which the target has its files ("/proc/42/root"), in addition to this process's own "".
  std::vector<std::string> roots;
};

/// A separate debug file: `<folder>/.build-id/xx/yyyy.debug`, else the name of `.gnu_debuglink` in the module's own
/// folder, in `.debug` there, and below each folder. The file must have the module's build id or, if one of them has
/// none, the CRC of the link. Empty if there is none; files that do not match go to `problems`.
[[nodiscard]] std::optional<elf::image> find_debug_file(const debug_file_wanted& wanted,
                                                        const debug_file_search& search, std::vector<error>& problems);

/// The file with the common parts of several debug files (dwz; `.gnu_debugaltlink`): by build id, else by its name,
/// relative to the folder of `wanted.module_path`. `wanted.build_id` must be its id.
[[nodiscard]] std::optional<elf::image> find_shared_debug_file(const debug_file_wanted& wanted, const std::string& name,
                                                               const debug_file_search& search);

/// The contents of `.debug_sup` (DWARF 5, 7.3.6): the name of the shared file, or the mark that this is the shared
/// file.
struct supplement {
  bool is_supplementary = false;
  std::string name;                 ///< of the other file; relative to this file's folder
  std::vector<std::byte> checksum;  ///< equal in both files
};
/// Empty if the file has no such section, or an invalid one.
[[nodiscard]] std::optional<supplement> supplement_of(elf::image& file);

/// The supplementary file that `named` refers to, below the same roots as other debug files. Empty if there is none
/// with that checksum.
[[nodiscard]] std::optional<elf::image> find_supplementary_file(const debug_file_wanted& wanted,
                                                                const supplement& named);

/// Asks the servers in DEBUGINFOD_URLS. The call can take DEBUGINFOD_TIMEOUT seconds of silence (90 by default). Empty
/// if DEBUGINFOD_URLS is not set or no server has the file. Errors: system and timed_out (no server could be asked),
/// bad_format (a server sent another file), unsupported (no client library).
[[nodiscard]] result<std::optional<elf::image>> ask_debuginfod(const std::vector<std::byte>& build_id);

/// The limit on the bytes read to compute the CRCs of all files that one link may lead to: about two seconds of work.
inline constexpr std::uint64_t most_crc_bytes = std::uint64_t{512} << 20;
/// The CRC-32 of `.gnu_debuglink` over a whole file. `left` is reduced by the file's size. Errors: limit (a larger
/// file, or one that is mostly a hole), system.
[[nodiscard]] result<std::uint32_t> crc_of_file(const elf::input_file& file, std::uint64_t& left);

}  // namespace mpiacq::debug_info
