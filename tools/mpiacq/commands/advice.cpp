// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/advice.hpp"

#include <array>

#include <fmt/format.h>

#include "mpiacq/base/remedies.hpp"
#include "text/printable.hpp"

namespace mpiacq::tool {

namespace {

struct advice {
  std::string_view remedy;  ///< words in the library's sentences
  std::string_view option;
};

constexpr std::array<advice, 12> all_advice = {{
    {remedies::name_debug_folder, "--debug-dir DIR"},
    {remedies::choose_mpir, "--source mpir"},
    {remedies::choose_pmix, "--source pmix"},
    {remedies::observe_the_job, "mpiacq stacks PID, mpiacq queues PID"},
    {remedies::ask_slurm_for_nodes, "squeue --format='%i %T %N'"},
    {remedies::name_hosts, "--hosts A,B,C"},
    {remedies::name_queue_library, "--library FILE"},
    {remedies::trust_queue_library, "--trust-library"},
    {remedies::name_types_file, "--types FILE"},
    {remedies::name_core_files, "--executable FILE, --sysroot DIR"},
    {remedies::name_mpi_library, "--library FILE"},
    {remedies::name_wrapper, "--wrapper PROGRAM"},
}};

}  // namespace

std::string advised(std::string_view sentence) {
  std::string text = base::printable(sentence);
  for (const advice& one : all_advice) {
    if (sentence.find(one.remedy) != std::string_view::npos) text += fmt::format(" ({})", one.option);
  }
  return text;
}

}  // namespace mpiacq::tool
