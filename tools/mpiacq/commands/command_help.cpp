// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/command_help.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands/commands.hpp"
#include "options/option_parts.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::size_t width = 80;
constexpr std::size_t option_column = 26;

/// Breaks lines between words. The first line begins at column `at`, the others at `indent`.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t at) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (at > indent && at + 1 + end > width) {
      lines += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (at > indent) {
      lines += ' ';
      ++at;
    }
    lines += text.substr(0, end);
    at += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Wraps each line that does not begin with a blank: those that do are command lines.
std::string wrapped_lines(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    all += line.starts_with(' ') ? std::string(line) : wrapped(line, 0, 0);
    all += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

/// A name and its description, which stands in a column of its own.
std::string entry(const std::string& name, std::string_view about) {
  std::string left = "  " + name;
  left += left.size() + 2 > option_column ? "\n" + std::string(option_column, ' ')
                                          : std::string(option_column - left.size(), ' ');
  return left + wrapped(about, option_column, option_column) + "\n";
}

std::string name_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  const std::string value = option.get_type_size() == 0 ? "" : option.get_type_name();
  return option.get_name(false, true) + (value.empty() ? "" : " " + value);
}

/// The options of one kind.
template <class Kind>
std::string entries(const CLI::App& app, Kind is_wanted) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (is_wanted(*option)) text += entry(name_of(*option), option->get_description() + ".");
  }
  return text;
}

std::string section(const std::string& heading, const std::string& all) {
  return all.empty() ? "" : "\n" + heading + all;
}

class program_formatter final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App*, std::string, CLI::AppFormatMode) const override {
    std::string text = wrapped_lines(
        "mpiacq shows what the processes of an MPI job are doing, and takes control of them for a debugger. It works "
        "from outside: the job needs no recompiling, no library and no configuration.\n\n"
        "  mpiacq jobs\n\n"
        "Usage: mpiacq COMMAND [OPTIONS] ...\n\n"
        "Commands:\n");
    for (const command* one : all_commands) text += entry(std::string(one->name), fmt::format("{}.", one->purpose));
    text += "\nOptions:\n" + entry("-h,--help", "Print this help.") + entry("--version", "Print the version.");
    return text + "\n" +
           wrapped_lines(
               "The starter of a job is the program that starts its processes: mpirun, mpiexec, srun. Commands for a "
               "running job take the process id of the starter or of any process of the job on this node (JOB), or "
               "the only job on this node if JOB is omitted. 'mpiacq jobs' lists all jobs.\n\n"
               "'mpiacq COMMAND --help' describes a command. The manual page is mpiacq(1).\n");
  }
};

class command_formatter final : public CLI::FormatterBase {
 public:
  explicit command_formatter(const command& of) : command_(of) {}

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::string text = wrapped_lines(fmt::format("{}.\n\n  {}\n\n", command_.purpose, command_.example)) + usage();
    text += section("", entries(*app, [](const CLI::Option& option) { return option.get_positional(); }));
    for (const std::string group : option_group::in_order) {
      text += section(group + ":\n", entries(*app, [&](const CLI::Option& option) {
                        return !option.get_positional() && option.get_group() == group;
                      }));
    }
    return text + "\n" + wrapped_lines(command_.details);
  }

 private:
  [[nodiscard]] std::string usage() const {
    std::string text;
    std::string_view forms = command_.usage;
    do {
      const std::size_t end = std::min(forms.find('\n'), forms.size());
      text += fmt::format("{} mpiacq {} [OPTIONS] {}\n", text.empty() ? "Usage:" : "      ", command_.name,
                          forms.substr(0, end));
      forms.remove_prefix(std::min(end + 1, forms.size()));
    } while (!forms.empty());
    return text;
  }

  const command& command_;
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> program_help() {
  return std::make_shared<program_formatter>();
}

std::shared_ptr<CLI::FormatterBase> command_help(const command& of) {
  return std::make_shared<command_formatter>(of);
}

}  // namespace mpiacq::tool
