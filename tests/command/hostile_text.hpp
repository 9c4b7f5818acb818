// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A name that tries to control a terminal, and a judge of what a terminal would get.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

/// ESC, BEL, C1 as one byte and as UTF-8, a text direction override, bytes that are no UTF-8, DEL, and a line feed with
/// a line of its own after it.
inline const std::string hostile =
    "h\x1b]0;title\x07 \x9b"
    "31m \xc2\x9b"
    "31m \xe2\x80\xae \xff\xc0 \x7f\nINJECTED";
/// The same as JSON gives it back: what is no UTF-8 is U+FFFD (each byte here is an ill-formed sequence of its own).
inline const std::string hostile_in_json =
    "h\x1b]0;title\x07 \xef\xbf\xbd"
    "31m \xc2\x9b"
    "31m \xe2\x80\xae \xef\xbf\xbd\xef\xbf\xbd \x7f\nINJECTED";

/// What Python says is in it that a terminal must not get: bytes that are no UTF-8, controls but the line feed,
/// formatting characters, separators; and lines that a foreign line feed has made. Empty where all is well.
inline std::string unsafe_parts(const std::string& text) {
  static const scratch_folder folder;
  const std::string file = folder.path("output");
  std::ofstream(file, std::ios::binary) << text;
  const auto judge =
      run_command({"python3", "-c",
                   "import sys, unicodedata\n"
                   "raw = open(sys.argv[1], 'rb').read()\n"
                   "try: text = raw.decode('utf-8')\n"
                   "except UnicodeDecodeError as e: print('no UTF-8:', e); sys.exit()\n"
                   "for c in sorted(set(text)):\n"
                   "  if c != '\\n' and unicodedata.category(c) in ('Cc', 'Cf', 'Zl', 'Zp', 'Cs'):\n"
                   "    print('character', hex(ord(c)))\n"
                   "if any(l.startswith('INJECTED') for l in text.split('\\n')): print('a line of its own')\n",
                   file});
  return judge.exit_code == 0 ? judge.out : "the judge failed: " + judge.err;
}

/// Everything that a command wrote is safe for a terminal, and it wrote something.
inline void check_output(const command_outcome& run) {
  INFO(run.out);
  INFO(run.err);
  CHECK_FALSE(run.timed_out);
  CHECK_FALSE((run.out + run.err).empty());
  CHECK(unsafe_parts(run.out) == "");
  CHECK(unsafe_parts(run.err) == "");
}

/// A program under a hostile name, in a folder with one.
inline std::string hostile_copy(const scratch_folder& folder, const std::string& program,
                                const std::string& name = hostile) {
  const std::string own = folder.path(name);
  std::filesystem::create_directories(own);
  const std::string copy = own + "/" + name;
  std::filesystem::copy_file(program, copy, std::filesystem::copy_options::overwrite_existing);
  return copy;
}

}  // namespace mpiacq::test
