// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "separate/sandbox.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper/filter_program.hpp"
#include "helper/less_rights.hpp"

namespace mpiacq::mqd_host {

namespace {

using base::filter_program;
using base::install_filter;

/// Reading from open files, memory, clocks, waiting, exits, and the C library's own look-ups. No call in this list can
/// name another process, or change anything outside of this one.
constexpr std::array always_allowed{
    SYS_read,
    SYS_pread64,
    SYS_readv,
    SYS_write,
    SYS_writev,
    SYS_close,
    SYS_lseek,
    SYS_fstat,
    SYS_sendto,
    SYS_recvfrom,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_msync,
    SYS_mincore,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_set_tid_address,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getgroups,
    SYS_getrusage,
    SYS_getrlimit,
    SYS_times,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrandom,
    SYS_getcwd,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_ppoll,
    SYS_pselect6,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
    SYS_membarrier,
};
/// Calls with a path, for the loader. The closed sandbox refuses them with EACCES, because the C library may make them
/// in passing.
constexpr std::array looks_at_files{SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat};

/// Names of calls that a library might try and must not make, for messages.
constexpr std::array<system_call, 32> refused_names{{
    {SYS_openat, "openat"},
    {SYS_openat2, "openat2"},
    {SYS_socket, "socket"},
    {SYS_socketpair, "socketpair"},
    {SYS_connect, "connect"},
    {SYS_bind, "bind"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_clone, "clone"},
    {SYS_clone3, "clone3"},
    {SYS_execve, "execve"},
    {SYS_execveat, "execveat"},
    {SYS_ptrace, "ptrace"},
    {SYS_kill, "kill"},
    {SYS_tkill, "tkill"},
    {SYS_tgkill, "tgkill"},
    {SYS_rt_sigqueueinfo, "rt_sigqueueinfo"},
    {SYS_pidfd_open, "pidfd_open"},
    {SYS_pidfd_send_signal, "pidfd_send_signal"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_unlinkat, "unlinkat"},
    {SYS_renameat2, "renameat2"},
    {SYS_mkdirat, "mkdirat"},
    {SYS_mmap, "mmap"},
    {SYS_mprotect, "mprotect"},
    {SYS_memfd_create, "memfd_create"},
    {SYS_prctl, "prctl"},
    {SYS_seccomp, "seccomp"},
    {SYS_bpf, "bpf"},
    {SYS_io_uring_setup, "io_uring_setup"},
    {SYS_setpriority, "setpriority"},
    {SYS_fcntl, "fcntl"},
}};

/// O_ACCMODE, and the flags that make or change a file. O_PATH is not among them: such a descriptor can change nothing.
constexpr std::uint32_t writing_flags = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
constexpr std::uint32_t executable = 4;  // PROT_EXEC

std::atomic<std::int32_t>* refused_call = nullptr;

/// The kernel stopped the call before it began. The handler stores the number and ends the process as the kernel would
/// have done: its wait status is SIGSYS.
void on_refusal(int signal, siginfo_t* what, void* /*context*/) {
  if (refused_call != nullptr) refused_call->store(what->si_syscall);
  struct sigaction fatal {};
  fatal.sa_handler = SIG_DFL;
  ::sigaction(signal, &fatal, nullptr);
  ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal);
}

void watch_refusals(std::atomic<std::int32_t>& refused) {
  refused_call = &refused;
  struct sigaction action {};
  action.sa_sigaction = on_refusal;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGSYS, &action, nullptr);
}

