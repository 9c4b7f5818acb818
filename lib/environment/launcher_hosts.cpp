// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "launcher_hosts.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "mpiacq/base/host_names.hpp"
#include "node_list.hpp"
#include "text/file_name.hpp"

namespace mpiacq {

namespace {

/// ssh(1): options that have a value, which may be the next word.
constexpr std::string_view with_value = "BbcDEeFIiJLlmOopPQRSWw";
constexpr std::size_t most_command_words = 256;

/// Whether the value of an option is the word behind this one.
bool has_value_behind(std::string_view option) {
  const std::size_t at = option.find_first_of(with_value, 1);
  return at != std::string_view::npos && at + 1 == option.size();
}

class host_list {
 public:
  void add(std::string host) {
    if (all_.size() < most_listed_nodes && known_.insert(host).second) all_.push_back(std::move(host));
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(all_); }

 private:
  std::vector<std::string> all_;
  std::unordered_set<std::string> known_;
};

/// The nodes of the step that the first rank runs in, if Slurm has started the job.
void add_nodes_of_slurm(node_processes& node, const environment_job& job, host_list& hosts,
                        std::vector<error>& problems) {
  const auto rank = node.facts_of(job.first_rank().pid);
  if (!rank || rank->user() != job.user) return;
  constexpr std::array<std::string_view, 3> names = {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"};
  for (const std::string_view name : names) {
    const auto list = rank->variable(name);
    if (!list) continue;
    auto expanded = expand_node_list(*list);
    if (expanded) {
      for (std::string& host : *expanded) hosts.add(std::move(host));
      return;
    }
    add_problem(problems, expanded.error().code,
                std::string(name) + " of the job's ranks: " + expanded.error().message);
  }
}

void add_hosts_of_ssh(node_processes& node, const environment_job& job, host_list& hosts) {
  if (!job.starter) return;
  for (const process_id child : node.children_of(job.starter->pid())) {
    const auto process = node.facts_of(child);
    if (!process || process->user() != job.user || !process->command_line()) continue;
    if (auto host = host_in_ssh_command(*process->command_line())) hosts.add(std::move(*host));
  }
}

}  // namespace

std::optional<std::string> host_in_ssh_command(std::string_view command_line) {
  std::size_t words = 0;
  bool is_value = false, is_over = false;
  std::optional<std::string> found;
  (void)any_of_strings(command_line, [&](std::string_view word) {
    if (words++ == 0) return base::file_name_of(word) != "ssh";
    if (is_value) {
      is_value = false;
    } else if (word == "--" && !is_over) {
      is_over = true;
    } else if (word.size() > 1 && word.front() == '-' && !is_over) {
      is_value = has_value_behind(word);
    } else {
      found = word.substr(word.rfind('@') + 1);
      return true;
    }
    return words > most_command_words;
  });
  return found && is_host_name(*found) ? found : std::nullopt;
}

std::vector<std::string> launcher_hosts_of(environment_jobs& jobs, const environment_job& job,
                                           std::vector<error>& problems) {
  host_list hosts;
  add_hosts_of_ssh(jobs.node(), job, hosts);
  add_nodes_of_slurm(jobs.node(), job, hosts, problems);
  return hosts.take();
}

}  // namespace mpiacq
