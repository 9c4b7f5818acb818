// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/queues/queue_types.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"

namespace mpiacq {

namespace {

/// The types of one file, shared by several processes.
class shared_file final : public type_source {
 public:
  explicit shared_file(std::unique_ptr<type_file> file) : file_(std::move(file)) {}

  [[nodiscard]] const type_file& file() const { return *file_; }
  [[nodiscard]] result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                   source_language language) override {
    const std::scoped_lock guard{lock_};
    return file_->type_named(type_name, language);
  }

 private:
  std::mutex lock_;
  std::unique_ptr<type_file> file_;
};

/// The parts of a process that a comparison of types needs.
struct asking_process {
  symbol_source& symbols;
  memory_reader& memory;
  target_abi abi;
};

/// Whether the process confirms the file's types. Errors: bad_format (the message says why not).
result<void> fits(shared_file& types, const asking_process& process) {
  if (types.file().abi() != process.abi) {
    return fail(error{error_code::bad_format,
                      fmt::format("the types in {} are for another machine than the process's", types.file().path())}
                    .on(types.file().path()));
  }
  auto compared = check_types(types, process.memory, process.abi, process.symbols);
  if (compared) return {};
  return fail(std::move(compared).error().while_doing(fmt::format("the types in {} do not fit", types.file().path())));
}

/// The types of a file that fits the process.
class file_for_process final : public type_source {
 public:
  explicit file_for_process(std::shared_ptr<shared_file> file) : file_(std::move(file)) {}
  [[nodiscard]] result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                   source_language language) override {
    return file_->type_named(type_name, language);
  }

 private:
  std::shared_ptr<shared_file> file_;
};

}  // namespace

struct queue_types::state {
  queue_types_options options;
  type_catalogue catalogue;
  std::shared_ptr<shared_file> file;

  mutable std::mutex lock;
  std::map<std::string, std::shared_ptr<shared_file>>
      cached;                  ///< indexed by the text of a build id; null: there is no carrier
  std::set<std::string> made;  ///< build ids for which a file was made
  std::vector<std::string> notes;

  explicit state(queue_types_options o) : options(std::move(o)), catalogue(options.debug_files) {}

  void note(std::string sentence) {
    const std::scoped_lock guard{lock};
    if (std::find(notes.begin(), notes.end(), sentence) == notes.end()) notes.push_back(std::move(sentence));
  }
  [[nodiscard]] std::shared_ptr<shared_file> cached_for(const module& library);
  void make_for(const module& library, const std::string& mpi);
  template <class Symbols>
  [[nodiscard]] result<std::unique_ptr<type_source>> of(Symbols& symbols, memory_reader& memory);
};

namespace {

/// Types whose source is chosen when the first type is requested.
class types_when_asked final : public type_source {
 public:
  using finder = std::function<std::shared_ptr<type_source>()>;
  explicit types_when_asked(finder find) : find_(std::move(find)) {}

  [[nodiscard]] result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                   source_language language) override {
    if (find_) types_ = std::exchange(find_, nullptr)();
    if (!types_) return std::nullopt;
    return types_->type_named(type_name, language);
  }

 private:
  finder find_;
  std::shared_ptr<type_source> types_;
};

/// The module of the MPI library: the one that names its queue library. Null if no module does.
std::shared_ptr<const module> mpi_library(symbol_source& symbols) {
  const std::string_view name = mpir::known_symbols()[static_cast<std::size_t>(mpir::known::dll_name)].name;
  const auto found = symbols.look_up({&name, 1}, {true, nullptr});
  return found && found->front() ? found->front()->home : nullptr;
}

}  // namespace

std::shared_ptr<shared_file> queue_types::state::cached_for(const module& library) {
  {
    const std::scoped_lock guard{lock};
    if (const auto known = cached.find(build_id_text(library)); known != cached.end()) return known->second;
  }
  std::shared_ptr<shared_file> found;
  auto path = find_type_carrier(library.build_id, options.cache_folder);
  if (!path) note(path.error().message);
  if (path && *path) {
    auto opened = type_file::open(**path, {{}, false});
    if (opened) {
      found = std::make_shared<shared_file>(std::move(*opened));
    } else {
      note(opened.error().message);
    }
  }
  const std::scoped_lock guard{lock};
  return cached.try_emplace(build_id_text(library), std::move(found)).first->second;
}

void queue_types::state::make_for(const module& library, const std::string& mpi) {
  if (library.build_id.empty()) return;
  {
    const std::scoped_lock guard{lock};
    if (made.contains(build_id_text(library))) return;
  }
  const auto known = find_type_carrier(library.build_id, options.cache_folder);
  if (!known || *known) return;  // it exists, or others could write it, which `of` notes
  carrier_request request;
  request.mpi = mpi;
  request.cache_folder = options.cache_folder;
  request.build_id = library.build_id;
  const auto carrier = make_type_carrier(request);
  // A missing compiler or missing headers are no error, because there are other sources of types.
  if (!carrier) return;
  const std::scoped_lock guard{lock};
  cached.erase(build_id_text(library));
  made.insert(build_id_text(library));
  notes.push_back(
      fmt::format("the types of {} were compiled from the headers of Open MPI {} and stored for later use: {}",
                  library.path, carrier->version, carrier->path));
}

