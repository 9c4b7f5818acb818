// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/code_catalogue.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <unordered_set>

#include "code_names/background_work.hpp"
#include "code_names/code_files.hpp"
#include "code_names/code_mappings.hpp"
#include "code_names/code_names.hpp"

namespace mpiacq {

namespace {

using elf::code_names;

/// The limit on answers and places that are kept while no caller holds them.
constexpr std::size_t max_kept = std::size_t{1} << 20;

struct hash_of_place {
  std::size_t operator()(const std::shared_ptr<const code_place>& p) const noexcept {
    const std::hash<std::string> text;
    return text(p->function) * 31 + text(p->file) * 17 + text(p->module_path) + std::size_t{p->line} * 7 +
           static_cast<std::size_t>(p->offset.value());
  }
};
struct equal_places {
  bool operator()(const std::shared_ptr<const code_place>& a, const std::shared_ptr<const code_place>& b) const {
    return *a == *b;
  }
};

/// A query about a known module.
struct located {
  std::size_t index = 0;  ///< among all queries
  std::uint64_t address = 0;
  bool is_return_address = false;
};

}  // namespace

struct code_catalogue::state {
  explicit state(debug_file_search s) : search(std::move(s)) {}

  debug_file_search search;
  /// the token by which a map identifies the owner of its files
  std::shared_ptr<const void> token = std::make_shared<int>();

  std::mutex files_lock;
  std::unordered_map<elf::file_identity, std::shared_ptr<code_names>, elf::hash_of_identity> by_identity;
  std::map<std::vector<std::byte>, std::shared_ptr<code_names>> by_build_id;

  std::mutex places_lock;
  std::unordered_set<std::shared_ptr<const code_place>, hash_of_place, equal_places> places;

  mutable std::mutex problems_lock;
  std::vector<error> problems;
  std::set<std::string> reported;

  std::atomic<std::size_t> opened = 0;
  std::atomic<std::size_t> questions = 0;
  std::atomic<std::size_t> looked_up = 0;

  background_work work;  ///< the last member, because its thread uses all others

