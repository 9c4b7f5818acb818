// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "separate/pmix_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "helper/load_path.hpp"
#include "separate/pmix_decoding.hpp"
#include "server/version_text.hpp"

namespace mpiacq::pmix {

namespace {

constexpr std::size_t longest_line = 512;

template <class Function>
bool find(void* library, const char* name, Function*& into) {
  into = reinterpret_cast<Function*>(::dlsym(library, name));
  return into != nullptr;
}

std::string loader_message() {
  return text_at(::dlerror(), longest_line).value_or("no reason given");
}

}  // namespace

result<pmix_library> pmix_library::load(int file, const std::string& shown_path) {
  const std::string path = base::load_path_of(file);
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto refused = [&](const std::string& why) {
    return fail(error(error_code::bad_format, fmt::format("loading {}: {}", shown_path, why)).on(shown_path));
  };
  if (handle == nullptr) return refused(loader_message());
  // This check comes before any call into the library: a user who can replace the file could have written it.
  if (!base::is_name_of(path, file)) return refused("it was replaced while it was loaded");
  pmix_library made;
  const bool has_all =
      find(handle, "PMIx_Get_version", made.get_version_) && find(handle, "PMIx_Error_string", made.error_string_) &&
      find(handle, "PMIx_tool_init", made.tool_init) && find(handle, "PMIx_tool_finalize", made.tool_finalize) &&
      find(handle, "PMIx_Query_info_nb", made.query_info_nb) && find(handle, "PMIx_Get_nb", made.get_nb) &&
      find(handle, "PMIx_Register_event_handler", made.register_event_handler) &&
      find(handle, "PMIx_Notify_event", made.notify_event) && find(handle, "PMIx_Spawn_nb", made.spawn_nb);
  if (!has_all) return refused(loader_message());
  return made;
}

std::string pmix_library::version() const {
  return version_in(text_at(get_version_(), longest_line).value_or(""));
}

std::string pmix_library::name_of(abi::status status) const {
  return fmt::format("{} ({})", text_at(error_string_(status), longest_line).value_or("a status without a name"),
                     status);
}

}  // namespace mpiacq::pmix
