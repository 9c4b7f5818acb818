// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpiacq::test {

/// A starter that breaks one clause of the document, and no other.
struct broken_starter {
  std::string clause;
  std::vector<std::string> command;  ///< the fixture's name and its arguments
  enum class way { launched, with_daemon, attached } how = way::launched;
};

inline const std::vector<broken_starter>& broken_starters() {
  static const std::vector<broken_starter> all = {
      {"3.2", {"no_interface"}},
      {"4.1a", {"checked_no_debug"}},
      {"4.1b", {"checked", "--break", "4.1b"}},
      {"4.1c", {"checked_stripped"}},
      {"4.1c", {"checked_separated"}},
      {"4.1c", {"starter_stripped_bare"}},
      {"6.1a", {"checked", "--break", "6.1a"}},
      {"6.1b", {"checked", "--break", "6.1b"}, broken_starter::way::attached},
      {"6.2a", {"checked", "--rank", "checked_rank_runs_away"}},
      {"6.2b", {"checked_gated"}},
      {"6.2c", {"checked", "--rank", "checked_rank_gate_unused"}},
      {"7.1a", {"checked_breaks_7_1a"}},
      {"7.1b", {"checked", "--break", "7.1b"}, broken_starter::way::with_daemon},
      {"7.2a", {"checked", "--break", "7.2a"}},
      {"7.2b", {"checked", "--break", "7.2b"}},
      {"8", {"checked_breaks_8"}},
      {"9.1", {"checked_breaks_9_1"}},
      {"9.2a", {"checked_breaks_9_2a"}},
      {"9.2b", {"checked_breaks_9_2b"}},
      {"9.2c", {"checked_breaks_9_2c"}},
      {"9.2d", {"checked", "--break", "9.2d"}},
      {"9.2e", {"checked", "--break", "9.2e"}},
      {"9.2f", {"checked", "--break", "9.2f"}},
      {"9.2g", {"checked", "--break", "9.2g"}},
      {"9.2h", {"checked", "--break", "9.2h"}},
      {"9.2i", {"checked", "--break", "9.2i"}, broken_starter::way::attached},
      {"9.2i", {"checked", "--break", "9.2i"}},
      {"9.2j", {"checked", "--break", "9.2j"}},
      {"9.3a", {"checked_breaks_9_3a"}},
      {"9.3b", {"checked", "--break", "9.3b"}},
      {"9.4a", {"checked_breaks_9_4a"}},
      {"9.4b", {"checked", "--break", "9.4b"}},
      {"9.4c", {"checked", "--break", "9.4c"}},
      {"9.5a", {"checked_breaks_9_5a"}},
      {"9.5b", {"checked", "--claim", "3"}},
      {"9.5b", {"checked", "--claim", "3"}, broken_starter::way::attached},
      {"9.5b", {"checked", "--claim", "-1"}},
      {"9.6a", {"checked_breaks_9_6a"}},
      {"9.6b", {"checked_breaks_9_6b"}},
      {"9.6c", {"checked", "--break", "9.6c"}},
      {"9.6d", {"checked", "--break", "9.6d"}},
      {"9.6e", {"checked", "--break", "9.6e"}},
      {"9.7a", {"checked_breaks_9_7a"}},
      {"9.7b", {"checked", "--break", "9.7b"}},
      {"9.8a", {"checked_gated", "--rank", "checked_rank_gate_long"}},
      {"9.8b", {"checked_gated", "--rank", "checked_rank_gate_open"}},
      {"9.8c", {"checked_gated", "--rank", "checked_rank_gate_deaf"}},
      {"9.9a", {"checked_breaks_9_9a"}},
      {"9.9b", {"checked", "--break", "9.9b"}},
      {"9.10a", {"checked_unmarked"}},
      {"9.10b", {"checked", "--rank-zero"}},
      {"9.10c", {"checked", "--rank", "checked_rank_marked"}},
      {"9.11", {"checked_pre_main"}},
      {"9.13", {"checked", "--rank", "checked_rank_gate"}},
      {"9.15", {"checked_breaks_9_15"}},
      {"9.16", {"checked_breaks_9_16"}},
      {"9.17a", {"checked_breaks_9_17a"}},
      {"9.17b", {"checked", "--break", "9.17b"}},
      {"dll", {"checked", "--rank", "checked_rank_dll_pointer"}},
  };
  return all;
}

/// Starters that keep all of it, each in another way that the document allows.
inline const std::vector<std::vector<std::string>>& keeping_starters() {
  static const std::vector<std::vector<std::string>> all = {
      {"checked"},
      {"checked_gated", "--rank", "checked_rank_gate"},
      {"checked_pre_main", "--rank", "checked_rank_before_main"},
      {"checked_unmarked", "--rank-zero"},
  };
  return all;
}

}  // namespace mpiacq::test
