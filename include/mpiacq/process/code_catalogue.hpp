// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Names and source lines for addresses of running code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/process/call_description.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq {

struct code_map_state;

/// The code of one process: which bytes of which file it executes at which addresses.
///
/// A map is made from one reading of /proc/PID/maps. The kernel's list has mappings that the dynamic linker's list
/// lacks: the dynamic linker before it has run, other namespaces of dlmopen, replaced files. Copies share one map.
/// Thread: any.
class code_map {
 public:
  /// Reads the map of process `pid`. The process must be held, or at least alive, for as long as a catalogue is asked
  /// about this map, because files are opened through /proc/PID. `memory` must outlive this map and its copies; it is
  /// read only for names of the vDSO, and if the kernel does not show which file is mapped. Errors: process_gone,
  /// permission, system.
  [[nodiscard]] static result<code_map> read(process_id pid, memory_reader& memory);
  /// The map in a text that was read before (`read_process_maps`).
  [[nodiscard]] static code_map in(std::string_view maps, process_id pid, memory_reader& memory);

  /// The process of the map.
  [[nodiscard]] process_id process() const;
  /// The path of the module whose code is at an address, as the kernel gives it, without " (deleted)". "[vdso]" for the
  /// vDSO; empty for code of no file, and if there is no code at the address.
  [[nodiscard]] std::string module_path(target_address address) const;

 private:
  friend class code_catalogue;
  friend class module_catalogue;
  std::shared_ptr<code_map_state> state_;
};

/// The places at one address, innermost first: the inlined functions, then the function that contains the code. All but
/// the last are `stack_frame::inlined`; there is always a last one.
using code_places = std::vector<std::shared_ptr<const code_place>>;

/// Counts of what a catalogue has done.
struct catalogue_counts {
  std::size_t files = 0;      ///< files of modules that were opened, including the vDSO, without debug files
  std::size_t questions = 0;  ///< addresses that callers have asked for
  std::size_t looked_up = 0;  ///< addresses among them that needed a new look-up
};

/// Names the code of all processes of a job.
///
/// Each file is opened and read once, however many processes map it. The catalogue recognises files by the device,
/// inode, size and time of change of the mapped file, then by build id. It reads nothing before a question needs it,
/// and keeps an answer for each instruction, so 64 ranks at one place cost one look-up. Equal places are one object for
/// as long as the catalogue lives: to merge stacks, compare pointers.
///
/// A name comes from the first of these sources that has one:
/// 1. DWARF of the file, of its debug file (build id, .gnu_debuglink), of the file that these share with others
///    (dwz), and of debuginfod's servers if `debug_file_search` allows them. A C++ function has its demangled linkage
///    name, or its qualified name if the compiler wrote no linkage name. A Fortran procedure is named as in the source
///    (`module::procedure`), without the underscore at the end. Lines come from the line table; the line of a caller of
///    inlined code is the line of the inlined call. The rest of a split unit is read from its .dwo file, or from the
///    package (.dwp) next to the module.
/// 2. `.symtab` of the file or of its debug file, else `.dynsym` together with `.gnu_debugdata` (MiniDebugInfo): the
///    function whose size covers the address. A function without a size counts only if no other function is in between.
///    Of several names for one address, the catalogue prefers exported names, then names with fewer leading
///    underscores (`write`, not `__write`), then shorter names (`MPI_Recv`, not `PMPI_Recv`). It removes versions
///    (`@@GLIBC_2.2.5`) and the suffixes by which compilers name parts and copies of a function: `.cold`, `.part.N`,
///    `.constprop.N`, `.isra.N`, `.lto_priv.N`, `.llvm.N`, also repeated.
/// 3. The relocation of a stub of the procedure linkage table (x86-64): `name@plt`.
/// 4. No source: the place is its module and the offset there, or the bare address.
///
/// A fault of a file affects only the names of that file. It is in `problems` once, and the next source is used.
///
/// Memory: for each file in a stack, its symbol table or its debug sections, with what libdw keeps of the units that
/// were needed; and the answers. Beyond about a million answers, the unused ones are dropped. The debug information of
/// one file takes at most 256 MB, and of all files 1 GB; the rest is not used, and a problem says so. The
/// descriptor of each file stays open, so that its inode is not reused meanwhile.
///
/// Thread: any, several at a time; questions about one module wait for each other.
class code_catalogue {
 public:
  /// A catalogue that looks for debug files as `search` says.
  explicit code_catalogue(debug_file_search search = {});
  ~code_catalogue();
  code_catalogue(code_catalogue&&) noexcept;
  code_catalogue& operator=(code_catalogue&&) noexcept;

  /// One question: which code is at `pc` in the process of `map`? For a return address the catalogue looks up the
  /// instruction before it, which is the call: the next instruction may belong to another line or function.
  struct query {
    const code_map* map = nullptr;
    target_address pc;
    bool is_return_address = false;
  };

  /// The places at an address: never null, never empty. Code without a name has its module and offset, or its address.
  [[nodiscard]] std::shared_ptr<const code_places> places(const code_map& map, target_address pc,
                                                          bool is_return_address);
  /// The places of many addresses, in the order of `queries`. Addresses of one module are looked up together.
  [[nodiscard]] std::vector<std::shared_ptr<const code_places>> describe(std::span<const query> queries);

  /// What the debug information says about the call that returns to `return_address`; empty if it says nothing. The
  /// answer is not kept.
  [[nodiscard]] std::optional<call_description> call_before(const code_map& map, target_address return_address);

  /// Where the parameters of the function around `pc` are when its code is at `pc`, by debug information; empty if it
  /// says nothing. The answer is not kept.
  [[nodiscard]] std::optional<parameter_places> parameters_around(const code_map& map, target_address pc);

  /// Looks addresses up on a thread of the catalogue, in which every signal is blocked, and keeps the answers. So files
  /// are opened for the first stack while other stacks are still unwound. Maps are copied. Questions that come
  /// meanwhile wait only for the modules that are being read.
  void expect(std::span<const query> queries);

  /// The faults of files so far, each once, with the path of the module.
  [[nodiscard]] std::vector<error> problems() const;
  /// What the catalogue has done so far.
  [[nodiscard]] catalogue_counts counts() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
