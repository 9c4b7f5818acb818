// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "separate/pmix_confinement.hpp"

#include <array>
#include <cerrno>
#include <cstdint>

#include <linux/audit.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper/filter_program.hpp"
#include "helper/less_rights.hpp"

namespace mpiacq::pmix {

namespace {

constexpr std::array refused_calls{
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_setns,
    SYS_unshare,
    SYS_pidfd_send_signal,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_io_uring_setup,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_kill,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
};

constexpr std::uint64_t longest_file = 64U << 20U;
constexpr std::uint64_t most_memory = 8ULL << 30U;  // a table of millions of processes, threads, hwloc's topology
constexpr std::uint64_t most_descriptors = 256;

}  // namespace

void confine_pmix() {
  base::limit_resource(RLIMIT_CORE, 0);
  base::limit_resource(RLIMIT_FSIZE, longest_file);
  base::limit_resource(RLIMIT_AS, most_memory);
  base::limit_resource(RLIMIT_NOFILE, most_descriptors);
  base::drop_capabilities();
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  base::filter_program filter(MPIACQ_AUDIT_ARCH);
  for (const long call : refused_calls) filter.refuse(static_cast<std::int32_t>(call), EPERM);
  static_cast<void>(base::install_filter(std::move(filter).finish(base::filter_program::allow_rest)));
}

}  // namespace mpiacq::pmix
