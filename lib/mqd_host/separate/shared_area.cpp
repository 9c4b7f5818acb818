// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "separate/shared_area.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>

namespace mpiacq::mqd_host {

namespace {

error no_memory(int errno_value) {
  return error{error_code::system, "cannot make the memory shared with the process of a queue library"}.with_errno(
      errno_value);
}

}  // namespace

result<shared_memory> shared_memory::map(base::unique_fd file) {
  void* at = ::mmap(nullptr, sizeof(shared_area), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) return fail(no_memory(errno));
  return shared_memory(static_cast<shared_area*>(at), std::move(file));
}

result<shared_memory> shared_memory::create() {
  base::unique_fd file{::memfd_create("mpiacq-queues", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!file || ::ftruncate(file.get(), sizeof(shared_area)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail(no_memory(errno));
  }
  auto mapped = map(std::move(file));
  if (mapped) (*mapped)->refused_call = -1;
  return mapped;
}

result<shared_memory> shared_memory::adopt(base::unique_fd file) {
  auto mapped = map(std::move(file));
  if (mapped) mapped->file_.reset();
  return mapped;
}

shared_memory::shared_memory(shared_memory&& other) noexcept
    : area_(std::exchange(other.area_, nullptr)), file_(std::move(other.file_)) {}

shared_memory::~shared_memory() {
  if (area_ != nullptr) ::munmap(area_, sizeof(shared_area));
}

}  // namespace mpiacq::mqd_host
