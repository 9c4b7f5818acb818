// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A queue library as tools have always hosted one: in their own program, its words fetched from the rank one at a time
// by PTRACE_PEEKDATA. Names and types are looked up by our own means and known from the first time on, so that what is
// compared is the way to the rank's memory. One rank at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>

#include <dlfcn.h>

#include "library/mqs_abi.hpp"
#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/type_source.hpp"
#include "peek_words.hpp"

namespace mpiacq::bench {

class peeking_queue_host {
 public:
  /// The process is this thread's tracee, and held. All must outlive this.
  peeking_queue_host(const char* library, pid_t process, target& names, type_source& types)
      : library_(::dlopen(library, RTLD_NOW | RTLD_LOCAL)), process_(process), names_(names), types_(types) {
    must_be(library_ != nullptr, library);
  }
  peeking_queue_host(const peeking_queue_host&) = delete;
  peeking_queue_host& operator=(const peeking_queue_host&) = delete;

  /// How many operations its library lists: all communicators, all three queues.
  std::size_t count_operations() {
    namespace abi = mqd_host::abi;
    current() = this;
    entry<abi::setup_basic_callbacks>("setup_basic_callbacks")(&basic_);
    char* message = nullptr;
    must(entry<abi::setup_image>("setup_image")(image(), &image_callbacks_));
    must(entry<abi::image_has_queues>("image_has_queues")(image(), &message));
    must(entry<abi::setup_process>("setup_process")(process(), &process_callbacks_));
    must(entry<abi::process_has_queues>("process_has_queues")(process(), &message));
    must(entry<abi::of_process>("update_communicator_list")(process()));
    std::size_t count = 0;
    int more = entry<abi::of_process>("setup_communicator_iterator")(process());
    for (; more == abi::ok; more = entry<abi::of_process>("next_communicator")(process())) {
      for (int queue = 0; queue < 3; ++queue) count += operations_of(queue);
    }
    entry<abi::destroy_process_info>("destroy_process_info")(process_info_);
    entry<abi::destroy_image_info>("destroy_image_info")(image_info_);
    return count;
  }

 private:
  template <class Function>
  Function* entry(const char* name) {
    void* found = ::dlsym(library_, (std::string("mqs_") + name).c_str());
    must_be(found != nullptr, name);
    return reinterpret_cast<Function*>(found);
  }
  static void must(int code) { must_be(code == mqd_host::abi::ok, "the queue library"); }
  mqd_host::abi::image* image() { return reinterpret_cast<mqd_host::abi::image*>(this); }
  mqd_host::abi::process* process() { return reinterpret_cast<mqd_host::abi::process*>(this); }

  std::size_t operations_of(int queue) {
    namespace abi = mqd_host::abi;
    if (entry<abi::setup_operation_iterator>("setup_operation_iterator")(process(), queue) != abi::ok) return 0;
    const auto next = entry<abi::next_operation>("next_operation");
    alignas(abi::operation) char operation[sizeof(abi::operation) + abi::longer_operation_by] = {};
    std::size_t count = 0;
    while (next(process(), operation) == abi::ok) ++count;
    return count;
  }

  /// Whole words, of which only a part may be wanted.
  static int fetch(mqd_host::abi::process*, mqd_host::abi::address from, int bytes, void* into) {
    char* out = static_cast<char*>(into);
    for (std::size_t left = static_cast<std::size_t>(bytes); left > 0;) {
      const std::uint64_t word_at = from & ~std::uint64_t{7};
      const std::uint64_t word = peek_word(current()->process_, word_at);
      const std::size_t offset = from - word_at, some = std::min(left, sizeof word - offset);
      std::memcpy(out, reinterpret_cast<const char*>(&word) + offset, some);
      out += some, from += some, left -= some;
    }
    return mqd_host::abi::ok;
  }

  static int find(mqd_host::abi::image*, char* name, mqd_host::abi::address* into) {
    auto& known = current()->symbols_;
    auto at = known.find(name);
    if (at == known.end()) {
      const std::string_view wanted[] = {name};
      const auto found = current()->names_.symbols.find_symbols(wanted);
      must_be(found.has_value(), name);
      at = known.emplace(name, (*found)[0] ? (*found)[0]->address().value() : 0).first;
    }
    if (into != nullptr) *into = at->second;
    return at->second != 0 ? mqd_host::abi::ok : mqd_host::abi::no_information;
  }
  static int find_function(mqd_host::abi::image* image, char* name, int, mqd_host::abi::address* into) {
    return find(image, name, into);
  }
  static mqd_host::abi::type* find_type(mqd_host::abi::image*, char* name, int) {
    auto& known = current()->layouts_;
    auto at = known.find(name);
    if (at == known.end()) {
      auto found = current()->types_.type_named(name, source_language::c);
      must_be(found.has_value(), name);
      if (!*found) return nullptr;
      at = known.emplace(name, std::move(**found)).first;
    }
    return reinterpret_cast<mqd_host::abi::type*>(&at->second);
  }
  static int field_offset(mqd_host::abi::type* type, char* field) {
    const structure_member* member = reinterpret_cast<const structure_layout*>(type)->find(field);
    return member == nullptr ? -1 : static_cast<int>(member->offset);
  }
  static int size_of(mqd_host::abi::type* type) {
    return static_cast<int>(reinterpret_cast<const structure_layout*>(type)->size);
  }
  static void type_sizes(mqd_host::abi::process*, mqd_host::abi::type_sizes* into) { *into = {2, 4, 8, 8, 8}; }
  static void to_host(mqd_host::abi::process*, const void* from, void* into, int bytes) {
    std::memcpy(into, from, static_cast<std::size_t>(bytes));
  }
  static int global_rank(mqd_host::abi::process*) { return 0; }
  static mqd_host::abi::image* image_of(mqd_host::abi::process*) { return current()->image(); }

  static void put_image_info(mqd_host::abi::image*, mqd_host::abi::image_info* info) { current()->image_info_ = info; }
  static mqd_host::abi::image_info* get_image_info(mqd_host::abi::image*) { return current()->image_info_; }
  static void put_process_info(mqd_host::abi::process*, mqd_host::abi::process_info* info) {
    current()->process_info_ = info;
  }
  static mqd_host::abi::process_info* get_process_info(mqd_host::abi::process*) { return current()->process_info_; }

  /// Libraries give callbacks handles, but there is one process: nothing has to be looked for.
  static peeking_queue_host*& current() {
    static peeking_queue_host* host = nullptr;
    return host;
  }

  static constexpr mqd_host::abi::basic_callbacks basic_ = {
      std::malloc,    std::free,      [](const char*) {}, [](int) -> char* { return nullptr; },
      put_image_info, get_image_info, put_process_info,   get_process_info,
      nullptr,        nullptr};
  static constexpr mqd_host::abi::image_callbacks image_callbacks_ = {type_sizes, find_function, find,
                                                                      find_type,  field_offset,  size_of};
  static constexpr mqd_host::abi::process_callbacks process_callbacks_ = {global_rank, image_of, fetch,
                                                                          to_host,     nullptr,  nullptr};

  void* library_;  // never unloaded
  pid_t process_;
  target& names_;
  type_source& types_;
  mqd_host::abi::image_info* image_info_ = nullptr;
  mqd_host::abi::process_info* process_info_ = nullptr;
  std::map<std::string, std::uint64_t, std::less<>> symbols_;
  std::map<std::string, structure_layout, std::less<>> layouts_;
};

}  // namespace mpiacq::bench
