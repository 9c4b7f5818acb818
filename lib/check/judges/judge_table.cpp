// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The process table of the last spawn event, against /proc and against itself.
#include <algorithm>
#include <map>
#include <set>

#include "judges/judges.hpp"
#include "judges/judging.hpp"

namespace mpiacq::check::judges {

namespace {

const process_table* table_of(const observations& o) {
  const stop_seen* spawn = o.spawn();
  return spawn == nullptr || spawn->table->empty() ? nullptr : spawn->table.get();
}

/// Every problem of one field, in the words of the first.
finding judge_field(const observations& o, descriptor_field field) {
  const process_table* table = table_of(o);
  if (table == nullptr) return not_applicable("{}", no_spawn_event);
  std::size_t count = 0;
  const field_problem* first = nullptr;
  for (const field_problem& p : table->problems()) {
    if (p.field != field) continue;
    if (first == nullptr) first = &p;
    ++count;
  }
  if (first == nullptr) return passed("of all {} entries", table->size());
  return count == 1 ? failed("{}", first->sentence())
                    : failed("{}, and {} more of {} entries", first->sentence(), count - 1, table->size());
}

/// Entries that stand for a process which stands in the table before.
std::vector<std::pair<std::size_t, std::size_t>> doubles(const process_table& table) {
  std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> first_entry;
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto [at, is_new] = first_entry.try_emplace({table.host_numbers()[i], table.pid(entry_index{i}).value()}, i);
    if (!is_new) found.emplace_back(at->second, i);
  }
  return found;
}

std::string size_source(const observations& o) {
  const auto known = std::find_if(o.ranks.begin(), o.ranks.end(), [](const rank_seen& r) { return r.own_world_size; });
  return known == o.ranks.end() ? "" : ", as the processes' own environment says";
}

}  // namespace

finding host_names_readable(const observations& o) {
  return judge_field(o, descriptor_field::host_name);
}

finding executables_readable(const observations& o) {
  return judge_field(o, descriptor_field::executable_name);
}

finding host_names_translatable(const observations& o) {
  if (o.hosts.empty()) return not_applicable("no host name was read");
  const host_seen* open_question = nullptr;
  for (const host_seen& host : o.hosts) {
    if (host.found == host_seen::how::unknown) {
      return failed("\"{}\" is no address, and this system finds none for it", host.name);
    }
    if (host.found == host_seen::how::no_answer) open_question = &host;
  }
  if (open_question != nullptr) {
    return not_applicable("nobody answered in time what the address of {} is", open_question->name);
  }
  if (o.hosts.size() > 1) return passed("{} different ones", o.hosts.size());
  return passed("{}", o.hosts.front().name);
}

finding executables_full_paths(const observations& o) {
  const process_table* table = table_of(o);
  if (table == nullptr) return not_applicable("{}", no_spawn_event);
  std::set<std::uint32_t> seen;
  for (const std::uint32_t number : table->executable_numbers()) {
    if (number == process_table::no_string || !seen.insert(number).second) continue;
    const std::string_view path = table->string(number);
    if (!path.starts_with('/')) return failed("\"{}\" is no full path", path);
  }
  if (seen.empty()) return not_applicable("no executable_name can be read (9.2f)");
  if (seen.size() > 1) return passed("{} different ones", seen.size());
  return passed("{}", table->string(*seen.begin()));
}

finding executables_true(const observations& o) {
  std::size_t known = 0;
  for (const rank_seen& r : o.ranks) {
    if (!r.alive || !r.runs_what_it_should) continue;
    ++known;
    if (*r.runs_what_it_should) continue;
    const auto name = table_of(o)->executable_name(entry_index{r.rank});
    return failed("rank {} (pid {}) runs {}, and the table says {}", r.rank, r.pid.value(), r.executable,
                  name.value_or("nothing"));
  }
  if (known == 0) return not_applicable("{}", no_process_here);
  return passed("of {} of the {} processes on this node", known, o.ranks_on_node);
}

finding pids_alive(const observations& o) {
  if (pid_is_narrow(o)) return not_applicable("pid is too narrow to hold one (9.2c)");
  const finding plausible = judge_field(o, descriptor_field::pid);
  if (plausible.what != verdict::pass) return plausible;
  const auto dead = ranks_where(o, [](const rank_seen& r) { return !r.alive; });
  if (!dead.empty()) return failed("there are no such processes on this node: {}", rank_list(dead));
  if (o.ranks.empty()) return passed("plausible numbers; none is of this node");
  return passed("{} of the {} processes on this node were looked at, and are there", o.ranks.size(), o.ranks_on_node);
}

finding strings_shared(const observations& o) {
  const stop_seen* spawn = o.spawn();
  if (spawn == nullptr || spawn->hosts.addresses + spawn->executables.addresses == 0) {
    return not_applicable("{}", no_spawn_event);
  }
  for (const auto& [what, seen] : {std::pair{"host", spawn->hosts}, std::pair{"executable", spawn->executables}}) {
    if (seen.addresses > seen.texts) {
      return failed("{} strings for {} different {} names", seen.addresses, seen.texts, what);
    }
  }
  return passed("{} host and {} executable names, each once", spawn->hosts.texts, spawn->executables.texts);
}

finding index_is_rank(const observations& o) {
  const process_table* table = table_of(o);
  if (table == nullptr) return not_applicable("{}", no_spawn_event);
  std::set<std::size_t> repeated;
  for (const auto& [first, second] : doubles(*table)) repeated.insert(second);
  std::size_t known = 0;
  for (const rank_seen& r : o.ranks) {
    if (!r.alive || !r.own_rank || repeated.contains(r.rank)) continue;
    ++known;
    if (*r.own_rank != static_cast<std::int64_t>(r.rank)) {
      return failed("entry {} (pid {}) is rank {} by its own {}", r.rank, r.pid.value(), *r.own_rank,
                    r.own_rank_variable);
    }
  }
  if (known == 0) return not_applicable("no process of this node says its rank in its environment");
  return passed("as {} processes of this node say themselves", known);
}

finding each_process_once(const observations& o) {
  const process_table* table = table_of(o);
  if (table == nullptr) return not_applicable("{}", no_spawn_event);
  if (pid_is_narrow(o)) return not_applicable("pid is too narrow to hold one (9.2c)");
  const auto found = doubles(*table);
  if (found.empty()) return passed("{} different processes", table->size());
  const auto [first, second] = found.front();
  return failed("entries {} and {} are the same process (pid {}){}", first, second,
                table->pid(entry_index{first}).value(),
                found.size() == 1 ? "" : fmt::format(", and {} more are", found.size() - 1));
}

finding size_is_true(const observations& o) {
  for (const stop_seen& stop : o.stops) {
    if (stop.proctable_size && *stop.proctable_size < 0) return failed("it is {}", *stop.proctable_size);
  }
  const process_table* table = table_of(o);
  if (table == nullptr) return not_applicable("{}", no_spawn_event);
  if (table->shortfall()) return failed("{}", table->shortfall()->message);
  for (const rank_seen& r : o.ranks) {
    if (r.alive && r.own_world_size && *r.own_world_size != static_cast<std::int64_t>(table->size())) {
      return failed("it is {}, and rank {} was told that there are {} processes", table->size(), r.rank,
                    *r.own_world_size);
    }
  }
  return passed("{}{}", table->size(), size_source(o));
}

}  // namespace mpiacq::check::judges