std::vector<sock_filter> loading_filter() {
  const auto self = static_cast<std::uint32_t>(::getpid());
  filter_program filter(this_arch.audit_arch);
  for (const auto& calls :
       {std::span<const std::int32_t>{always_allowed}, std::span<const std::int32_t>{looks_at_files}, this_arch.allowed,
        this_arch.looks_at_files}) {
    for (const std::int32_t call : calls) filter.allow(call);
  }
  filter.allow_without_bits(SYS_openat, 2, writing_flags);
  if (this_arch.open) filter.allow_without_bits(*this_arch.open, 1, writing_flags);
  filter.allow(SYS_mmap);
  filter.allow(SYS_mprotect);
  filter.allow(SYS_seccomp);  // for close_sandbox: a further filter can only restrict more
  // abort() sends a signal to the own process.
  filter.allow_if_equal(SYS_kill, 0, {self});
  filter.allow_if_equal(SYS_tgkill, 0, {self});
  filter.allow_if_equal(SYS_fcntl, 1, {F_GETFD, F_SETFD, F_GETFL, F_DUPFD, F_DUPFD_CLOEXEC});
  // The C library makes these calls in passing and can do without them.
  filter.refuse(SYS_ioctl, ENOTTY);
  filter.refuse(SYS_prlimit64, EPERM);
  return std::move(filter).finish(filter_program::trap);
}

std::vector<sock_filter> running_filter() {
  filter_program filter(this_arch.audit_arch);
  for (const auto& calls : {std::span<const std::int32_t>{looks_at_files}, this_arch.looks_at_files}) {
    for (const std::int32_t call : calls) filter.refuse(call, EACCES);
  }
  filter.refuse(SYS_openat, EACCES);
  if (this_arch.open) filter.refuse(*this_arch.open, EACCES);
  filter.trap_with_bits(SYS_mmap, 2, executable);
  filter.trap_with_bits(SYS_mprotect, 2, executable);
  filter.trap_always(SYS_seccomp);
  return std::move(filter).finish(filter_program::allow_rest);
}

std::uint64_t address_space_in_use() {
  unsigned long pages = 0;
  FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

constexpr std::uint64_t own_address_space = 512U << 20U;  // pages of the target, what a library maps, stacks

void set_limits(const queue_limits& limits) {
  const std::uint64_t used = address_space_in_use() + own_address_space;
  base::limit_resource(RLIMIT_AS,
                       limits.allocated_bytes < UINT64_MAX - used ? used + limits.allocated_bytes : UINT64_MAX);
  base::limit_resource(RLIMIT_STACK, 16U << 20U);  // an endless recursion ends soon even if the shell has no limit
  base::limit_resource(RLIMIT_CORE, 0);
  base::limit_resource(RLIMIT_FSIZE, 0);
  base::limit_resource(RLIMIT_NPROC, 0);
  base::limit_resource(RLIMIT_MEMLOCK, 0);
  base::limit_resource(RLIMIT_MSGQUEUE, 0);
  base::limit_resource(RLIMIT_NOFILE, 32);  // the loader opens a library and its dependencies one after the other
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(limits.process_time).count();
  // The tool's clock ends the process sooner. This limit is for the case that the tool itself was stopped.
  base::limit_resource(RLIMIT_CPU, static_cast<std::uint64_t>(std::max<std::int64_t>(seconds, 0)) + 1);
}

}  // namespace

std::vector<std::string> enter_sandbox(const queue_limits& limits, std::atomic<std::int32_t>& refused) {
  std::vector<std::string> lacking;
  set_limits(limits);
  base::drop_capabilities();
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  watch_refusals(refused);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    lacking.emplace_back("this kernel does not let a process give up new privileges: the library ran without that");
  }
  if (const int outcome = install_filter(loading_filter()); outcome != 0) {
    lacking.push_back(
        error{error_code::unsupported, "this kernel accepts no filter of system calls: the library ran without one"}
            .with_errno(outcome)
            .message);
  }
  return lacking;
}

void close_sandbox() {
  // If the kernel refused the first filter, it refuses this one too.
  static_cast<void>(install_filter(running_filter()));
}

std::string_view system_call_name(std::int32_t number) {
  for (const auto& names : {std::span<const system_call>{refused_names}, this_arch.named}) {
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const system_call& c) { return c.number == number; });
    if (found != names.end()) return found->name;
  }
  return {};
}

}  // namespace mpiacq::mqd_host
