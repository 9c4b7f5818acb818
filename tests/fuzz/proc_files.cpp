// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The texts of /proc/PID. The first byte of the input says which file it is; a process chooses the rest.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "launcher_variables.hpp"
#include "mpiacq/process/process_user.hpp"
#include "proc/proc_text.hpp"

using namespace mpiacq;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void read_stat(std::string_view text) {
  const auto stat = parse_process_stat(text);
  if (!stat) return;
  check(text.find(stat->name) != std::string_view::npos && stat->parent.value() >= 0 && stat->state != 0);
  // A name that forges fields changes nothing but the name.
  const auto after = text.substr(text.rfind(") "));
  const auto forged = parse_process_stat("1 (x) Z 1 2" + std::string(after));
  check(forged && forged->start_time == stat->start_time && forged->state == stat->state &&
        forged->words == stat->words);
}

void read_status(std::string_view text) {
  if (const auto users = parse_process_users(text)) {
    for (const user_id user : {users->real, users->effective, users->saved, users->file_system}) {
      check(user.value() >= 0 && user.value() <= UINT32_MAX);
    }
    check(!users->text().empty());
  }
  check(parse_namespace_pids(text).size() <= text.size());
}

void read_strings(std::string_view text) {
  std::size_t bytes = 0;
  for (const std::string& one : split_strings(text)) bytes += one.size() + 1;
  check(bytes == text.size() || bytes == text.size() + 1);
  const auto known = decode_launcher_variables(text);
  for (const rank_variable& one : known.ranks) {
    check(variable_in(text, one.name) == one.value && (!one.rank || *one.rank >= 0));
  }
  check(known.slurm_job.find_first_not_of("0123456789") == std::string::npos);
  // A starter with the same environment leaves nothing that speaks of a rank.
  check(decode_launcher_variables(text, text).ranks.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      read_stat(text);
      break;
    case 1:
      read_status(text);
      break;
    case 2:
      read_strings(text);
      break;
    default:
      (void)parse_namespace_link(text);
      (void)parse_schedstat(text);
  }
  return 0;
}
