// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Names and source lines for addresses of running code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq {

/// Where one process has code: which bytes of which file are executed at which addresses.
///
/// It is what /proc/PID/maps said when it was read, and costs that one file: the kernel knows of what the dynamic
/// linker's list does not have (the linker itself before it has run, other namespaces of dlmopen, a replaced file).
/// A copy is the same map. Thread: any.
class code_map {
 public:
  /// Reads the map of `pid`, which must be held, or at least alive, also while a catalogue is asked about this map:
  /// its files are opened through /proc/PID. `memory` must outlive this map and its copies; it is read only where
  /// the vdso's names are asked for, or where the kernel does not let us see which file it is that is mapped.
  /// Errors: process_gone, permission, system.
  [[nodiscard]] static result<code_map> read(process_id pid, memory_reader& memory);
  /// The same, where what is mapped has been read already (`read_process_maps`).
  [[nodiscard]] static code_map in(std::string_view maps, process_id pid, memory_reader& memory);

  [[nodiscard]] process_id process() const;
  /// The path of the module whose code is at an address, as the kernel has it, without its " (deleted)"; "[vdso]" for
  /// the kernel's own; empty for code of no file, and where there is no code.
  [[nodiscard]] std::string module_path(target_address address) const;

  struct state;

 private:
  friend class code_catalogue;
  friend class module_catalogue;
  std::shared_ptr<state> state_;
};

/// The places at one address, innermost first: the functions that the compiler inlined there, then the function that
/// the code belongs to, which is always there. So all but the last are `stack_frame::inlined`.
using code_places = std::vector<std::shared_ptr<const code_place>>;

/// What a catalogue has done so far.
struct catalogue_counts {
  std::size_t files = 0;      ///< modules' files that were opened, the vdso included; debug files are not counted
  std::size_t questions = 0;  ///< addresses asked for
  std::size_t looked_up = 0;  ///< of these, those that no earlier one had answered
};

/// Names the code of all processes of a job.
///
/// Each module file is opened and read once, however many processes map it: files are known by device, inode, size
/// and time of change of the very file that a process maps, then by build id. Nothing is read before a question needs
/// it, and an answer is kept for each instruction of a file, so that 64 ranks at one place cost one look. Equal
/// places are one object for as long as the catalogue lives: whoever merges stacks compares pointers.
///
/// Where a name comes from, the first that has one:
/// 1. DWARF: of the file itself, of its debug file (build id, .gnu_debuglink), of what that shares with others (dwz),
/// of
///    debuginfod's servers where `debug_file_search` lets them be asked (for each module that stands in a stack). C++
///    by its linkage name, demangled; where the compiler wrote none, by the qualified name. Fortran as in the source:
///    `module::procedure`, and without the underscore at the end. Lines come from the line table, a caller's of
///    inlined code from where it was inlined. The rest of a split unit is read from its .dwo file, or from the package
///    (.dwp) next to the module.
/// 2. `.symtab` of the file or of its debug file, else `.dynsym` with what `.gnu_debugdata` adds (MiniDebugInfo): the
///    function whose size covers the address; one
///    without a size only if no other stands between. Of several names for one address an exported one goes before a
///    local one, then one with fewer underscores in front (`write`, not `__write`), then a shorter one (`MPI_Recv`, not
///    `PMPI_Recv`). Versions (`@@GLIBC_2.2.5`) and what compilers add to a function's parts and copies are taken off:
///    `.cold`, `.part.N`, `.constprop.N`, `.isra.N`, `.lto_priv.N`, `.llvm.N`, each also repeated, so that they are
///    called as the function in the source.
/// 3. The relocation that a stub of the procedure linkage table jumps by (x86-64): `name@plt`.
/// 4. Nothing: the place is its module and the offset there, or the bare address.
///
/// What is wrong with a file spoils at most that file's names, goes to `problems` once, and the next source is asked.
/// Memory: of each file that is named in a stack, its symbol table, or its debug sections with what libdw keeps of the
/// units that hold an address asked for; and the answers, at most about a million of them before those are forgotten
/// that nobody holds. The debug information of one file takes at most 256 MB, of all files 1 GB; what would take more
/// is not used, and a problem says so. A file's descriptor stays open, so that its inode is no other's meanwhile.
///
/// Thread: any, several at a time; questions about one module wait for each other.
class code_catalogue {
 public:
  explicit code_catalogue(debug_file_search search = {});
  ~code_catalogue();
  code_catalogue(code_catalogue&&) noexcept;
  code_catalogue& operator=(code_catalogue&&) noexcept;

  /// One question: what is at `pc` of that process? The instruction before a return address is the call, so that is
  /// the one which is looked up for it: the next may belong to another line, or another function.
  struct query {
    const code_map* map = nullptr;
    target_address pc;
    bool is_return_address = false;
  };

  /// Never null, never empty. There is no failure: what has no name is its module's offset, or an address.
  [[nodiscard]] std::shared_ptr<const code_places> places(const code_map& map, target_address pc,
                                                          bool is_return_address);
  /// Many at once, in their order; those of one module are looked up together.
  [[nodiscard]] std::vector<std::shared_ptr<const code_places>> describe(std::span<const query> queries);

  /// Looks these up on a thread of the catalogue's own, in which every signal is blocked, and keeps the answers: by
  /// the stack of the first rank that was unwound, files are opened while others still are. Maps are copied. A question
  /// that comes meanwhile waits only for modules that are being read.
  void expect(std::span<const query> queries);

  /// What was wrong with files so far, each once, with the module's path.
  [[nodiscard]] std::vector<error> problems() const;
  [[nodiscard]] catalogue_counts counts() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
