// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Type carriers: made from an MPI's headers, compared with its library, stored, and found again.
#include <algorithm>
#include <cstddef>

#include <pthread.h>
#include <unistd.h>

#include "fake_openmpi.hpp"
#include "mpiacq/process/process_types.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// The build id that readelf prints.
std::string build_id_of(const std::string& file) {
  const std::string notes = run_command({"readelf", "-n", file}).out;
  const auto at = notes.find("Build ID: ");
  return at == std::string::npos ? "" : notes.substr(at + 10, notes.find('\n', at) - at - 10);
}

void check_fails(const fake_openmpi& mpi, const carrier_request& request, error_code code,
                 const std::vector<std::string>& says) {
  const auto made = make_type_carrier(request);
  REQUIRE_FALSE(made.has_value());
  CHECK(name(made.error().code) == name(code));
  for (const std::string& text : says) CHECK_THAT(made.error().message, ContainsSubstring(text));
  CHECK(mpi.in_cache().empty());
}

}  // namespace

TEST_CASE("the cache stores a carrier under the build id of the library that confirmed it") {
  const fake_openmpi mpi;
  const auto made = make_type_carrier(mpi.request());
  if (!made) FAIL(made.error().message);
  const std::string id = build_id_of(mpi.library());
  REQUIRE(id.size() == 40);
  CHECK(made->path == mpi.path("cache/types/") + id + ".so");
  CHECK(made->version == "9.8.7rc1");
  CHECK(carrier_made_for(made->path) == id);
  for (const char* type : {"ompi_request_t", "ompi_group_t", "ompi_communicator_t", "opal_free_list_t", "opal_class_t",
                           "mca_pml_base_component_t"}) {
    INFO(type);
    CHECK(std::count(made->compared.begin(), made->compared.end(), type) == 1);
  }
  struct stat folder {};
  REQUIRE(::stat(mpi.path("cache/types").c_str(), &folder) == 0);
  CHECK((folder.st_mode & 0777) == 0700);
  CHECK(mpi.in_cache().size() == 1);

  const auto types = type_file::open(made->path, {{}, false});
  REQUIRE(types.has_value());
  const auto request = (*types)->type_named("ompi_request_t", source_language::c);
  REQUIRE((request && *request));
  CHECK((*request)->size == 20);

  const auto found = find_type_carrier(made->build_id, mpi.path("cache/types"));
  REQUIRE((found && *found));
  CHECK(**found == made->path);
  auto other = made->build_id;
  other.front() ^= std::byte{1};
  const auto none = find_type_carrier(other, mpi.path("cache/types"));
  CHECK((none && !*none));

  // A second carrier replaces the first one.
  CHECK(make_type_carrier(mpi.request()).has_value());
  CHECK(mpi.in_cache().size() == 1);
}

TEST_CASE("a carrier is made for the requested library at the requested path") {
  const fake_openmpi mpi;
  auto request = mpi.request();
  request.output = mpi.path("own.so");
  std::filesystem::copy_file(mpi.library(), mpi.path("libother.so"));
  request.library = mpi.path("libother.so");
  const auto made = make_type_carrier(request);
  if (!made) FAIL(made.error().message);
  CHECK(made->path == mpi.path("own.so"));
  CHECK(made->library == mpi.path("libother.so"));
  CHECK(std::filesystem::exists(mpi.path("own.so")));
  CHECK(mpi.in_cache().empty());
}

TEST_CASE("a carrier is made for the library that has Open MPI's data, where libmpi only passes calls on") {
  const fake_openmpi mpi;
  const std::string inner = mpi.path("libopen_mpi.so");
  REQUIRE(run_command({"gcc", "-g0", "-O0", "-shared", "-fPIC", "-Wl,--build-id=sha1", "-Wl,-soname,libopen_mpi.so",
                       "-DPML=\"ob1\"", fake_openmpi::source("fake_openmpi.c"), "-o", inner})
              .exit_code == 0);
  REQUIRE(run_command(
              {"sh", "-c",
               "echo 'extern char MPIR_dll_name[]; char *outer(void) { return MPIR_dll_name; }' | gcc -shared -fPIC "
               "-xc - -xnone \"$0\" -Wl,-rpath,'$ORIGIN' -o \"$1\"",
               inner, mpi.library()})
              .exit_code == 0);
  const auto made = make_type_carrier(mpi.request());
  if (!made) FAIL(made.error().message);
  CHECK(made->library == inner);
  CHECK(made->version == "9.8.7rc1");
  CHECK(carrier_made_for(made->path) == build_id_of(inner));
  CHECK(std::count(made->compared.begin(), made->compared.end(), "ompi_communicator_t") == 1);
}

