// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "library/queue_library_calls.hpp"

#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "helper/load_path.hpp"
#include "library/callbacks.hpp"
#include "library/mqs_abi.hpp"
#include "library/printable_text.hpp"

namespace mpiacq::mqd_host {

namespace {

constexpr std::size_t longest_version = 256;
constexpr std::size_t longest_loader_message = 1024;

/// The unit in which each library counts lengths. A library does not state it, so its version string decides.
struct unit_of_library {
  std::string_view version_begins;
  length_unit unit;
};
constexpr std::array known_units{
    unit_of_library{"Open MPI message queue support", length_unit::bytes},
    unit_of_library{"MPICH", length_unit::elements},  // MPICH2 too
    unit_of_library{"MVAPICH", length_unit::elements},
};

length_unit unit_of(std::string_view version) {
  for (const unit_of_library& known : known_units) {
    if (version.starts_with(known.version_begins)) return known.unit;
  }
  return length_unit::unknown;
}

/// The message of dlopen, with the path that the user knows.
std::string loader_message(const std::string& load_path, const std::string& shown_path) {
  const char* said = ::dlerror();
  std::string text = said == nullptr ? "no reason given" : printable_c_string(said, longest_loader_message);
  for (std::size_t at = text.find(load_path); at != std::string::npos && !load_path.empty();
       at = text.find(load_path, at + shown_path.size())) {
    text.replace(at, load_path.size(), shown_path);
  }
  return text;
}

error lacks(const std::string& shown_path, std::string_view symbol) {
  return error(error_code::bad_format,
               fmt::format("{} is no library for message queues: it does not define {}", shown_path, symbol))
      .on(shown_path);
}

}  // namespace

result<queue_library> queue_library::load(const std::string& load_path, const std::string& shown_path,
                                          report_sink& sink, int file) {
  sink.calling(entry_point::load);
  void* handle = ::dlopen(load_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  sink.calling(entry_point::none);
  if (handle == nullptr) {
    return fail(
        error(error_code::bad_format, fmt::format("loading {}: {}", shown_path, loader_message(load_path, shown_path)))
            .on(shown_path));
  }
  // This check comes before any call into the library: a user who can replace the file could have written it.
  if (file >= 0 && !base::is_name_of(load_path, file)) {
    return fail(error(error_code::bad_format, shown_path + " was replaced while it was loaded").on(shown_path));
  }
  queue_library library;
  if (auto found = library.find_functions(handle, shown_path); !found) return fail(std::move(found.error()));
  if (auto good = library.check_version(shown_path, sink); !good) return fail(std::move(good.error()));
  if (library.facts_.compatibility >= abi::version_mpi2) library.find_extension(handle);

  sink.calling(entry_point::setup_basic_callbacks);
  library.function<abi::setup_basic_callbacks>(entry_point::setup_basic_callbacks)(&basic_callback_table());
  sink.calling(entry_point::none);
  return library;
}

result<void> queue_library::find_functions(void* handle, const std::string& shown_path) {
  for (const entry_point_facts& facts : entry_points) {
    if (facts.need != entry_need::required && facts.need != entry_need::optional) continue;
    void* found = ::dlsym(handle, facts.symbol.data());
    functions_[static_cast<std::size_t>(facts.entry)] = found;
    if (found != nullptr || facts.need == entry_need::optional) continue;
    error e = lacks(shown_path, facts.symbol);
    if (facts.entry == entry_point::dll_taddr_width) {
      e.message += "; it is older than March 2000 and has addresses of another width";
    }
    return fail(std::move(e));
  }
  return {};
}

void queue_library::find_extension(void* handle) {
  for (const entry_point_facts& facts : entry_points) {
    if (facts.need != entry_need::extension) continue;
    void* found = ::dlsym(handle, facts.symbol.data());
    if (found == nullptr && !facts.other_symbol.empty()) found = ::dlsym(handle, facts.other_symbol.data());
    functions_[static_cast<std::size_t>(facts.entry)] = found;
  }
}

result<void> queue_library::check_version(const std::string& shown_path, report_sink& sink) {
  sink.calling(entry_point::version_string);
  const char* version = function<abi::give_text>(entry_point::version_string)();
  sink.calling(entry_point::version_compatibility);
  facts_.compatibility = function<abi::give_number>(entry_point::version_compatibility)();
  sink.calling(entry_point::dll_taddr_width);
  const int width = function<abi::give_number>(entry_point::dll_taddr_width)();
  sink.calling(entry_point::none);

  facts_.version = printable_c_string(version, longest_version);
  facts_.unit = unit_of(facts_.version);
  if (facts_.compatibility != abi::version_mpi1 && facts_.compatibility != abi::version_mpi2) {
    return fail(error(error_code::unsupported,
                      fmt::format("{} is of version {} of the message-queue interface; {} and {} "
                                  "can be used",
                                  shown_path, facts_.compatibility, abi::version_mpi1, abi::version_mpi2))
                    .on(shown_path));
  }
  if (width != static_cast<int>(sizeof(abi::address))) {
    return fail(error(error_code::unsupported, fmt::format("{} has addresses of {} bytes where {} are needed",
                                                           shown_path, width, sizeof(abi::address)))
                    .on(shown_path));
  }
  return {};
}

}  // namespace mpiacq::mqd_host
