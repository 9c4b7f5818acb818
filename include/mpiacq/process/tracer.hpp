// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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
#include "mpiacq/process/registers.hpp"

namespace mpiacq {

using clock = std::chrono::steady_clock;
/// When to give up waiting. `no_deadline` waits for ever.
using deadline = clock::time_point;
inline constexpr deadline no_deadline = deadline::max();

/// How a process ended, exactly as wait(2) told it.
struct exit_status {
  bool signaled = false;     ///< ended by a signal, else by exit
  int value = 0;             ///< the exit code (0 to 255), or the signal's number
  bool core_dumped = false;  ///< signaled, and a core file was written
  /// As a shell's $? would show it: the code, or 128 + signal.
  [[nodiscard]] int as_shell() const { return signaled ? 128 + value : value; }
  friend bool operator==(const exit_status&, const exit_status&) = default;
};

/// What to launch. The child inherits this process's terminal, process group, working directory, descriptors without
/// FD_CLOEXEC, file mode mask, and the signal mask of the thread that calls `tracer::launch`.
struct launch_request {
  std::vector<std::string> arguments;  ///< argv; [0] is looked up in PATH where it has no slash, as a shell does
  /// The whole environment, "NAME=value" each; empty: this process's own.
  std::optional<std::vector<std::string>> environment;
  /// Ends the child, and those of its children that are followed, with SIGKILL when this process dies. Never set it
  /// unless the user asked for just that.
  bool kill_with_tool = false;
  bool follow_children = false;  ///< see tracer::follow_children
};

/// How to attach to a process.
struct attach_options {
  bool follow_children = false;  ///< see tracer::follow_children; from the moment when all threads are held
};

/// One of many processes to attach to, and what the caller knows of it.
struct attach_target {
  process_id process;
  /// When the process that is meant was started, in clock ticks after the machine's start: field 22 of /proc/PID/stat
  /// (proc(5)). One that has its number now and was started at another time is not touched. Empty: whoever has it.
  std::optional<std::uint64_t> start_time;
  /// The effective user that the process must have: before it is touched, and once more when all its threads are
  /// stopped, since an exec of a set-user-ID program gives it another. Empty: any.
  std::optional<user_id> user = {};
};

enum class which_threads : std::uint8_t {
  first,  ///< the one that runs main, where it has not ended
  all,
};

enum class breakpoint_kind : std::uint8_t {
  automatic,  ///< hardware where the processor has one free, else software
  hardware,   ///< in debug registers: nothing is written into the program, forked children know nothing of it
  software,   ///< a trap instruction written into the program's code
};

/// The program stands at its entry point (AT_ENTRY): its libraries are mapped and relocated, nothing of its own
/// has run. Comes once after a launch and again after every exec that the process does.
struct entry_reached {};
/// A followed process has made this one, by fork, vfork (posix_spawn) or clone. It is traced now, and stands where it
/// begins: nothing of it has run. The first event of this process.
struct process_born {
  process_id parent;  ///< the one that made it, which need not be the one that waits for it, and may have ended
  /// It runs in its parent's memory until it execs (vfork): only hardware breakpoints can be put in, and the thread
  /// that made it cannot stop before it has exec'd or ended.
  bool shares_memory = false;
};
/// A thread ran onto a breakpoint. Its program counter is at `address`; the instruction there has not run yet.
struct breakpoint_hit {
  thread_id thread;
  target_address address;
};
/// A thread has written to a place that insert_watchpoint named. The write is done; what is in the place now is what
/// the thread has left there, or another one since.
struct watch_hit {
  thread_id thread;
  target_address address;  ///< as it was given
};
/// A stop signal stopped the whole process (SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU), as it would have without us. It stays
/// stopped until SIGCONT, whatever `resume` says. Reported once for each such stop, and needs no resume.
struct group_stopped {
  int signal = 0;
};
/// The stopped process was continued by SIGCONT. Needs no resume.
struct group_continued {};
/// The answer to `interrupt`: every thread is stopped.
struct interrupted {};
/// The process is gone; for a launched one this comes even after `detach`, because the tracing process stays its
/// parent, for one that was attached to it does not. Nothing more comes for it.
struct process_ended {
  exit_status status;
};
/// Something of the tracer itself did not work as it should on this process (a thread that does not stop in time, a
/// breakpoint that cannot be put back). The process goes on.
struct tracing_problem {
  error what;
};

/// The tracing process has let go of this process by itself: this program made no call for longer than
/// `tracer_options::hold_limit` while the process, or another one of this tracer, was stopped; or the tracing process
/// was killed. The process runs on as after `detach`, without breakpoints. Commands that need it answer
/// error_code::limit until it is attached to again. For a launched process process_ended still follows.
struct control_lost {
  error why;
};

/// What a process did. After entry_reached, process_born, breakpoint_hit, watch_hit and interrupted every thread of the
/// process is stopped until `resume`, `detach` or `kill`.
struct process_event {
  process_id process;
  std::variant<entry_reached, process_born, breakpoint_hit, watch_hit, group_stopped, group_continued, interrupted,
               process_ended, tracing_problem, control_lost>
      what;
};

/// How to leave a process on `detach`.
enum class leave : std::uint8_t {
  running,  ///< as it would be without us: running, or stopped if a stop signal had stopped it
  stopped,  ///< stopped as by SIGSTOP, before another instruction of it runs
};

/// How long stopped processes wait for a tool that does not make any call.
inline constexpr std::chrono::milliseconds default_hold_limit{60'000};

struct tracer_options {
  /// How long a stop of all threads of a process may take before it is a tracing_problem.
  std::chrono::milliseconds stop_limit{5000};
  /// The program that traces for this one, as a path. Empty: looked for where MPIACQ_LIBEXEC names a folder (not in a
  /// program that runs with more rights than its user), beside this library, and where that was installed.
  std::string tracing_program;
  /// How long this program may be silent while a process is stopped. Every call of the tracer, `wait` included, starts
  /// the time again; so does `keep_held`. When the time is over (this program is stopped, or waits for a full pipe, or
  /// for memory that does not answer), the tracing process takes out all breakpoints, lets go of all processes of this
  /// tracer, and reports `control_lost` for each. Empty: processes stay stopped for as long as this program lives,
  /// which is what an interactive debugger needs, since its user may think for hours.
  std::optional<std::chrono::milliseconds> hold_limit = default_hold_limit;
};

/// Controls processes with ptrace.
///
/// Each tracer has a process of its own (`tracer` in the package's libexec folder), a child of this one, and that alone
/// traces: it is the parent of what is launched and the tracer of what is attached. The calls below may be made from
/// any one thread at a time; they are carried out there. The host program keeps its signal dispositions and its
/// children. It has one more child while a tracer lives, of whose end `waitpid(-1, ...)` may tell it.
///
/// Signals of the traced processes are passed on untouched and unreported. Threads and (while a software breakpoint
/// is in) forked children are followed inside; children that are not to be followed (follow_children) are let go at
/// once, without a trap in their code.
///
/// If this process dies, by whatever means, everything that was traced goes on without it: the tracing process still
/// holds it all, takes the breakpoints out of stopped threads, lets go, and ends.
class tracer {
 public:
  /// Best made early: limits, priority, processor affinity and namespaces of what is launched are those of this moment.
  /// Errors: not_found (no tracing program; the message says where it was looked for), system.
  [[nodiscard]] static result<std::unique_ptr<tracer>> create(tracer_options options = {});
  /// Detaches from everything, leaving it running; does not wait for launched processes to end.
  ~tracer();
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;

  /// Starts a program under control; its first event is entry_reached. Errors: not_found (no such file; as `env` ends
  /// in 127), exec_failed or permission (found but not runnable; 126) with the path tried and errno; system.
  [[nodiscard]] result<process_id> launch(const launch_request& request);

  /// Takes hold of a process that runs already, with all its threads. It answers when they are held, as after
  /// `interrupted`, and no event says so again: who asks has nothing to do before, an attach that fails has to be told
  /// to the one who asked, and there is no half attached process to know about. A failed one has undone itself: every
  /// thread is let go, and no event of that process comes.
  ///
  /// The process keeps whatever state it is in. One that a stop signal had stopped gives group_stopped first, stays
  /// stopped over `resume`, and is left stopped by detach(leave::running), unless somebody sends SIGCONT meanwhile. An
  /// exec or a fork in the middle of the attach happens; after an exec the process is held before the first instruction
  /// of the new program, and entry_reached follows the resume. A thread that does not come back from the kernel
  /// within `tracer_options::stop_limit` is named by a tracing_problem, and held when it does. Nothing can be written
  /// into such a process' code.
  ///
  /// No signal is sent to the process (PTRACE_SEIZE, PTRACE_INTERRUPT). A system call that a thread sleeps in is
  /// interrupted, and the kernel starts it again: read, write, accept, connect, wait4, futex, flock, poll, ppoll,
  /// select, pselect, nanosleep, clock_nanosleep and pause go on, with what is left of their time. A few calls the
  /// kernel never starts again, after a stop signal (Ctrl-Z) neither: they give EINTR to the program (signal(7)):
  /// epoll_wait and epoll_pwait, semop and semtimedop, sigtimedwait and sigwaitinfo, io_getevents, and socket calls
  /// that have a timeout set (SO_RCVTIMEO, SO_SNDTIMEO).
  ///
  /// Errors: not_found (no such process, or the number is a thread's: the message says of which process), process_gone
  /// (a zombie, or it ended meanwhile), busy (somebody traces it: who, by number and name; this tracer itself is told
  /// apart; of several that attach at the same time one gets it), permission (the message says which of the kernel's
  /// reasons it is, and what to do: another user's, set-user-ID, not dumpable, capabilities, Yama, seccomp, a thread of
  /// the kernel, another policy), timed_out (it makes threads faster than they can be caught), invalid_argument (this
  /// program itself).
  [[nodiscard]] result<void> attach(process_id process, const attach_options& options = {});
  /// The same for many processes, which stop as nearly together as the kernel allows: whatever can be asked about them
  /// is asked first, then all threads of all are seized, then all are interrupted, and only then the stops are waited
  /// for. It answers when every process is held or given up, one outcome for each in the order given; what fails with
  /// one leaves the others as they are. A thread that does not come back from the kernel keeps all waiting for
  /// `tracer_options::stop_limit`. The tracing process keeps a folder of /proc open for each, up to a limit, by which
  /// it knows it again the next time.
  /// Errors as `attach`; process_gone also where the number is another process's now (attach_target::start_time).
  [[nodiscard]] std::vector<result<void>> attach_all(std::span<const attach_target> targets,
                                                     const attach_options& options = {});

  /// The next event; empty where `until` passed first. Events of one process come in order.
  [[nodiscard]] result<std::optional<process_event>> wait(deadline until = no_deadline);
  /// Nothing is traced, no child of what was is on its way, and nothing that was launched is left: no event will come
  /// any more but those that `wait` gives at once.
  [[nodiscard]] result<bool> is_idle() const;
  /// A descriptor to poll for reading: readable while `wait` would give an event at once. It stays the tracer's.
  [[nodiscard]] int event_descriptor() const;

  /// Starts the time of `tracer_options::hold_limit` again. Call it after each step of long work on stopped processes.
  /// It costs a message to the tracing process only when a quarter of the time is over. Errors: system.
  result<void> keep_held();

  /// Lets a stopped process run on. Fine where the tracing process has let go of it already (`control_lost`).
  [[nodiscard]] result<void> resume(process_id process);
  /// Asks for all threads of a running process to be stopped; `interrupted` (or another stop that came first) follows.
  [[nodiscard]] result<void> interrupt(process_id process);
  /// Takes away breakpoints and lets go of every thread; code and debug registers are as before. A running process is
  /// stopped for it first. For a launched process process_ended still follows. It may be attached to again. Errors:
  /// timed_out (a thread does not stop, and is let go when it does), limit (the tracing process has let go of it
  /// before: what was read of the process since it was stopped may not fit together), process_gone.
  [[nodiscard]] result<void> detach(process_id process, leave how = leave::running);
  /// The same for many: one outcome for each, in the order given. Those that run are all stopped first.
  [[nodiscard]] std::vector<result<void>> detach_all(std::span<const process_id> processes, leave how = leave::running);
  /// SIGKILL. process_ended follows.
  [[nodiscard]] result<void> kill(process_id process);

  /// The process must be stopped. Putting one where one is already is no error. A software breakpoint is read back
  /// after writing. Errors: invalid_argument, unreadable_memory, unsupported (hardware asked for and none free),
  /// process_gone.
  [[nodiscard]] result<breakpoint_kind> insert_breakpoint(process_id process, target_address address,
                                                          breakpoint_kind kind = breakpoint_kind::automatic);
  [[nodiscard]] result<void> remove_breakpoint(process_id process, target_address address);

  /// Has every write of the process's threads to `length` bytes at `address` reported, by watch_hit, also one that
  /// changes nothing. `length` is 1, 2, 4 or 8, and divides the address. Always in a debug register, of which a process
  /// has four for breakpoints and these together. What the kernel writes (read(2) into the place), and what another
  /// process does to shared memory, is not seen. The process must be stopped. Putting one where one of the same length
  /// is already is no error. Errors: invalid_argument, unsupported (no register is free, or the processor is one on
  /// which this is not done: aarch64 stops before the write), process_gone.
  [[nodiscard]] result<void> insert_watchpoint(process_id process, target_address address, std::size_t length);
  [[nodiscard]] result<void> remove_watchpoint(process_id process, target_address address);

  /// What the tracing process writes at `address` if this program ends, by whatever means, or this tracer does, with
  /// the process still traced: a variable that says that a tool is there goes back to what it was. It takes the place
  /// of what was to be written there before; no bytes take that back. It is forgotten when the process execs, and by
  /// `detach`: whoever lets go in order has written already. At most 64 KiB. Errors: invalid_argument, not_found.
  [[nodiscard]] result<void> restore_on_exit(process_id process, target_address address,
                                             std::span<const std::byte> bytes);

  /// Whether the children that a process makes from now on are traced as it is. A followed child gives process_born,
  /// then entry_reached for each of its execs, so that none runs a program unseen, and process_ended; what it makes is
  /// followed too. It inherits no breakpoint. detach lets any of them go without a trace, and its children then are
  /// nobody's. To whom waits for it, it is a child like any other. Those that a process makes while it is attached to
  /// or detached from are let go.
  ///
  /// The process must be stopped to be followed from now on; that it is not any more can be said at any time, and what
  /// it made before may still give process_born. Two things to know: the kernel gives a program that is set-user-ID no
  /// rights while somebody traces it who has not CAP_SYS_PTRACE, so do not follow further than needed; and a clone with
  /// CLONE_UNTRACED is hidden from us.
  [[nodiscard]] result<void> follow_children(process_id process, bool follow);

  /// The threads that are known at this moment.
  [[nodiscard]] result<std::vector<thread_id>> threads(process_id process) const;

  /// The general registers of the threads of many processes, in one exchange with the tracing process: one outcome for
  /// each process, in the order given. The processes must be stopped. A thread that has not stopped (tracing_problem)
  /// has none and is left out, as is one that is being killed. Errors: invalid_argument (it runs), process_gone.
  [[nodiscard]] std::vector<result<std::vector<thread_registers>>> registers(
      std::span<const process_id> processes, which_threads which = which_threads::all) const;

 private:
  struct state;
  explicit tracer(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// The memory of a live process on this node: process_vm_readv, up to 1,024 ranges a call, and /proc/PID/mem where the
/// kernel refuses that. Writes go through /proc/PID/mem, so that code can be written too. Needs ptrace permission,
/// not an attachment.
/// Thread: any, also several at a time.
class process_memory final : public memory_reader, public memory_writer {
 public:
  /// `user`: it is written to only while it belongs to that user alone (process_user.hpp); empty: whosever it is.
  explicit process_memory(process_id pid, std::optional<user_id> user = {}) : pid_(pid), user_(user) {}
  [[nodiscard]] result<void> read_ranges(std::span<memory_range> ranges) override;
  [[nodiscard]] result<void> write(target_address address, std::span<const std::byte> bytes) override;
  [[nodiscard]] process_id pid() const { return pid_; }

 private:
  process_id pid_;
  std::optional<user_id> user_;
};

}  // namespace mpiacq
