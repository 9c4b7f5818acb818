// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the mpi.h of an installed MPI declares, read without a compiler.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace mpiacq::test {

/// The type of a parameter in C: `const MPI_Datatype types[]` has the base MPI_Datatype and one level of addresses.
struct c_type {
  std::string base;
  std::size_t levels = 0;
  bool is_const = false;
};

struct mpi_header {
  std::filesystem::path folder;
  std::string name;                                      ///< "openmpi", "mpich"
  std::string text;                                      ///< without comments
  std::string constants;                                 ///< the text of mpi.h alone, which defines all constants
  std::map<std::string, std::vector<c_type>> functions;  ///< by name without "MPI_"
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string without_comments(const std::string& text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "/*") == 0) {
      at = text.find("*/", at);
      at = at == std::string::npos ? text.size() : at + 2;
    } else if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else {
      kept += text[at++];
    }
  }
  return kept;
}

inline c_type type_of(const std::string& parameter) {
  static const std::regex word("[A-Za-z_][A-Za-z_0-9]*");
  c_type found;
  for (const char c : parameter) found.levels += c == '*' || c == '[' ? 1 : 0;
  for (std::sregex_iterator at(parameter.begin(), parameter.end(), word), end; at != end; ++at) {
    if (at->str() == "const") {
      found.is_const = true;
    } else if (found.base.empty()) {
      found.base = at->str();
    }
  }
  return found;
}

inline std::vector<c_type> types_of(const std::string& parameters) {
  std::vector<c_type> found;
  std::size_t begin = 0;
  while (begin <= parameters.size()) {
    const std::size_t end = std::min(parameters.find(',', begin), parameters.size());
    const c_type type = type_of(parameters.substr(begin, end - begin));
    if (!type.base.empty() && (type.base != "void" || type.levels > 0)) found.push_back(type);
    begin = end + 1;
  }
  return found;
}

/// Adds the functions that the header declares. No parameter of the functions in question is a function itself.
inline void read_functions(mpi_header& header) {
  static const std::regex declaration(R"(\bint\s+MPI_([A-Z][A-Za-z0-9_]*)\s*\(([^()]*)\))");
  for (std::sregex_iterator at(header.text.begin(), header.text.end(), declaration), end; at != end; ++at) {
    header.functions[(*at)[1].str()] = types_of((*at)[2].str());
  }
}

/// The headers of the MPIs that are installed.
inline std::vector<mpi_header> installed_headers() {
  namespace fs = std::filesystem;
  std::vector<mpi_header> found;
  std::set<fs::path> seen;  // one folder may be a link to another
  for (const char* folder : {"/usr/lib", "/usr/include"}) {
    for (const auto& machine : fs::directory_iterator(folder)) {
      for (const char* place : {"openmpi/include", "mpich/include", "mpich"}) {
        const fs::path mpi_h = machine.path() / place / "mpi.h";
        std::error_code ignored;
        if (!fs::is_regular_file(mpi_h, ignored) || !seen.insert(fs::canonical(mpi_h)).second) continue;
        mpi_header header{mpi_h.parent_path(),
                          std::string(place).substr(0, std::string(place).find('/')),
                          "",
                          without_comments(read_text(mpi_h)),
                          {}};
        for (const char* part : {"mpi.h", "mpi_proto.h", "mpio.h"}) {
          header.text += without_comments(read_text(mpi_h.parent_path() / part));
        }
        read_functions(header);
        found.push_back(std::move(header));
      }
    }
  }
  return found;
}

}  // namespace mpiacq::test
