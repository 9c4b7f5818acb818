// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <dlfcn.h>
#include <fmt/format.h>

#include "debug_files.hpp"

namespace mpiacq::debug_info {

namespace {

/// The client library, as libdw itself would load it: only once somebody asks, so that nobody needs to have it. Its
/// functions are called by name because libdw's way to it keeps why a server has failed to itself.
struct client_library {
  void* (*begin)() = nullptr;
  int (*find_debuginfo)(void* client, const unsigned char* build_id, int size, char** path) = nullptr;
  void (*end)(void* client) = nullptr;

  static const client_library& loaded() {
    static const client_library library = [] {
      client_library found;
      // It stays loaded: it has started libcurl, which cannot be ended while others use it.
      void* handle = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
      if (handle == nullptr) return found;
      found.begin = reinterpret_cast<void* (*)()>(::dlsym(handle, "debuginfod_begin"));
      found.find_debuginfo = reinterpret_cast<int (*)(void*, const unsigned char*, int, char**)>(
          ::dlsym(handle, "debuginfod_find_debuginfo"));
      found.end = reinterpret_cast<void (*)(void*)>(::dlsym(handle, "debuginfod_end"));
      return found;
    }();
    return library;
  }
  [[nodiscard]] bool is_there() const { return begin != nullptr && find_debuginfo != nullptr && end != nullptr; }
};

error failed(const char* servers, const std::string& id, int why) {
  error e = error{why == ETIME ? error_code::timed_out : error_code::system,
                  fmt::format("asking the debuginfod servers ({}) for the debug file with build id {}", servers, id)}
                .with_errno(why);
  e.message += "; DEBUGINFOD_URLS names the servers, DEBUGINFOD_TIMEOUT how long one may stay silent";
  return e;
}

}  // namespace

result<std::optional<elf::image>> ask_debuginfod(const std::vector<std::byte>& build_id) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0' || build_id.empty()) return std::nullopt;
  module named;
  named.build_id = build_id;
  const std::string id = build_id_text(named);
  const client_library& library = client_library::loaded();
  if (!library.is_there()) {
    return fail(error{error_code::unsupported,
                      "DEBUGINFOD_URLS is set, but libdebuginfod.so.1, which would ask the servers, is not installed"});
  }
  const std::unique_ptr<void, void (*)(void*)> client{library.begin(), library.end};
  if (!client) return fail(failed(servers, id, ENOMEM));
  char* name = nullptr;
  const int descriptor = library.find_debuginfo(client.get(), reinterpret_cast<const unsigned char*>(build_id.data()),
                                                static_cast<int>(build_id.size()), &name);
  const std::unique_ptr<char, decltype(&std::free)> path{name, &std::free};
  if (descriptor == -ENOENT) return std::nullopt;
  if (descriptor < 0) return fail(failed(servers, id, -descriptor));

  auto file = elf::input_file::adopt(descriptor, path ? path.get() : "the file that debuginfod gave");
  if (!file) return fail(std::move(file).error());
  auto opened = elf::image::open(std::move(*file));
  if (!opened) return fail(std::move(opened).error().while_doing("looking at what a debuginfod server gave"));
  if (opened->build_id() != build_id) {
    return fail(error{error_code::bad_format,
                      fmt::format("a debuginfod server ({}) gave a file for build id {} that is another's: it is not "
                                  "used",
                                  servers, id)}
                    .on(opened->file().name()));
  }
  return std::move(*opened);
}

}  // namespace mpiacq::debug_info