  void note(std::vector<error> found);
  [[nodiscard]] std::shared_ptr<const code_place> shared(code_place place);
  [[nodiscard]] std::shared_ptr<const code_places> unnamed(std::string module_path, std::uint64_t offset);
  [[nodiscard]] std::shared_ptr<code_names> open(const code_map_state& map, std::size_t file,
                                                 std::vector<error>& found_wrong);
  [[nodiscard]] std::shared_ptr<code_names> names_of(code_map_state& map, std::size_t file);
  void expect(const query& q);
  void answer(code_names& names, std::span<const located> about, std::span<std::shared_ptr<const code_places>> answers);
  [[nodiscard]] std::vector<std::shared_ptr<const code_places>> describe(std::span<const query> queries);
  /// The answer of the module whose code has an address: `ask` gets it with the link-time address. Empty: no module, or
  /// no answer.
  template <class Answer, class Ask>
  [[nodiscard]] std::optional<Answer> ask_module(code_map_state& map, target_address about, Ask ask);
};

void code_catalogue::state::note(std::vector<error> found) {
  const std::scoped_lock guard{problems_lock};
  for (error& e : found) {
    if (reported.insert(e.message).second) problems.push_back(std::move(e));
  }
}

std::shared_ptr<const code_place> code_catalogue::state::shared(code_place place) {
  auto candidate = std::make_shared<const code_place>(std::move(place));
  const std::scoped_lock guard{places_lock};
  if (places.size() >= max_kept) std::erase_if(places, [](const auto& p) { return p.use_count() == 1; });
  return *places.insert(std::move(candidate)).first;
}

std::shared_ptr<const code_places> code_catalogue::state::unnamed(std::string module_path, std::uint64_t offset) {
  code_place place;
  place.module_path = std::move(module_path);
  place.offset = module_offset{offset};
  return std::make_shared<const code_places>(code_places{shared(std::move(place))});
}

/// Opens the mapped file, unless it is known already, under this or another name.
std::shared_ptr<code_names> code_catalogue::state::open(const code_map_state& map, std::size_t number,
                                                        std::vector<error>& found_wrong) {
  const elf::mapped_file& file = *map.mappings.files[number];
  const bool is_vdso = file.inode == 0;
  elf::found_file found;
  if (is_vdso) {
    found.opened = elf::copy_of_vdso(map, number, found_wrong);
    if (!found.opened) return nullptr;
  } else {
    auto mapped = elf::find_mapped_file(map, number, found_wrong);
    if (!mapped) return nullptr;
    found = std::move(*mapped);
    if (const auto known = by_identity.find(found.identity); known != by_identity.end()) return known->second;
  }
  if (!found.opened) {
    auto bytes = elf::input_file::open(found.place, file.path);
    auto read = bytes ? elf::image::open(std::move(*bytes)) : fail(bytes.error());
    if (!read) {
      found_wrong.push_back(std::move(read).error().on(file.path));
      return by_identity[found.identity] = nullptr;
    }
    found.opened = std::make_shared<elf::image>(std::move(*read));
  }
  const auto id = found.opened->build_id();
  std::shared_ptr<code_names> names;
  if (const auto known = by_build_id.find(id); !id.empty() && known != by_build_id.end()) {
    names = known->second;
  } else {
    ++opened;
    names = std::make_shared<code_names>(std::move(found.opened), file.path, elf::roots_of_process(map.pid));
    if (!id.empty()) by_build_id[id] = names;
  }
  if (!is_vdso) by_identity[found.identity] = names;
  return names;
}

std::shared_ptr<code_names> code_catalogue::state::names_of(code_map_state& map, std::size_t file) {
  const std::scoped_lock map_guard{map.lock};
  if (map.asker != token) {
    map.asker = token;
    map.files.assign(map.mappings.files.size(), {});
  }
  code_map_state::resolved& known = map.files[file];
  if (!known.tried) {
    elf::mapped_file& mapped = *map.mappings.files[file];
    const bool is_vdso = mapped.inode == 0;
    if (!is_vdso) known.names = mapped.names.of(token);
    std::vector<error> found_wrong;
    if (known.names == nullptr) {
      const std::scoped_lock guard{files_lock};
      known.names = open(map, file, found_wrong);
      // Where this process has not led to the file, another one may.
      if (!is_vdso && known.names != nullptr) mapped.names.keep(token, known.names);
    }
    known.tried = true;  // an exception leaves it to the next caller
    note(std::move(found_wrong));
  }
  return known.names;
}

/// Answers the queries about one module.
void code_catalogue::state::answer(code_names& names, std::span<const located> about,
                                   std::span<std::shared_ptr<const code_places>> answers) {
  std::vector<error> found_wrong;
  {
    const std::scoped_lock guard{names.lock};
    for (const located& l : about) {
      if (names.answers.size() >= max_kept) names.answers.clear();
      auto& kept = names.answers[{l.address, l.is_return_address}];
      if (!kept) {
        ++looked_up;
        auto described = names.describe(l.address - (l.is_return_address ? 1 : 0), search, found_wrong);
        auto places_here = std::make_shared<code_places>();
        for (code_place& place : described) {
          if (place.function.empty()) place.offset = module_offset{l.address};
          places_here->push_back(shared(std::move(place)));
        }
        kept = std::move(places_here);
      }
      answers[l.index] = kept;
    }
  }
  note(std::move(found_wrong));
}

std::vector<std::shared_ptr<const code_places>> code_catalogue::state::describe(std::span<const query> queries) {
  questions += queries.size();
  std::vector<std::shared_ptr<const code_places>> answers(queries.size());
  std::map<std::shared_ptr<code_names>, std::vector<located>> by_module;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const query& q = queries[i];
    const std::uint64_t pc = q.pc.value();
    const bool returns = q.is_return_address && pc != 0;
    const target_address asked{returns ? pc - 1 : pc};
    code_map_state* map = q.map == nullptr ? nullptr : q.map->state_.get();
    const elf::code_mapping* mapping = map == nullptr ? nullptr : map->find(asked);
    if (mapping == nullptr || mapping->file == elf::code_mapping::no_file) {
      answers[i] = unnamed({}, pc);
      continue;
    }
    const auto names = names_of(*map, mapping->file);
    const std::uint64_t in_file = asked.value() - mapping->begin + mapping->file_offset;
    const auto address = names ? names->link_address(in_file) : std::nullopt;
    if (!address) {
      answers[i] = unnamed(map->mappings.files[mapping->file]->path, in_file + (returns ? 1 : 0));
      continue;
    }
    by_module[names].push_back({i, *address + (returns ? 1 : 0), returns});
  }
  for (const auto& [names, about] : by_module) answer(*names, about, answers);
  return answers;
}

