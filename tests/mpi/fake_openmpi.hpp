// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A fake Open MPI with the parts that `make_type_carrier` uses: wrapper, headers and library in one folder.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "catch.hpp"
#include "mpiacq/queues/type_carriers.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

class fake_openmpi {
 public:
  fake_openmpi() {
    for (const char* header :
         {"ompi_config.h", "mpi.h", "opal/class/opal_list.h", "ompi/communicator/communicator.h",
          "ompi/datatype/ompi_datatype.h", "ompi/file/file.h", "ompi/group/group.h", "ompi/win/win.h",
          "ompi/mca/pml/base/pml_base_recvreq.h", "ompi/mca/pml/base/pml_base_request.h",
          "ompi/mca/pml/base/pml_base_sendreq.h", "ompi/mca/pml/pml.h", "ompi/mca/topo/base/base.h",
          "ompi/mca/topo/topo.h", "ompi/request/request.h"}) {
      const std::filesystem::path file = folder_.path(std::string{"include/openmpi/"} + header);
      std::filesystem::create_directories(file.parent_path());
      std::ofstream{file} << "#include \"" << source("fake_openmpi.h") << "\"\n";
    }
    set_compiler("gcc");
    build_library("ob1");
  }

  static std::string source(const std::string& name) { return std::string{MPIACQ_CARRIER_SOURCES} + "/" + name; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }
  [[nodiscard]] std::string library() const { return folder_.path("libmpi.so"); }
  [[nodiscard]] std::string header(const std::string& name) const { return folder_.path("include/openmpi/" + name); }

  /// Sets the compiler that the wrapper names.
  void set_compiler(const std::string& command) const {
    std::ofstream wrapper{folder_.path("mpicc")};
    wrapper << "#!/bin/sh\ncase $1 in\n"
            << "--showme:version) echo \"mpicc: Open MPI 9.8.7 (Language: C)\" ;;\n"
            << "--showme:command) echo '" << command << "' ;;\n"
            << "--showme:incdirs) echo '" << folder_.path("include") << "' ;;\n"
            << "--showme:libdirs) echo '" << folder_.path("") << "' ;;\n"
            << "*) exit 1 ;;\nesac\n";
    wrapper.close();
    ::chmod(folder_.path("mpicc").c_str(), 0755);
  }

  void build_library(const std::string& pml, const std::string& flag = "-O0") const {
    const auto built =
        run_command({"gcc", "-g0", flag, "-shared", "-fPIC", "-Wl,--build-id=sha1", "-Wl,-soname," + library(),
                     "-DPML=\"" + pml + "\"", source("fake_openmpi.c"), "-o", library()});
    INFO(built.err);
    REQUIRE(built.exit_code == 0);
  }

  /// Builds a waiting program with debug information. It is linked with the library, which has none.
  [[nodiscard]] std::string rank() const {
    const auto built = run_command({"gcc", "-g", source("fake_rank.c"), library(), "-o", path("rank")});
    INFO(built.err);
    REQUIRE(built.exit_code == 0);
    return path("rank");
  }

  [[nodiscard]] carrier_request request() const {
    return {"openmpi", folder_.path("mpicc"), {}, {}, folder_.path("cache/types")};
  }
  [[nodiscard]] std::vector<std::string> in_cache() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path("cache/types"), none)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

 private:
  scratch_folder folder_;
};

}  // namespace mpiacq::test
