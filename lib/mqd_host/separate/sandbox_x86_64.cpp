// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <array>

#include <linux/audit.h>
#include <sys/syscall.h>

#include "separate/sandbox.hpp"

namespace mpiacq::mqd_host {

namespace {

constexpr std::array allowed{SYS_arch_prctl, SYS_time, SYS_poll, SYS_select, SYS_pause};
constexpr std::array own_looks_at_files{SYS_access, SYS_stat, SYS_lstat, SYS_readlink};
constexpr std::array<system_call, 15> named{{
    {SYS_open, "open"},
    {SYS_creat, "creat"},
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
    {SYS_pipe, "pipe"},
    {SYS_dup2, "dup2"},
    {SYS_unlink, "unlink"},
    {SYS_rename, "rename"},
    {SYS_mkdir, "mkdir"},
    {SYS_rmdir, "rmdir"},
    {SYS_link, "link"},
    {SYS_symlink, "symlink"},
    {SYS_chmod, "chmod"},
    {SYS_chown, "chown"},
    {SYS_mknod, "mknod"},
}};

}  // namespace

const sandbox_arch this_arch{AUDIT_ARCH_X86_64, allowed, own_looks_at_files, SYS_open, named};

}  // namespace mpiacq::mqd_host
