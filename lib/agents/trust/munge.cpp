// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "trust/munge.hpp"

#include <cstdlib>
#include <memory>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "errors/try.hpp"

namespace mpiacq::agents {

namespace {

/// The functions of libmunge (munge.h) that are used. The library is loaded on first use: nodes need not have it.
struct munge_library {
  using context = struct munge_ctx*;
  context (*create)() = nullptr;
  void (*destroy)(context) = nullptr;
  const char* (*explain)(context) = nullptr;
  int (*set)(context, int, ...) = nullptr;
  int (*encode)(char**, context, const void*, int) = nullptr;
  int (*decode)(const char*, context, void**, int*, uid_t*, gid_t*) = nullptr;
  std::string why;  ///< why the library cannot be used; empty: it can

  static constexpr int option_socket = 8;
  static constexpr int option_user = 9;  ///< the user that may decode the credential

  munge_library() {
    void* const library = ::dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    if (library == nullptr || !find(create, "munge_ctx_create") || !find(destroy, "munge_ctx_destroy") ||
        !find(explain, "munge_ctx_strerror") || !find(set, "munge_ctx_set") || !find(encode, "munge_encode") ||
        !find(decode, "munge_decode")) {
      const char* said = ::dlerror();
      why = said == nullptr ? "libmunge.so.2 lacks a function" : said;
    }
  }
};

const munge_library& library() {
  static const munge_library loaded;
  return loaded;
}

class munge_context {
 public:
  explicit munge_context(const std::string& socket) : context_(library().create()) {
    if (context_ != nullptr && !socket.empty()) library().set(context_, munge_library::option_socket, socket.c_str());
  }
  ~munge_context() {
    if (context_ != nullptr) library().destroy(context_);
  }
  munge_context(const munge_context&) = delete;
  munge_context& operator=(const munge_context&) = delete;
  [[nodiscard]] munge_library::context get() const { return context_; }
  [[nodiscard]] std::string why() const {
    const char* said = context_ == nullptr ? nullptr : library().explain(context_);
    return said == nullptr ? "no reason given" : said;
  }

 private:
  munge_library::context context_;
};

result<void> usable() {
  if (!library().why.empty()) return fail(error_code::not_found, fmt::format("no MUNGE here: {}", library().why));
  return {};
}

}  // namespace

result<std::string> munge_encode(const std::string& socket, const std::string& payload) {
  TRY(usable());
  const munge_context context(socket);
  char* made = nullptr;
  if (context.get() == nullptr ||
      library().set(context.get(), munge_library::option_user, static_cast<int>(::geteuid())) != 0 ||
      library().encode(&made, context.get(), payload.data(), static_cast<int>(payload.size())) != 0) {
    std::free(made);
    return fail(error_code::system, fmt::format("MUNGE gives no credential: {}", context.why()));
  }
  std::string credential = made;
  std::free(made);
  return credential;
}

result<munge_word> munge_decode(const std::string& socket, const std::string& credential) {
  TRY(usable());
  const munge_context context(socket);
  void* payload = nullptr;
  int length = 0;
  uid_t user = 0;
  gid_t group = 0;
  const int outcome = context.get() == nullptr
                          ? -1
                          : library().decode(credential.c_str(), context.get(), &payload, &length, &user, &group);
  // MUNGE also returns the payload of a credential that is too old or was decoded before.
  munge_word word{{static_cast<const char*>(payload), payload == nullptr ? 0 : static_cast<std::size_t>(length)}, user};
  std::free(payload);
  if (outcome != 0) return fail(error_code::permission, fmt::format("MUNGE refuses a credential: {}", context.why()));
  return word;
}

}  // namespace mpiacq::agents