template <class Answer, class Ask>
std::optional<Answer> code_catalogue::state::ask_module(code_map_state& map, target_address about, Ask ask) {
  const elf::code_mapping* mapping = map.find(about);
  if (mapping == nullptr || mapping->file == elf::code_mapping::no_file) return std::nullopt;
  const auto names = names_of(map, mapping->file);
  const std::uint64_t in_file = about.value() - mapping->begin + mapping->file_offset;
  const auto address = names ? names->link_address(in_file) : std::nullopt;
  if (!address) return std::nullopt;
  std::vector<error> found_wrong;
  std::optional<Answer> found;
  {
    const std::scoped_lock guard{names->lock};
    found = ask(*names, *address, found_wrong);
  }
  note(std::move(found_wrong));
  return found;
}

/// A memory reader is for one thread at a time, so lookups that need memory are left to the caller.
void code_catalogue::state::expect(const query& q) {
  code_map_state& map = *q.map->state_;
  const target_address asked{q.pc.value() - (q.is_return_address && !q.pc.is_null() ? 1 : 0)};
  const elf::code_mapping* mapping = map.find(asked);
  if (mapping == nullptr || mapping->file == elf::code_mapping::no_file) return;
  if (map.mappings.files[mapping->file]->inode == 0 || !elf::find_without_memory(map, mapping->file)) return;
  static_cast<void>(describe({&q, 1}));
}

code_catalogue::code_catalogue(debug_file_search search) : state_(std::make_unique<state>(std::move(search))) {}
code_catalogue::~code_catalogue() = default;
code_catalogue::code_catalogue(code_catalogue&&) noexcept = default;
code_catalogue& code_catalogue::operator=(code_catalogue&&) noexcept = default;

std::shared_ptr<const code_places> code_catalogue::places(const code_map& map, target_address pc,
                                                          bool is_return_address) {
  const query one{&map, pc, is_return_address};
  return state_->describe({&one, 1}).front();
}

std::vector<std::shared_ptr<const code_places>> code_catalogue::describe(std::span<const query> queries) {
  return state_->describe(queries);
}

std::optional<call_description> code_catalogue::call_before(const code_map& map, target_address return_address) {
  code_map_state* known = map.state_.get();
  if (known == nullptr || return_address.is_null()) return std::nullopt;
  return state_->ask_module<call_description>(
      *known, return_address - 1, [&](code_names& names, std::uint64_t call, std::vector<error>& found_wrong) {
        return names.call_before(call + 1, state_->search, found_wrong);
      });
}

std::optional<parameter_places> code_catalogue::parameters_around(const code_map& map, target_address pc) {
  code_map_state* known = map.state_.get();
  if (known == nullptr) return std::nullopt;
  return state_->ask_module<parameter_places>(
      *known, pc, [&](code_names& names, std::uint64_t address, std::vector<error>& found_wrong) {
        return names.parameters_around(address, state_->search, found_wrong);
      });
}

void code_catalogue::expect(std::span<const query> queries) {
  struct expected {
    code_map map;
    target_address pc;
    bool is_return_address;
  };
  std::vector<expected> copies;
  for (const query& q : queries) {
    if (q.map != nullptr) copies.push_back({*q.map, q.pc, q.is_return_address});
  }
  state_->work.add([s = state_.get(), copies = std::move(copies)] {
    // One by one, so that a query about one module does not wait for the reads of all.
    for (const expected& e : copies) s->expect({&e.map, e.pc, e.is_return_address});
  });
}

std::vector<error> code_catalogue::problems() const {
  const std::scoped_lock guard{state_->problems_lock};
  return state_->problems;
}

catalogue_counts code_catalogue::counts() const {
  return {state_->opened, state_->questions, state_->looked_up};
}

}  // namespace mpiacq