TEST_CASE("a carrier has the locks of POSIX threads where the package lacks their header, and of no other threads") {
  const fake_openmpi mpi;
  const std::string header = "opal/mca/threads/pthreads/threads_pthreads_mutex.h";
  const auto use_header = [&](const std::string& name) {
    std::ofstream{mpi.header("opal_config.h")} << "#define MCA_threads_mutex_base_include_HEADER \"" << name << "\"\n";
  };
  // A type of the package that holds such a lock.
  std::ofstream{mpi.header("opal/class/opal_list.h"), std::ios::app}
      << "#include MCA_threads_mutex_base_include_HEADER\n"
         "typedef struct { char before; opal_thread_internal_mutex_t lock; char after; } opal_locked_t;\n"
         "opal_locked_t *locked;\n";
  std::ofstream{mpi.header("ompi/group/group.h"), std::ios::app} << "#include \"opal/class/opal_list.h\"\n";
  const auto offset_of_after = [](const type_carrier& made) -> std::uint64_t {
    const auto types = type_file::open(made.path, {{}, false});
    REQUIRE(types.has_value());
    const auto locked = (*types)->type_named("opal_locked_t", source_language::c);
    REQUIRE((locked && *locked));
    const auto* const after = (*locked)->find("after");
    REQUIRE(after != nullptr);
    return after->offset;
  };
  SECTION("missing") {
    use_header(header);
    const auto made = make_type_carrier(mpi.request());
    if (!made) FAIL(made.error().message);
    struct locked {
      char before;
      pthread_mutex_t lock;
      char after;
    };
    CHECK(offset_of_after(*made) == offsetof(locked, after));
  }
  SECTION("there") {
    use_header(header);
    std::filesystem::create_directories(std::filesystem::path(mpi.header(header)).parent_path());
    std::ofstream{mpi.header(header)} << "typedef struct { char bytes[3]; } opal_thread_internal_mutex_t;\n";
    const auto made = make_type_carrier(mpi.request());
    if (!made) FAIL(made.error().message);
    CHECK(offset_of_after(*made) == 4);
  }
  SECTION("missing, and of other threads") {
    use_header("opal/mca/threads/qthreads/threads_qthreads_mutex.h");
    check_fails(mpi, mpi.request(), error_code::exec_failed, {"no POSIX threads"});
  }
}

TEST_CASE("headers that do not belong to the library give no carrier") {
  const fake_openmpi mpi;
  SECTION("another size") {
    mpi.set_compiler("gcc -DREQUEST_SIZE=24");
    check_fails(mpi, mpi.request(), error_code::bad_format, {"ompi_request_t has 24 bytes", "20 in"});
  }
  SECTION("another version") {
    mpi.set_compiler("gcc -DOMPI_RELEASE_VERSION=6");
    check_fails(mpi, mpi.request(), error_code::bad_format, {"9.8.6", "9.8.7rc1"});
  }
  SECTION("another machine") {
    if (run_command({"sh", "-c", "echo 'int x;' | gcc -m32 -shared -nostdlib -xc - -o /dev/null"}).exit_code != 0) {
      MPIACQ_SKIP("gcc makes nothing of 32 bits here");
    }
    mpi.set_compiler("gcc -m32");
    check_fails(mpi, mpi.request(), error_code::bad_format, {"not for the machine"});
  }
}