template <class Symbols>
result<std::unique_ptr<type_source>> queue_types::state::of(Symbols& symbols, memory_reader& memory) {
  const asking_process process{symbols, memory, symbols.abi()};
  std::vector<std::unique_ptr<type_source>> parts;
  if (file) {
    TRY(fits(*file, process));
    parts.push_back(std::make_unique<file_for_process>(file));
  }
  const auto library = mpi_library(symbols);
  if (library) {
    // The cached carrier comes before the process's own debug information, because it is known to fit the library.
    // Otherwise the debug information of the whole program would be searched while the rank is stopped: it may contain
    // MPI's names without their types.
    parts.push_back(std::make_unique<types_when_asked>([this, process, library]() -> std::shared_ptr<type_source> {
      auto carrier = cached_for(*library);
      if (!carrier) return nullptr;
      if (const auto fitting = fits(*carrier, process); !fitting) {
        note(fitting.error().message);
        return nullptr;
      }
      const bool is_new = [&] {
        const std::scoped_lock guard{lock};
        return made.contains(build_id_text(*library));
      }();
      if (!is_new) note(fmt::format("the types of {} are those of {}", library->path, carrier->file().path()));
      return carrier;
    }));
  }
  parts.push_back(std::make_unique<process_types>(symbols, catalogue, library.get()));
  parts.push_back(std::make_unique<types_when_asked>([this, process]() -> std::shared_ptr<type_source> {
    auto found = find_built_in_types(process.memory, process.abi, process.symbols);
    if (!found) note(found.error().message);
    if (!found || !*found) return nullptr;
    note(fmt::format("the types are the built-in ones of {}: the process confirms the sizes of {} of them",
                     (*found)->title, (*found)->compared.size()));
    return (*found)->types;
  }));
  return std::make_unique<type_chain>(std::move(parts));
}

queue_types::queue_types(std::unique_ptr<state> s) : state_(std::move(s)) {}
queue_types::~queue_types() = default;

result<std::unique_ptr<queue_types>> queue_types::create(queue_types_options options) {
  auto s = std::make_unique<state>(std::move(options));
  if (!s->options.file.empty()) {
    auto opened = type_file::open(s->options.file, {{}, false});
    if (!opened) return fail(std::move(opened).error().while_doing("opening the file of types"));
    s->file = std::make_shared<shared_file>(std::move(*opened));
  }
  return std::unique_ptr<queue_types>(new queue_types(std::move(s)));
}

result<std::unique_ptr<type_source>> queue_types::of(process_symbols& symbols, memory_reader& memory) {
  return state_->of(symbols, memory);
}

result<std::unique_ptr<type_source>> queue_types::of(core_symbols& symbols, memory_reader& memory) {
  return state_->of(symbols, memory);
}

std::unique_ptr<type_source> queue_types::of_module(process_symbols& symbols, const module& one) {
  std::vector<std::unique_ptr<type_source>> parts;
  // `of` refuses a process that the file does not fit.
  if (state_->file) parts.push_back(std::make_unique<file_for_process>(state_->file));
  parts.push_back(process_types::of_module(symbols, state_->catalogue, one));
  return std::make_unique<type_chain>(std::move(parts));
}

bool queue_types::make_missing(process_symbols& symbols) {
  const auto library = mpi_library(symbols);
  if (!library) return false;
  if (const auto mpi = mpi_with_carriers(symbols)) state_->make_for(*library, *mpi);
  return true;
}

std::vector<std::string> queue_types::notes() const {
  std::vector<std::string> all;
  {
    const std::scoped_lock guard{state_->lock};
    all = state_->notes;
  }
  for (const error& e : state_->catalogue.problems()) all.push_back(e.message);
  return all;
}

std::optional<std::string> about_missing_types(std::span<const missing_type> missing) {
  if (missing.empty()) return std::nullopt;
  const auto whole =
      std::find_if(missing.begin(), missing.end(), [](const missing_type& m) { return m.field.empty(); });
  if (whole == missing.end()) {
    return fmt::format(
        "the type {} has no field {} here that the message-queue library asks for: the library and the types are of "
        "different versions",
        missing.front().type, missing.front().field);
  }
  const auto count =
      std::count_if(missing.begin(), missing.end(), [](const missing_type& m) { return m.field.empty(); });
  return about_missing_types(whole->type, static_cast<std::size_t>(count));
}

}  // namespace mpiacq
