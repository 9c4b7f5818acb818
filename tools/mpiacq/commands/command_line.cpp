// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/command_line.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands/command_help.hpp"
#include "commands/commands.hpp"
#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "mpiacq/job/job.hpp"
#include "options/option_parts.hpp"
#include "report/output_queue.hpp"
#include "text/printable.hpp"

namespace mpiacq::tool {

namespace {

using words = std::vector<std::string>;

/// A command with its place in the parser.
struct known_command {
  const command* about;
  CLI::App* app;
  declared_command declared;
};

class command_line {
 public:
  command_line() {
    app_.set_version_flag("--version", fmt::format("mpiacq {}", version()));
    app_.require_subcommand(0, 1);
    app_.formatter(program_help());
    for (const command* one : all_commands) {
      CLI::App* app = app_.add_subcommand(std::string(one->name), std::string(one->purpose));
      app->formatter(command_help(*one));
      app->option_defaults()->group(option_group::report);
      known_.push_back({one, app, one->declare(*app)});
      // All words from the starter's name on, including options, belong to the starter.
      if (known_.back().declared.starter != nullptr) app->prefix_command();
      app->set_help_flag("-h,--help", "Print this help");
    }
  }

  [[nodiscard]] int run(const words& given) {
    const known_command* const named = given.empty() ? nullptr : find(given.front());
    if (given.empty()) {
      std::cerr << app_.help();
      return status_tool_failed;
    }
    if (named == nullptr && !given.front().starts_with('-')) {
      return refuse(fmt::format("\"{}\" is not a command of mpiacq", given.front()), "mpiacq --help");
    }
    try {
      parse(named, given);
    } catch (const CLI::Success& question) {
      return app_.exit(question);
    } catch (const CLI::ExtrasError& mistake) {
      return refuse(named, named == nullptr ? mistake.what() : about_unexpected(*named, named->app->remaining()));
    } catch (const CLI::RequiredError&) {
      return refuse(named, fmt::format("no {} was given. Example: {}", named->about->usage, named->about->example));
    } catch (const CLI::ParseError& mistake) {
      return refuse(named, mistake.what());
    }
    if (const auto mistake = named->declared.mistake()) return refuse(named, *mistake);
    return run(*named);
  }

  /// Whether this status stays even if the output could not be written: the failure of a starter matters more.
  [[nodiscard]] bool keeps(int status, const words& given) const {
    const known_command* const named = given.empty() ? nullptr : find(given.front());
    return status != status_ok && named != nullptr && named->about->gives_starters_status;
  }

 private:
  [[nodiscard]] const known_command* find(const std::string& name) const {
    const auto found =
        std::find_if(known_.begin(), known_.end(), [&](const known_command& one) { return one.about->name == name; });
    return found == known_.end() ? nullptr : &*found;
  }

  /// The words behind the first "--" are the starter's command line, or the rest of one that began before the "--".
  void parse(const known_command* named, const words& given) {
    starter_line* const starter = named == nullptr ? nullptr : named->declared.starter;
    const auto mark = starter == nullptr ? given.end() : std::find(given.begin(), given.end(), "--");
    app_.parse(words(std::make_reverse_iterator(mark), given.rend()));
    if (starter == nullptr) return;
    starter->words = named->app->remaining();
    // CLI11 treats an unknown option as the starter's name.
    if (!starter->words.empty() && starter->words.front().starts_with('-')) throw CLI::ExtrasError(starter->words);
    if (mark == given.end()) return;
    starter->follows_mark = starter->words.empty();
    starter->words.insert(starter->words.end(), starter->follows_mark ? mark + 1 : mark, given.end());
  }

  /// The sentence about words that the command does not accept.
  [[nodiscard]] std::string about_unexpected(const known_command& named, const words& unexpected) const {
    if (unexpected.empty()) return "there are words that this command does not take";
    const std::string word = unexpected.front().substr(0, unexpected.front().find('='));
    if (!word.starts_with('-')) return fmt::format("\"{}\" is one word too many", word);
    std::string sentence = fmt::format("{} is not an option of this command", word);
    if (const std::string similar = similar_option(*named.app, word); !similar.empty()) {
      return sentence + fmt::format("; {} is", similar);
    }
    std::string others;
    for (const known_command& other : known_) {
      if (has_option(*other.app, word)) others += fmt::format("{}{}", others.empty() ? "" : ", ", other.about->name);
    }
    return others.empty() ? sentence : sentence + fmt::format(", but of: {}", others);
  }

  static bool has_option(const CLI::App& app, const std::string& name) {
    const auto options = app.get_options();
    return std::any_of(options.begin(), options.end(),
                       [&](const CLI::Option* option) { return option->check_name(name); });
  }

  /// An option that begins as this word does; empty if there is none.
  static std::string similar_option(const CLI::App& app, const std::string& word) {
    constexpr std::size_t enough = 5;  // "--ran" is like "--ranks"
    for (const CLI::Option* option : app.get_options()) {
      const std::string name = option->get_name();
      if (word.size() >= enough && name.starts_with(word.substr(0, enough))) return name;
    }
    return {};
  }

  static int refuse(std::string_view why, std::string_view help) {
    // Words of the command line can come from a job: a path, a name.
    complain_in_lines(fmt::format("{}\nSee '{}'.", base::printable(why), help));
    return status_tool_failed;
  }
  static int refuse(const known_command* named, std::string_view why) {
    if (named == nullptr) return refuse(why, "mpiacq --help");
    return refuse(fmt::format("{}: {}", named->about->name, why), fmt::format("mpiacq {} --help", named->about->name));
  }

  static int run(const known_command& named) {
    const auto status = named.declared.run();
    if (!status) complain(status.error());
    return status.value_or(status_tool_failed);
  }

  CLI::App app_{"", "mpiacq"};
  std::vector<known_command> known_;
};

}  // namespace

int run_command_line(int argc, char** argv) {
  const words given(argv + 1, argv + argc);
  command_line line;
  const int status = line.run(given);
  // No process is held any more, so that a slow reader of the output does no harm.
  const bool is_written = the_output().drain();
  return is_written || line.keeps(status, given) ? status : status_tool_failed;
}

}  // namespace mpiacq::tool