TEST_CASE("the error of a carrier that cannot be made names what is missing") {
  const fake_openmpi mpi;
  auto request = mpi.request();
  SECTION("internal headers") {
    std::filesystem::remove(mpi.header("opal/class/opal_list.h"));
    check_fails(mpi, request, error_code::not_found,
                {"opal/class/opal_list.h", "libopenmpi-dev", "--with-devel-headers"});
  }
  SECTION("a header that does not compile") {
    std::ofstream{mpi.header("ompi/group/group.h")} << "#error this one is broken\n";
    check_fails(mpi, request, error_code::exec_failed, {"this one is broken"});
  }
  SECTION("the compiler") {
    mpi.set_compiler("no-such-compiler");
    check_fails(mpi, request, error_code::not_found, {"no-such-compiler"});
  }
  SECTION("the wrapper") {
    request.wrapper = "true";
    check_fails(mpi, request, error_code::not_found, {"true is no compiler wrapper of Open MPI"});
  }
  SECTION("the library") {
    request.library = mpi.path("none.so");
    check_fails(mpi, request, error_code::not_found, {"none.so"});
  }
  SECTION("a build id to keep it by") {
    REQUIRE(run_command({"objcopy", "--remove-section", ".note.gnu.build-id", mpi.library()}).exit_code == 0);
    check_fails(mpi, request, error_code::invalid_argument, {"no build id", "-o"});
  }
}

TEST_CASE("for an MPI whose internal headers no package installs, the error says what to do instead") {
  const auto mpich = make_type_carrier({"mpich", {}, {}, {}, {}});
  REQUIRE_FALSE(mpich.has_value());
  CHECK(mpich.error().code == error_code::unsupported);
  CHECK_THAT(mpich.error().message, ContainsSubstring("--enable-debuginfo"));
  const auto unknown = make_type_carrier({"nompi", {}, {}, {}, {}});
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().code == error_code::invalid_argument);
  CHECK_THAT(unknown.error().message, ContainsSubstring("openmpi, mpich"));
}

TEST_CASE("a cache that other users can write is not used") {
  const fake_openmpi mpi;
  const auto made = make_type_carrier(mpi.request());
  REQUIRE(made.has_value());
  const std::string folder = mpi.path("cache/types");
  const auto check_refused = [&](const std::string& why) {
    const auto found = find_type_carrier(made->build_id, folder);
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().code == error_code::permission);
    CHECK_THAT(found.error().message, ContainsSubstring(why));
  };
  SECTION("the folder") {
    REQUIRE(::chmod(folder.c_str(), 0777) == 0);
    check_refused("can be written by others");
    CHECK_FALSE(make_type_carrier(mpi.request()).has_value());
  }
  SECTION("the file") {
    REQUIRE(::chmod(made->path.c_str(), 0664) == 0);
    check_refused("can be written by others");
  }
  SECTION("a link") {
    std::filesystem::rename(made->path, mpi.path("elsewhere.so"));
    std::filesystem::create_symlink(mpi.path("elsewhere.so"), made->path);
    check_refused("is a link");
  }
  SECTION("another's") {
    if (::geteuid() != 0) MPIACQ_SKIP("only root can give files away");
    REQUIRE(::chown(made->path.c_str(), 12345, 12345) == 0);
    check_refused("belongs to the user 12345");
  }
}

TEST_CASE("the cache folder follows the environment") {
  ::setenv("XDG_CACHE_HOME", "/somewhere/cache", 1);
  CHECK(default_carrier_folder() == "/somewhere/cache/mpiacq/types");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", "/home/somebody", 1);
  CHECK(default_carrier_folder() == "/home/somebody/.cache/mpiacq/types");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  CHECK(default_carrier_folder().empty());
}

TEST_CASE("the sentence about missing types says what to install") {
  CHECK_THAT(about_missing_types("opal_list_t", 19),
             ContainsSubstring("opal_list_t and 18 more") && ContainsSubstring("mpiacq types openmpi"));
  CHECK_THAT(about_missing_types("MPIR_Comm", 1), ContainsSubstring("--enable-debuginfo"));
  CHECK_THAT(about_missing_types("other_t", 1), ContainsSubstring("name a file that has its types"));
}
