// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node_processes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <future>
#include <iterator>
#include <span>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "helper/all_signals_blocked.hpp"
#include "launcher_variables.hpp"
#include "text/file_name.hpp"

namespace mpiacq {

namespace {

/// A number has fewer digits. What is longer is no rank, and is kept only for the sentence that says so.
constexpr std::size_t most_of_rank_text = 64;

bool is_interpreter(std::string_view program) {
  constexpr std::array<std::string_view, 6> interpreters = {"python", "sh", "bash", "dash", "perl", "pypy"};
  return std::any_of(interpreters.begin(), interpreters.end(), [&](std::string_view begins) {
    // "python3.11", but no other program that begins with "sh".
    return program == begins || (program.starts_with(begins) && begins.starts_with("py"));
  });
}

/// The first words: an interpreter's options, and the script or module.
launcher_program program_in_words(std::string_view command_line) {
  constexpr int most_words = 8;
  launcher_program found;
  int words = 0;
  bool is_module = false;
  (void)any_of_strings(command_line, [&](std::string_view word) {
    if (words++ == 0) return false;
    if (is_module) {
      found = launcher_program_called(word);
      return true;
    }
    is_module = word == "-m";
    if (!word.starts_with('-')) found = launcher_program_called(base::file_name_of(word));
    return words > most_words || (!word.starts_with('-') && !is_module);
  });
  return found;
}

void bound_texts(launcher_statement& one) {
  one.stated.value.resize(std::min(one.stated.value.size(), most_of_rank_text));
}

/// Reads files of many processes with few system calls: by one open folder, into one buffer.
class proc_reader {
 public:
  explicit proc_reader(const std::string& proc) : folder_(::open(proc.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  /// 0, or errno.
  [[nodiscard]] int read(process_id pid, const char* file) {
    text_ = {};
    std::array<char, 64> path{};
    *fmt::format_to_n(path.begin(), path.size() - 1, "{}/{}", pid.value(), file).out = '\0';
    const base::unique_fd opened{::openat(folder_.get(), path.data(), O_RDONLY | O_CLOEXEC)};
    if (!opened) return errno;
    std::size_t size = 0;
    for (;;) {
      const ssize_t got = ::read(opened.get(), buffer_.data() + size, buffer_.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno;
      size += static_cast<std::size_t>(got);
      // These files are shorter than the buffer only at their ends.
      if (size < buffer_.size() || size >= process_facts::most_words) break;
      buffer_.resize(2 * buffer_.size());
    }
    text_ = {buffer_.data(), size};
    return 0;
  }
  /// What was read last.
  [[nodiscard]] std::string_view text() const { return text_; }
  /// No process if it cannot be read.
  [[nodiscard]] process_id parent_of(process_id pid) {
    if (read(pid, "stat") != 0) return {};
    const auto stat = parse_process_stat(text_);
    return stat ? stat->parent : process_id{};
  }

 private:
  base::unique_fd folder_;
  std::vector<char> buffer_ = std::vector<char>(std::size_t{64} << 10);
  std::string_view text_;
};

struct seen_processes {
  std::vector<stating_process> stating;
  std::vector<process_id> parents;  ///< of the processes, with repetitions
  std::size_t refused = 0;

  /// Children of one process often have numbers in a row.
  void add_parent(process_id parent) {
    if (parent.value() > 1 && (parents.empty() || parents.back() != parent)) parents.push_back(parent);
  }
};

/// All facts of a process whose environment states something, by one open folder.
std::optional<stating_process> facts_of_stating(process_id pid, const std::string& proc) {
  const auto process = process_facts::open(pid, proc);
  if (!process || !process->environment()) return std::nullopt;
  launcher_statements stated = decode_launcher_statements(*process->environment());
  if (stated.all.empty()) return std::nullopt;
  for (launcher_statement& one : stated.all) bound_texts(one);
  return stating_process{pid,
                         process->parent(),
                         process->start_time(),
                         process->user(),
                         process->executable().value_or(""),
                         launcher_program_of(*process),
                         std::move(stated.all),
                         stated.is_spawned};
}

/// Most processes state nothing: the other facts of these are not read.
seen_processes look_at(std::span<const process_id> some, const std::string& proc, node_pass pass) {
  seen_processes seen;
  proc_reader reader(proc);
  for (const process_id pid : some) {
    const int problem = reader.read(pid, "environ");
    if (problem == EACCES || problem == EPERM) ++seen.refused;
    auto stating = problem == 0 && mentions_a_rank(reader.text()) ? facts_of_stating(pid, proc) : std::nullopt;
    // The kernel finds the second file of a process sooner than the first.
    if (pass == node_pass::environments_and_parents) {
      seen.add_parent(stating ? stating->parent : reader.parent_of(pid));
    }
    if (stating) seen.stating.push_back(std::move(*stating));
  }
  return seen;
}

void sort_each_once(std::vector<process_id>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

/// Calls `with` for slices of a long list, several at a time, and gives the answers in order.
template <class Answer, class With>
std::vector<Answer> in_slices(std::span<const process_id> all, With with) {
  constexpr std::size_t shortest_slice = 256, most_slices = 8;
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t count = std::clamp<std::size_t>(all.size() / shortest_slice, 1, std::min(processors, most_slices));
  std::vector<std::future<Answer>> others;
  const base::all_signals_blocked blocked;
  const std::size_t length = (all.size() + count - 1) / count;
  for (std::size_t i = 1; i < count; ++i) {
    const auto slice = all.subspan(std::min(all.size(), i * length));
    others.push_back(std::async(std::launch::async | std::launch::deferred,
                                [=] { return with(slice.first(std::min(slice.size(), length))); }));
  }
  std::vector<Answer> answers;
  answers.push_back(with(all.first(std::min(all.size(), length))));
  for (auto& one : others) answers.push_back(one.get());
  return answers;
}

}  // namespace

launcher_program launcher_program_of(const process_facts& process) {
  const auto& executable = process.executable();
  if (!executable) {
    const bool is_refused = executable.error().code == error_code::permission;
    return is_refused ? launcher_program_called(process.stat().name) : launcher_program{};
  }
  const std::string_view name = base::file_name_of(*executable);
  if (!is_interpreter(name)) return launcher_program_called(name);
  const auto& words = process.command_line();
  return words ? program_in_words(*words) : launcher_program{};
}

node_processes::node_processes(const std::string& proc, node_pass pass)
    : known_(proc), proc_(proc), all_(known_.all()) {
  std::sort(all_.begin(), all_.end());
  const auto look = [&](std::span<const process_id> some) { return look_at(some, proc, pass); };
  for (seen_processes& part : in_slices<seen_processes>(all_, look)) {
    refused_ += part.refused;
    std::move(part.stating.begin(), part.stating.end(), std::back_inserter(stating_));
    parents_.insert(parents_.end(), part.parents.begin(), part.parents.end());
  }
  sort_each_once(parents_);
}

const stating_process* node_processes::stating(process_id pid) const {
  const auto at = std::lower_bound(stating_.begin(), stating_.end(), pid,
                                   [](const stating_process& one, process_id wanted) { return one.pid < wanted; });
  return at != stating_.end() && at->pid == pid ? &*at : nullptr;
}

std::optional<process_id> node_processes::parent_of(process_id pid) {
  process_id parent;
  if (const stating_process* const one = stating(pid)) {
    parent = one->parent;
  } else if (const auto facts = known_.find(pid)) {
    parent = facts->parent();
  }
  return parent.value() <= 1 ? std::nullopt : std::optional{parent};
}

launcher_program node_processes::program_of(process_id pid) {
  if (const stating_process* const one = stating(pid)) return one->program;
  const auto [at, is_new] = programs_.try_emplace(pid);
  if (!is_new) return at->second;
  if (const auto facts = known_.find(pid)) at->second = launcher_program_of(*facts);
  return at->second;
}

std::vector<process_id> node_processes::children_of(process_id pid) const {
  std::vector<process_id> children;
  proc_reader reader(proc_);
  for (const process_id one : all_) {
    if (reader.parent_of(one) == pid) children.push_back(one);
  }
  return children;
}

}  // namespace mpiacq
