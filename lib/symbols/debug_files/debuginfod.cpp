// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include <dlfcn.h>
#include <fmt/format.h>

#include "debug_files/debug_files.hpp"

namespace mpiacq::debug_info {

namespace {

/// The limits of one download, if the user sets none of the client's own. The largest debug files of distributions have
/// some 2 GB. Servers are untrusted, and an endless file would fill the user's cache.
constexpr long most_bytes = 4L << 30;
constexpr long most_seconds = 300;

/// A limit that the user sets, parsed as elfutils' client does.
long bound_in(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  const long value = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return value > 0 ? value : otherwise;
}

/// One download on this thread. The client calls it repeatedly and stops the download on request.
class download {
 public:
  download() : before_(current_) { current_ = this; }
  ~download() { current_ = before_; }
  download(const download&) = delete;
  download& operator=(const download&) = delete;

  /// The client's debuginfod_progressfn_t: `done` of `all` bytes, or 0 if unknown. A result other than 0 stops the
  /// download.
  static int ask(void* client, long done, long all) {
    static_cast<void>(client);
    return current_ != nullptr && current_->is_too_much(done, all) ? 1 : 0;
  }
  /// Why the download was stopped; empty if it was not.
  [[nodiscard]] std::string_view why_ended() const { return why_; }
  [[nodiscard]] bool took_too_long() const { return why_ == too_long; }

 private:
  static constexpr std::string_view too_large = "the file is larger than DEBUGINFOD_MAXSIZE (4 GiB if it is not set)";
  static constexpr std::string_view too_long =
      "the download takes longer than DEBUGINFOD_MAXTIME (300 s if it is not set)";

  bool is_too_much(long done, long all) {
    if (done > bytes_ || all > bytes_) why_ = too_large;
    if (std::chrono::steady_clock::now() > until_) why_ = too_long;
    return !why_.empty();
  }

  static inline thread_local download* current_ = nullptr;  // NOLINT(readability-identifier-naming): private
  download* before_;
  long bytes_ = bound_in("DEBUGINFOD_MAXSIZE", most_bytes);
  std::chrono::steady_clock::time_point until_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(bound_in("DEBUGINFOD_MAXTIME", most_seconds));
  std::string_view why_;
};

/// The client library, loaded on first use, as libdw does, so it is an optional package. Its functions are called
/// directly because libdw's interface hides the reason for a server's failure.
struct client_library {
  void* (*begin)() = nullptr;
  int (*find_debuginfo)(void* client, const unsigned char* build_id, int size, char** path) = nullptr;
  void (*end)(void* client) = nullptr;
  void (*set_progress)(void* client, int (*ask)(void*, long, long)) = nullptr;

  static const client_library& loaded() {
    static const client_library library = [] {
      client_library found;
      // The library stays loaded: it has initialised libcurl, which cannot be finalised while other code uses it.
      void* handle = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
      if (handle == nullptr) return found;
      found.begin = reinterpret_cast<void* (*)()>(::dlsym(handle, "debuginfod_begin"));
      found.find_debuginfo = reinterpret_cast<int (*)(void*, const unsigned char*, int, char**)>(
          ::dlsym(handle, "debuginfod_find_debuginfo"));
      found.end = reinterpret_cast<void (*)(void*)>(::dlsym(handle, "debuginfod_end"));
      found.set_progress =
          reinterpret_cast<void (*)(void*, int (*)(void*, long, long))>(::dlsym(handle, "debuginfod_set_progressfn"));
      return found;
    }();
    return library;
  }
  [[nodiscard]] bool is_there() const {
    return begin != nullptr && find_debuginfo != nullptr && end != nullptr && set_progress != nullptr;
  }
};

error refused(const char* servers, const std::string& id, const download& one) {
  return {
      one.took_too_long() ? error_code::timed_out : error_code::limit,
      fmt::format("the download of the debug file with build id {} from the debuginfod servers ({}) was stopped: {}",
                  id, servers, one.why_ended())};
}

error failed(const char* servers, const std::string& id, int why) {
  error e = error{why == ETIME ? error_code::timed_out : error_code::system,
                  fmt::format("asking the debuginfod servers ({}) for the debug file with build id {}", servers, id)}
                .with_errno(why);
  e.message += "; DEBUGINFOD_URLS names the servers, DEBUGINFOD_TIMEOUT how long a server may be silent";
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
  download bounded;
  library.set_progress(client.get(), &download::ask);
  char* name = nullptr;
  const int descriptor = library.find_debuginfo(client.get(), reinterpret_cast<const unsigned char*>(build_id.data()),
                                                static_cast<int>(build_id.size()), &name);
  const std::unique_ptr<char, decltype(&std::free)> path{name, &std::free};
  if (descriptor < 0 && !bounded.why_ended().empty()) return fail(refused(servers, id, bounded));
  if (descriptor == -ENOENT) return std::nullopt;
  if (descriptor < 0) return fail(failed(servers, id, -descriptor));

  auto file = elf::input_file::adopt(descriptor, path ? path.get() : "the file from debuginfod");
  if (!file) return fail(std::move(file).error());
  auto opened = elf::image::open(std::move(*file));
  if (!opened) return fail(std::move(opened).error().while_doing("opening the file from a debuginfod server"));
  if (opened->build_id() != build_id) {
    return fail(
        error{error_code::bad_format,
              fmt::format("a debuginfod server ({}) sent a file with another build id for build id {}: it is not "
                          "used",
                          servers, id)}
            .on(opened->file().name()));
  }
  return std::move(*opened);
}

}  // namespace mpiacq::debug_info
