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

/// What is known of a module when its debug file is looked for.
struct debug_file_wanted {
  std::string module_path;          ///< as the target knows it
  std::vector<std::byte> build_id;  ///< may be empty
  std::optional<elf::debug_link> link;
  /// Folders under which the target sees its files ("/proc/42/root"), besides this process's own "".
  std::vector<std::string> roots;
};

/// The folder that a file stands in, by the file's path.
[[nodiscard]] std::string folder_of(const std::string& path);

/// A separate debug file: `<folder>/.build-id/xx/yyyy.debug`, else the name of `.gnu_debuglink` in the module's own
/// folder, in `.debug` there, and under each folder. It must carry the module's build id, or, where one of them has
/// none, the CRC that the link asks for. Empty where there is none; what was found and did not match goes to
/// `problems`.
[[nodiscard]] std::optional<elf::image> find_debug_file(const debug_file_wanted& wanted,
                                                        const debug_file_search& search, std::vector<error>& problems);

/// The file that several debug files share what they have in common in (dwz; `.gnu_debugaltlink`): by build id, else by
/// its name, which counts from the folder of `wanted.module_path`. `wanted.build_id` must be its id.
[[nodiscard]] std::optional<elf::image> find_shared_debug_file(const debug_file_wanted& wanted, const std::string& name,
                                                               const debug_file_search& search);

/// What `.debug_sup` says (DWARF 5, 7.3.6): the file that holds what several share, or that this is such a file.
struct supplement {
  bool is_supplementary = false;
  std::string name;                 ///< of the other file; counts from this one's folder
  std::vector<std::byte> checksum;  ///< the same in both
};
/// Empty where the file has none, or one that makes no sense.
[[nodiscard]] std::optional<supplement> supplement_of(elf::image& file);

/// The supplementary file that `named` asks for, below the same roots as other debug files. Empty where there is none
/// of that checksum.
[[nodiscard]] std::optional<elf::image> find_supplementary_file(const debug_file_wanted& wanted,
                                                                const supplement& named);

/// Asks the servers in DEBUGINFOD_URLS; this can take as long as DEBUGINFOD_TIMEOUT says (90 seconds of silence unless
/// it is set). Empty where that is not set or no server has the file. Errors: system and timed_out (no server could
/// be asked), bad_format (what one gave is not what was asked for), unsupported (no client library).
[[nodiscard]] result<std::optional<elf::image>> ask_debuginfod(const std::vector<std::byte>& build_id);

/// How many bytes are read to compute the CRCs of all files that one link may lead to: about two seconds' work.
inline constexpr std::uint64_t most_crc_bytes = std::uint64_t{512} << 20;
/// The CRC-32 of `.gnu_debuglink` over a whole file. `left` is reduced by its size. Errors: limit (a larger file, or
/// one that is mostly a hole), system.
[[nodiscard]] result<std::uint32_t> crc_of_file(const elf::input_file& file, std::uint64_t& left);

}  // namespace mpiacq::debug_info
