// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/batch_limit.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "sessions/program_output.hpp"

namespace mpiacq::tool {

namespace {

using whole_seconds = std::chrono::seconds;

constexpr std::chrono::seconds patience_with_batch_system{10};
/// No limit of a batch system is longer. Flux gives UINT_MAX for none.
constexpr whole_seconds longest_limit = std::chrono::hours(24 * 365 * 10);

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// The value of a line "    NAME = VALUE".
std::string_view attribute_in(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t sign = line.find(" = ");
    if (sign != std::string_view::npos && trimmed(line.substr(0, sign)) == name) return trimmed(line.substr(sign + 3));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

result<batch_limit> limit_of(std::string job, std::optional<whole_seconds> left, std::string_view answer) {
  if (!left || *left >= longest_limit) {
    return fail(error_code::not_found, fmt::format("{} has no time limit that mpiacq can read: {}", job, answer));
  }
  if (*left <= whole_seconds(0))
    return fail(error_code::timed_out, fmt::format("the time limit of {} has passed", job));
  return batch_limit{std::move(job), *left};
}

result<batch_limit> limit_of_slurm(const std::string& id) {
  std::string job = "Slurm job " + id;
  // Slurm sets it from 23.02 on. It does not change when an administrator extends the job.
  if (const auto end = number_in(variable("SLURM_JOB_END_TIME"))) {
    const auto now = std::chrono::duration_cast<whole_seconds>(std::chrono::system_clock::now().time_since_epoch());
    return limit_of(std::move(job), whole_seconds(*end) - now, fmt::format("SLURM_JOB_END_TIME is {}", *end));
  }
  const std::string text = TRY(output_of({"squeue", "-h", "-j", id, "-o", "%L"}, patience_with_batch_system));
  const std::string_view answer = trimmed(text);
  return limit_of(std::move(job), length_in(answer), fmt::format("squeue answers '{}'", answer.substr(0, 100)));
}

result<batch_limit> limit_of_pbs(const std::string& id) {
  const std::string text = TRY(output_of({"qstat", "-f", id}, patience_with_batch_system));
  return limit_of("PBS job " + id, left_by_qstat(text, std::chrono::system_clock::now()),
                  "qstat -f shows neither Walltime.Remaining, nor Resource_List.walltime and stime");
}

result<batch_limit> limit_of_flux(const std::string& id) {
  const std::string text = TRY(output_of({"flux", "job", "timeleft", id}, patience_with_batch_system));
  const std::string_view answer = trimmed(text);
  return limit_of("Flux job " + id, length_in(answer),
                  fmt::format("flux job timeleft answers '{}'", answer.substr(0, 100)));
}

/// An id goes into a command line: it must not be taken for an option.
bool is_job_id(std::string_view id) {
  return !id.empty() && id.size() < 256 && !id.starts_with('-') &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::optional<whole_seconds> length_in(std::string_view text) {
  std::int64_t days = 0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto given = number_in(text.substr(0, dash));
    if (!given) return std::nullopt;
    days = *given;
    text.remove_prefix(dash + 1);
  }
  constexpr std::size_t most_parts = 3;
  std::int64_t total = 0;
  for (std::size_t parts = 1;; ++parts) {
    const std::size_t end = std::min(text.find(':'), text.size());
    const auto part = number_in(text.substr(0, end));
    constexpr std::int64_t largest = INT64_C(1) << 40;
    if (!part || *part > largest || parts > most_parts) return std::nullopt;
    total = total * 60 + *part;
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  constexpr std::int64_t most_days = 100'000;
  if (days > most_days) return std::nullopt;
  return whole_seconds(total) + std::chrono::hours(24 * days);
}

std::optional<whole_seconds> left_by_qstat(std::string_view text, std::chrono::system_clock::time_point now) {
  // Torque computes it; PBS Pro gives the start, in the local time of this host.
  if (const auto left = number_in(attribute_in(text, "Walltime.Remaining"))) return whole_seconds(*left);
  const auto limit = length_in(attribute_in(text, "Resource_List.walltime"));
  std::string start(attribute_in(text, "stime"));
  if (start.empty()) start = attribute_in(text, "start_time");
  std::tm parts{};
  if (!limit || ::strptime(start.c_str(), "%a %b %d %H:%M:%S %Y", &parts) == nullptr) return std::nullopt;
  parts.tm_isdst = -1;
  const std::time_t began = std::mktime(&parts);
  if (began == -1) return std::nullopt;
  return *limit - std::chrono::duration_cast<whole_seconds>(now - std::chrono::system_clock::from_time_t(began));
}

result<batch_limit> find_batch_limit() {
  if (const std::string id = variable("SLURM_JOB_ID"); is_job_id(id)) return limit_of_slurm(id);
  if (const std::string id = variable("PBS_JOBID"); is_job_id(id)) return limit_of_pbs(id);
  if (const std::string id = variable("FLUX_JOB_ID"); is_job_id(id)) return limit_of_flux(id);
  return fail(error_code::not_found,
              "mpiacq runs in no batch job: none of SLURM_JOB_ID, PBS_JOBID and FLUX_JOB_ID is in its environment");
}

std::chrono::duration<double> margin_before_end(whole_seconds left) {
  constexpr double longest = 60, share = 1.0 / 20;
  return std::chrono::duration<double>(std::min(longest, static_cast<double>(left.count()) * share));
}

}  // namespace mpiacq::tool
