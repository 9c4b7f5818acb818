// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Process control: launch, attach, stops, breakpoints, registers, memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/process/registers.hpp"

namespace mpiacq {

/// How a process ended, as wait(2) reports it.
struct exit_status {
  bool signaled = false;     ///< by a signal, else by exit
  int value = 0;             ///< the exit code (0 to 255), or the number of the signal
  bool core_dumped = false;  ///< by a signal, and a core file was written
  /// As $? of a shell: the code, or 128 + the signal.
  [[nodiscard]] int as_shell() const { return signaled ? 128 + value : value; }
  friend bool operator==(const exit_status&, const exit_status&) = default;
};

/// What to launch. The child inherits the terminal, process group, working directory, descriptors without FD_CLOEXEC
/// and file mode mask of this process, and the signal mask of the thread that calls `tracer::launch`.
struct launch_request {
  std::vector<std::string> arguments;  ///< argv; [0] is looked up in PATH if it has no slash
  /// The whole environment, "NAME=value" each; empty: that of this process.
  std::optional<std::vector<std::string>> environment;
  /// Ends the child and its followed children with SIGKILL when this process dies. Set it only if the user asked for
  /// it.
  bool kill_with_tool = false;
  bool follow_children = false;  ///< see tracer::follow_children
};

/// How to attach to a process.
struct attach_options {
  bool follow_children = false;  ///< see tracer::follow_children; from the moment when all threads are held
  /// Reports `process_ending` just before the process ends, and before each of its followed children does.
  bool report_end = false;
};

/// One of many processes to attach to, and how the caller recognises it.
struct attach_target {
  process_id process;
  /// The start time of the process in clock ticks since boot: field 22 of /proc/PID/stat (proc(5)). Another process
  /// that has the pid by now is not touched. Empty: any process with this pid.
  std::optional<std::uint64_t> start_time;
  /// The effective user that the process must have. It is checked before the process is touched, and again when all its
  /// threads are stopped, because an exec of a set-user-ID program changes it. Empty: any user.
  std::optional<user_id> user = {};
};

/// Which threads of a process.
enum class which_threads : std::uint8_t {
  first,  ///< the thread that runs main, unless it has ended
  all,
};

/// Which registers of a stopped thread are read.
enum class register_sets : std::uint8_t {
  general,              ///< all but the floating-point registers
  with_floating_point,  ///< `thread_registers::floating_point` too; empty where the kernel does not give them
};

/// How a breakpoint is made.
enum class breakpoint_kind : std::uint8_t {
  automatic,  ///< hardware if a debug register is free, else software
  hardware,   ///< in debug registers: nothing is written into the program, and forked children do not have it
  software,   ///< a trap instruction written into the program's code
};

/// The process is at the entry point of its program (AT_ENTRY): its libraries are mapped and relocated, and none of its
/// own code has run. It comes once after a launch, and after every exec of the process.
struct entry_reached {};
/// A followed process has created this one by fork, vfork (posix_spawn) or clone. The new process is traced and has not
/// run yet. It is the first event of this process.
struct process_born {
  process_id parent;  ///< the process that created it; another process may wait for it, and it may have ended
  /// The process runs in the memory of its parent until it execs (vfork). Until then, only hardware breakpoints are
  /// possible, and the thread that created it cannot stop.
  bool shares_memory = false;
};
/// A thread has reached a breakpoint. Its program counter is `address`; the instruction there has not run yet.
struct breakpoint_hit {
  thread_id thread;
  target_address address;
};
/// A thread has written to a place that `insert_watchpoint` named. The write is complete; another thread may have
/// written there since.
struct watch_hit {
  thread_id thread;
  target_address address;  ///< as given to `insert_watchpoint`
};
/// A stop signal (SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU) has stopped the whole process, as without a tracer. The process
/// stays stopped until SIGCONT, even after `resume`. It is reported once for each such stop and needs no resume.
struct group_stopped {
  int signal = 0;
};
/// SIGCONT has continued the stopped process. It needs no resume.
struct group_continued {};
/// The answer to `interrupt`: every thread is stopped.
struct interrupted {};
/// The process is about to end, and its memory and the registers of its threads are still there (PTRACE_EVENT_EXIT of
/// ptrace(2)). It is reported once, if `attach_options::report_end` asks for it. The threads that have not ended yet
/// are stopped on their way out. `resume`, `detach` or `kill` lets the process end with exactly this status; nothing
/// keeps it alive. process_ended follows unless the process is detached from; for a launched process it follows always.
///
/// A core file of the kernel is complete at this moment, because the kernel writes it before. Before Linux 5.16 the
/// kernel waits for the other threads of the process while it writes a core file; those threads have then ended
/// already.
///
/// SIGKILL also ends a process that is held, whatever the tool does. process_ending of it comes without a resume, and
/// the process is held further. A `resume` that was called before the event was received does not end this hold.
///
/// It is missing if SIGKILL arrives just while `resume` or `detach` continues the threads, and the kernel may take a
/// thread out of this stop for a further SIGKILL: process_ended then comes without a resume.
struct process_ending {
  exit_status status;  ///< how it will end; `core_dumped` tells whether a core file has been written
  /// The thread that ends the process: the one that received the signal, called exit_group (exit(3), a return from
  /// main), or was the last one. SIGKILL has no receiver: any thread, the first one if it is left.
  thread_id thread;
  /// si_code of the signal (sigaction(2)): SEGV_MAPERR, SI_USER, ...; 0 also if it is unknown, as for SIGKILL.
  int signal_code = 0;
  /// The process that sent the signal (SI_USER, SI_TKILL, SI_QUEUE), by its pid in the pid namespace of the receiver.
  /// 0: a process outside of this namespace. -1: the kernel, or unknown, as for SIGKILL.
  process_id sender;
  /// si_addr: the address that caused SIGSEGV or SIGBUS, or the instruction that caused SIGILL or SIGFPE; 0 otherwise.
  target_address fault;
};
/// The process has ended. For a launched process this comes even after `detach`, because the tracer server stays its
/// parent; for an attached process it does not. Nothing more comes for this process.
struct process_ended {
  exit_status status;
};
/// The tracer could not do something with this process (a thread does not stop in time, a breakpoint cannot be inserted
/// again). The process goes on.
struct tracing_problem {
  error what;
};

/// The tracer server has released this process by itself: this program made no call for longer than
/// `tracer_options::hold_limit` while a process of this tracer was stopped, or the tracer server was killed. The
/// process runs on as after `detach`, without breakpoints. Commands that need it answer error_code::limit until it is
/// attached to again. For a launched process, process_ended still follows.
struct control_lost {
  error why;
};

/// What a process did. After entry_reached, process_born, breakpoint_hit, watch_hit, process_ending and interrupted,
/// all threads of the process are stopped until `resume`, `detach` or `kill`.
struct process_event {
  process_id process;
  std::variant<entry_reached, process_born, breakpoint_hit, watch_hit, group_stopped, group_continued, interrupted,
               process_ending, process_ended, tracing_problem, control_lost>
      what;
};

/// In which state `detach` leaves a process.
enum class leave : std::uint8_t {
  running,  ///< as without a tracer: running, or stopped if a stop signal had stopped it
  stopped,  ///< stopped as by SIGSTOP, before its next instruction
};

/// The default of `tracer_options::hold_limit`.
inline constexpr std::chrono::milliseconds default_hold_limit{60'000};

/// How a tracer works.
struct tracer_options {
  /// How long a stop of all threads of a process may take before it is a tracing_problem.
  std::chrono::milliseconds stop_limit{5000};
  /// The path of the tracer server's program. Empty: it is looked for in the folder MPIACQ_LIBEXEC (not in a program
  /// that runs with more rights than its user), beside this library, and where the library was installed.
  std::string tracing_program = {};
  /// The hold limit: how long a process stays stopped without a call of this program. Every call of the tracer,
  /// including `wait` and `keep_held`, starts the time again. When the time is over (this program is stopped, or waits
  /// for a full pipe or for memory that does not answer), the tracer server removes all breakpoints, releases all
  /// processes of this tracer, and reports `control_lost` for each. Empty: processes stay stopped for as long as this
  /// program lives. An interactive debugger needs that, because its user may think for hours.
  std::optional<std::chrono::milliseconds> hold_limit = default_hold_limit;
  /// The tracer server starts with the first command and not with `create`. The errors of a start are those of that
  /// command then. It is for a program that may never need the tracer, and must not be used to launch programs.
  bool start_when_needed = false;
};

/// Why the kernel does not let this program read and trace a process: its user, its capabilities,
/// kernel.yama.ptrace_scope, a filter of system calls, or a security module, and what to do. Empty if the kernel does.
/// The call asks the kernel without touching the process. The error is permission.
[[nodiscard]] std::optional<error> why_no_access(process_id process);

/// Controls processes with ptrace.
///
/// Each tracer has a separate process, the tracer server (`tracer` in the libexec folder of the package), a child of
/// this process. The tracer server alone traces: it is the parent of what is launched and the tracer of what is
/// attached. The host program keeps its signal dispositions and its children. While a tracer lives it has one more
/// child, and `waitpid(-1, ...)` may report the end of this child.
///
/// Signals of the traced processes are passed on unchanged and are not reported. Threads are followed. Forked children
/// are followed while a software breakpoint is inserted; children that are not to be followed (`follow_children`) are
/// released at once, without a trap in their code.
///
/// If this process dies, by whatever means, everything that was traced goes on: the tracer server removes the
/// breakpoints, releases all processes, and ends.
///
/// Thread: one at a time, any thread.
class tracer {
 public:
  /// Starts a tracer server. Create it early: what is launched has the limits, priority, processor affinity and
  /// namespaces that this process has now. Errors: not_found (the program of the tracer server; the message says where
  /// it was looked for), system.
  [[nodiscard]] static result<std::unique_ptr<tracer>> create(const tracer_options& options = {});
  /// Detaches from all processes and leaves them running. It does not wait for launched processes to end.
  ~tracer();
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;

  /// Starts a program under control; its first event is entry_reached. Errors: not_found (no such file; `env` would
  /// exit with 127); exec_failed or permission (the file cannot be run; 126), with the path and errno; system.
  [[nodiscard]] result<process_id> launch(const launch_request& request);

  /// Attaches to a running process with all its threads. The call returns when all threads are held, as after
  /// `interrupted`; no event repeats this. A failed attach has undone itself: every thread is released, and no event of
  /// the process comes.
  ///
  /// The process keeps its state. If a stop signal had stopped it, group_stopped comes first; the process stays stopped
  /// after `resume`, and detach(leave::running) leaves it stopped, unless SIGCONT arrives meanwhile. An exec or a fork
  /// during the attach happens. After an exec, the process is held before the first instruction of the new program, and
  /// entry_reached follows the resume. If a thread does not leave the kernel within `tracer_options::stop_limit`, a
  /// tracing_problem names it, and it is held when it does. Until then nothing can be written into the code of the
  /// process.
  ///
  /// No signal is sent to the process (PTRACE_SEIZE, PTRACE_INTERRUPT). A system call in which a thread sleeps is
  /// interrupted, and the kernel restarts it: read, write, accept, connect, wait4, futex, flock, poll, ppoll, select,
  /// pselect, nanosleep, clock_nanosleep and pause continue with the rest of their time. The kernel does not restart
  /// some calls, as after a stop signal (Ctrl-Z); these return EINTR to the program (signal(7)): epoll_wait and
  /// epoll_pwait, semop and semtimedop, sigtimedwait and sigwaitinfo, io_getevents, and socket calls with a timeout
  /// (SO_RCVTIMEO, SO_SNDTIMEO).
  ///
  /// Errors: not_found (there is no such process, or the number is that of a thread, and the message names its
  /// process); process_gone (a zombie, or the process has ended meanwhile); busy (another tool traces it; the message
  /// has its pid and name); permission (the message says which reason of the kernel it is and what to do: another user,
  /// set-user-ID, not dumpable, capabilities, Yama, seccomp, a kernel thread, another policy); timed_out (the process
  /// creates threads faster than they can be stopped); invalid_argument (this program itself).
  [[nodiscard]] result<void> attach(process_id process, const attach_options& options = {});
  /// Attaches to many processes, which stop as close together in time as the kernel allows: all questions are asked
  /// first, then all threads of all processes are seized, then all are interrupted, and then the stops are collected.
  /// The call returns when every process is held or has failed, with one outcome for each in the order of `targets`. A
  /// failure of one does not affect the others. A thread that does not leave the kernel delays the call by
  /// `tracer_options::stop_limit`. The tracer server keeps a folder of /proc open for each process, up to a limit, and
  /// recognises the process by it the next time. Errors as `attach`; process_gone also if the pid belongs to another
  /// process now (attach_target::start_time).
  [[nodiscard]] std::vector<result<void>> attach_all(std::span<const attach_target> targets,
                                                     const attach_options& options = {});

  /// The next event; empty if `until` passed first. Events of one process come in order. Errors: system.
  [[nodiscard]] result<std::optional<process_event>> wait(deadline until = no_deadline);
  /// Whether no further event can come, except those that `wait` returns at once: nothing is traced, no child of a
  /// traced process is about to appear, and no launched process is left.
  [[nodiscard]] result<bool> is_idle() const;
  /// A descriptor to poll for reading: it is readable while `wait` would return an event at once. It belongs to the
  /// tracer.
  [[nodiscard]] int event_descriptor() const;

  /// Starts the time of `tracer_options::hold_limit` again. Call it after each step of long work on stopped processes.
  /// It sends a message only if a quarter of the time is over. Errors: system.
  result<void> keep_held();

  /// Lets a stopped process run on. No error if the tracer server has released it already (`control_lost`).
  [[nodiscard]] result<void> resume(process_id process);
  /// Stops all threads of a running process. `interrupted` follows, or another stop that came first.
  [[nodiscard]] result<void> interrupt(process_id process);
  /// Removes breakpoints and releases every thread; code and debug registers are as before. A running process is
  /// stopped for that first. For a launched process, process_ended still follows. The process may be attached to again.
  /// Errors: timed_out (a thread does not stop; it is released when it does), limit (the tracer server has released the
  /// process before: what was read since it was stopped may be inconsistent), process_gone.
  [[nodiscard]] result<void> detach(process_id process, leave how = leave::running);
  /// Detaches from many processes, with one outcome for each in their order. The running ones are all stopped first.
  [[nodiscard]] std::vector<result<void>> detach_all(std::span<const process_id> processes, leave how = leave::running);
  /// Sends SIGKILL. process_ended follows.
  [[nodiscard]] result<void> kill(process_id process);

  /// Inserts a breakpoint into a stopped process, and returns the kind that was used. A second breakpoint at one
  /// address is no error. A software breakpoint is read back after it was written. Errors: invalid_argument,
  /// unreadable_memory, unsupported (hardware was requested and no register is free), process_gone.
  [[nodiscard]] result<breakpoint_kind> insert_breakpoint(process_id process, target_address address,
                                                          breakpoint_kind kind = breakpoint_kind::automatic);
  /// Removes a breakpoint from a stopped process. Errors as `insert_breakpoint`.
  [[nodiscard]] result<void> remove_breakpoint(process_id process, target_address address);

  /// Reports every write by the threads of a stopped process to `length` bytes at `address` as watch_hit, even if the
  /// value stays the same. `length` is 1, 2, 4 or 8 and divides the address. A watchpoint takes a debug register; a
  /// process has four for breakpoints and watchpoints together. Writes by the kernel (read(2) into the place) and
  /// writes by other processes to shared memory are not seen. A second watchpoint of the same length at one address is
  /// no error. Errors: invalid_argument, unsupported (no register is free, or the processor is not supported: aarch64
  /// stops before the write), process_gone.
  [[nodiscard]] result<void> insert_watchpoint(process_id process, target_address address, std::size_t length);
  /// Removes a watchpoint from a stopped process. Errors as `insert_watchpoint`.
  [[nodiscard]] result<void> remove_watchpoint(process_id process, target_address address);

  /// What the tracer server writes at `address` if this program or this tracer ends, by whatever means, while the
  /// process is traced: a variable that says that a tool is present goes back to its old value. It replaces an earlier
  /// request for the same address; empty `bytes` cancel the request. An exec of the process and `detach` cancel all
  /// requests of the process. At most 64 KiB. Errors: invalid_argument, not_found.
  [[nodiscard]] result<void> restore_on_exit(process_id process, target_address address,
                                             std::span<const std::byte> bytes);

  /// Whether children that a process creates from now on are traced too. A followed child gives process_born,
  /// entry_reached for each of its execs, and process_ended; its children are followed too. It inherits no breakpoint.
  /// `detach` releases each of them like any process; its later children are not followed. For the process that waits
  /// for it, it is a child like any other. Children that a process creates during an attach or detach are not followed.
  ///
  /// The process must be stopped for `follow` to become true. It may become false at any time; children that were
  /// created before may still give process_born. Note: a set-user-ID program gets no rights from the kernel while a
  /// tracer without CAP_SYS_PTRACE traces it, so do not follow further than needed. A clone with CLONE_UNTRACED is not
  /// seen.
  [[nodiscard]] result<void> follow_children(process_id process, bool follow);

  /// The threads of a process that are known at this moment.
  [[nodiscard]] result<std::vector<thread_id>> threads(process_id process) const;

  /// The registers of the threads of many stopped processes, in one exchange with the tracer server, with one
  /// outcome for each process in the order of `processes`. A thread that has not stopped (tracing_problem) or is being
  /// killed is left out. Errors: invalid_argument (the process runs), process_gone.
  [[nodiscard]] std::vector<result<std::vector<thread_registers>>> registers(
      std::span<const process_id> processes, which_threads which = which_threads::all,
      register_sets sets = register_sets::general) const;

  /// Has the tracer servers of this program release everything, as after the program's end, and waits for nothing. It
  /// is for a program that ends while one of its threads cannot leave the kernel: a thread that reads memory whose file
  /// never answers (FUSE) keeps the program's descriptors open, and a tracer server learns of the program's end only
  /// when that thread has ended, too. No tracer of this program can be used afterwards. A forked child does nothing
  /// here. Thread: any; also a signal handler.
  static void release_everything() noexcept;

 private:
  struct state;
  explicit tracer(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// The memory of a live process on this node. It is read by process_vm_readv, up to 1,024 ranges in a call, and through
/// /proc/PID/mem if the kernel refuses that. It is written through /proc/PID/mem, so code can be written too. This
/// needs the permission to trace the process, but no attach. Thread: any, several at a time.
class process_memory final : public memory_reader, public memory_writer {
 public:
  /// The memory of process `pid`. It is written to only while the process belongs to `user` alone (process_user.hpp);
  /// empty: any user.
  explicit process_memory(process_id pid, std::optional<user_id> user = {}) : pid_(pid), user_(user) {}
  [[nodiscard]] result<void> read_ranges(std::span<memory_range> ranges) override;
  [[nodiscard]] result<void> write(target_address address, std::span<const std::byte> bytes) override;
  /// The process.
  [[nodiscard]] process_id pid() const { return pid_; }

 private:
  process_id pid_;
  std::optional<user_id> user_;
};

}  // namespace mpiacq
