// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "trust/trust.hpp"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "trust/munge.hpp"

namespace mpiacq::agents {

namespace {

constexpr std::string_view by_munge = "munge";
constexpr std::string_view by_file = "file:";

/// A credential is bound to this protocol, to the key of its sender, and to the key of its receiver.
std::string payload_of(const curve_key& client, const curve_key& server) {
  return fmt::format("{}\n{}\n{}\n", schema, hex(client), hex(server));
}

}  // namespace

result<trust> trust::for_front_end(const std::string& munge_socket, const std::string& secret_folder) {
  trust made;
  made.munge_socket_ = munge_socket;
  const auto word = munge_encode(munge_socket, "");
  if (word && munge_decode(munge_socket, *word)) {
    made.munge_ = true;
    return made;
  }
  auto file = secret_file::create(secret_folder);
  if (!file) {
    const std::string no_munge = word ? "" : "; " + word.error().message;
    error why = std::move(file).error();
    why.message += no_munge;
    return fail(std::move(why));
  }
  made.secret_ = file->keys();
  made.path_for_agents_ = file->path_for_agents();
  made.file_.emplace(std::move(*file));
  return made;
}

result<trust> trust::for_agent(std::string_view proof) {
  trust made;
  if (proof.starts_with(by_munge) && (proof.size() == by_munge.size() || proof[by_munge.size()] == ':')) {
    made.munge_ = true;
    if (proof.size() > by_munge.size()) made.munge_socket_ = proof.substr(by_munge.size() + 1);
    return made;
  }
  if (!proof.starts_with(by_file))
    return fail(error_code::invalid_argument,
                fmt::format("'{}' is not a proof of identity: munge, munge:SOCKET or file:PATH is expected", proof));
  made.path_for_agents_ = proof.substr(by_file.size());
  made.secret_ = TRY(read_secret(made.path_for_agents_));
  return made;
}

std::string trust::proof() const {
  if (!munge_) return fmt::format("{}{}", by_file, path_for_agents_);
  return munge_socket_.empty() ? std::string(by_munge) : fmt::format("{}:{}", by_munge, munge_socket_);
}

result<key_pair> trust::connection_keys() const {
  return munge_ ? make_keys() : secret_;
}

result<std::string> trust::credential(const curve_key& own, const curve_key& server) const {
  if (!munge_) return std::string();
  return munge_encode(munge_socket_, payload_of(own, server));
}

bool trust::accepts(const curve_key& client) const {
  return munge_ || client == secret_.open;
}

result<void> trust::check(const std::string& credential, const curve_key& client, const curve_key& server) const {
  if (!munge_) {
    if (client == secret_.open) return {};
    return fail(error_code::permission, "the connection was not made with this run's key");
  }
  const munge_word word = TRY(munge_decode(munge_socket_, credential));
  if (word.user != ::geteuid()) {
    return fail(error_code::permission,
                fmt::format("a credential of user {}, and this is user {}", word.user, ::geteuid()));
  }
  if (word.payload != payload_of(client, server))
    return fail(error_code::permission, "a credential for another key, or another run");
  return {};
}

}  // namespace mpiacq::agents
