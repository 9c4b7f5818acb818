// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "trust/trust.hpp"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "trust/munge.hpp"

namespace mpiacq::agents {

namespace {

constexpr std::string_view by_munge = "munge";
constexpr std::string_view by_file = "file:";

/// What a credential binds: that the owner of one key talks to the owner of the other, in this protocol.
std::string payload_of(const curve_key& client, const curve_key& server) {
  return fmt::format("{}\n{}\n{}\n", schema, hex(client), hex(server));
}

}  // namespace

result<trust> trust::begin(const std::string& munge_socket, const std::string& secret_folder) {
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
  made.told_path_ = file->told_path();
  made.file_.emplace(std::move(*file));
  return made;
}

result<trust> trust::told(std::string_view proof) {
  trust made;
  if (proof.starts_with(by_munge) && (proof.size() == by_munge.size() || proof[by_munge.size()] == ':')) {
    made.munge_ = true;
    if (proof.size() > by_munge.size()) made.munge_socket_ = proof.substr(by_munge.size() + 1);
    return made;
  }
  if (!proof.starts_with(by_file))
    return fail(error_code::invalid_argument,
                fmt::format("'{}' is no way to prove who one is: munge, munge:SOCKET or file:PATH", proof));
  made.told_path_ = proof.substr(by_file.size());
  auto secret = read_secret(made.told_path_);
  if (!secret) return fail(std::move(secret).error());
  made.secret_ = *secret;
  return made;
}

std::string trust::proof() const {
  if (!munge_) return fmt::format("{}{}", by_file, told_path_);
  return munge_socket_.empty() ? std::string(by_munge) : fmt::format("{}:{}", by_munge, munge_socket_);
}

result<key_pair> trust::connection_keys() const {
  return munge_ ? make_keys() : secret_;
}

result<std::string> trust::credential(const curve_key& own, const curve_key& server) const {
  if (!munge_) return std::string();
  return munge_encode(munge_socket_, payload_of(own, server));
}

bool trust::lets_in(const curve_key& client) const {
  return munge_ || client == secret_.open;
}

result<void> trust::check(const std::string& credential, const curve_key& client, const curve_key& server) const {
  if (!munge_) {
    if (client == secret_.open) return {};
    return fail(error_code::permission, "a connection that was made with another key than this run's");
  }
  const auto word = munge_decode(munge_socket_, credential);
  if (!word) return fail(word.error());
  if (word->user != ::geteuid()) {
    return fail(error_code::permission,
                fmt::format("a credential of user {}, and this is user {}", word->user, ::geteuid()));
  }
  if (word->payload != payload_of(client, server))
    return fail(error_code::permission, "a credential for another key, or another run");
  return {};
}

}  // namespace mpiacq::agents
