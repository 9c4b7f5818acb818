// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Makes a carrier from the MPI's own headers: finds them through the wrapper, compiles the types, compares them with
// the library, and puts the carrier into place.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "mpiacq/base/remedies.hpp"
#include "mpiacq/process/process_types.hpp"
#include "mpiacq/queues/type_carriers.hpp"
#include "text/file_name.hpp"
#include "types/carrier_folder.hpp"
#include "types/command_run.hpp"
#include "types/recipes.hpp"

namespace mpiacq {

namespace {

using namespace carriers;

constexpr std::chrono::seconds wrapper_limit{20};
constexpr std::chrono::seconds compiler_limit{60};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// How to compile and link with an MPI, as its compiler wrapper states it.
struct installation {
  std::string wrapper;
  std::vector<std::string> compiler;  ///< the command, with the arguments that come first
  std::vector<std::string> include_folders;
  std::vector<std::string> library_folders;
};

result<std::vector<std::string>> ask(const std::string& wrapper, const std::string& question) {
  auto answer = TRY(run_to_end({wrapper, question}, wrapper_limit));
  if (answer.exit_status != 0) return std::vector<std::string>{};
  return words_of(answer.out);
}

/// The first wrapper that identifies itself as this MPI's. The plain name may belong to another MPI.
result<std::string> find_wrapper(const recipe& of, const std::string& named) {
  std::vector<std::string> names{of.wrappers.begin(), of.wrappers.end()};
  if (!named.empty()) names = {named};
  for (const std::string& name : names) {
    if (find_in_path(name).empty()) continue;
    auto version = TRY(run_to_end({name, "--showme:version"}, wrapper_limit));
    if ((version.out + version.err).find(of.wrapper_says) != std::string::npos && version.exit_status == 0) return name;
  }
  return fail(error{error_code::not_found, named.empty()
                                               ? fmt::format("{}'s compiler wrapper ({}) is not in PATH: {}", of.title,
                                                             fmt::join(of.wrappers, ", "), of.remedy)
                                               : fmt::format("{} is no compiler wrapper of {}", named, of.title)}
                  .on(named));
}

result<installation> look_at_installation(const recipe& of, const std::string& named) {
  auto wrapper = TRY(find_wrapper(of, named));
  installation found;
  found.wrapper = wrapper;
  auto compiler = TRY(ask(wrapper, "--showme:command"));
  auto includes = TRY(ask(wrapper, "--showme:incdirs"));
  auto libraries = TRY(ask(wrapper, "--showme:libdirs"));
  found.compiler = std::move(compiler);
  found.library_folders = std::move(libraries);
  for (const std::string& folder : includes) {
    for (const std::string_view below : of.include_folders)
      found.include_folders.push_back(folder + std::string{below});
  }
  if (found.compiler.empty()) {
    return fail(
        error{error_code::bad_format, fmt::format("{} does not say which compiler it uses", wrapper)}.on(wrapper));
  }
  std::error_code ignored;
  const bool has_headers =
      std::any_of(found.include_folders.begin(), found.include_folders.end(), [&](const std::string& folder) {
        return std::filesystem::exists(folder + "/" + std::string{of.internal_header}, ignored);
      });
  if (has_headers) return found;
  return fail(error{error_code::not_found,
                    fmt::format("{}'s headers in {} have no internal ones ({}): {}; if {} was built by hand, "
                                "./configure --with-devel-headers installs them",
                                of.title, fmt::join(includes, ", "), of.internal_header, of.remedy, of.title)});
}

result<std::string> find_library(const recipe& of, const installation& where, const std::string& named) {
  std::error_code why;
  if (!named.empty()) {
    const auto file = std::filesystem::canonical(named, why);
    return why ? named : file.string();
  }
  for (const std::string& folder : where.library_folders) {
    const auto file = std::filesystem::canonical(folder + "/" + std::string{of.library}, why);
    if (!why) return file.string();
  }
  return fail(
      error{error_code::not_found, fmt::format("{} links with {}, which is not in {}: {}", where.wrapper, of.library,
                                               fmt::join(where.library_folders, ", "), remedies::name_mpi_library)});
}

result<void> compile(const recipe& of, const installation& where, const std::string& for_whom,
                     const work_folder& folder) {
  {
    std::ofstream source(folder / "types.c");
    source << of.source;
    if (!source.flush()) return fail(error{error_code::system, "writing " + (folder / "types.c")}.with_errno(errno));
  }
  std::vector<std::string> line = where.compiler;
  // The carrier is a shared object: a linked file needs no relocations, and a compiler describes only types that are
  // used. It is never loaded.
  for (const char* flag : {"-g", "-O0", "-w", "-fPIC", "-shared", "-nostdlib", "-fno-lto"}) line.emplace_back(flag);
  line.push_back(fmt::format("-DMPIACQ_CARRIER_FOR=\"{}\"", for_whom));
  for (const std::string& include : where.include_folders) line.push_back("-I" + include);
  line.insert(line.end(), {"-o", folder / "types.so", folder / "types.c"});
  auto ran = run_to_end(line, compiler_limit);
  if (!ran) return fail(std::move(ran).error().while_doing(fmt::format("compiling the types of {}", of.title)));
  if (ran->exit_status == 0) return {};
  const std::string first = ran->err.substr(0, ran->err.find('\n', ran->err.find("error")));
  return fail(error{error_code::exec_failed, fmt::format("compiling the types of {}: {} ended with {}: {}", of.title,
                                                         line.front(), ran->exit_status, first)}
                  .on(line.front()));
}

/// The value of a string that a file defines; empty if it defines none of that name.
std::string text_in(const std::string& path, std::string_view name) {
  auto file = file_symbols::open(path, {{}, false});
  if (!file) return {};
  const auto found = (*file)->find_symbol(name);
  if (!found || !*found) return {};
  auto text = read_c_string((*file)->initial_memory(), (*found)->address(), max_version);
  return text ? *text : std::string{};
}

/// The library that contains the MPI's data: the file itself, or a library that it needs. (Open MPI 6's libmpi passes
/// calls on to libopen_mpi.)
result<std::string> library_with_version(const recipe& of, const std::string& path) {
  auto file = TRY(file_symbols::open(path, {{}, false}));
  const auto found = TRY(file->find_symbol(of.version_symbol));
  return found ? found->home->path : path;
}

/// Compares the types with the data of the library and of the libraries that it needs.
result<std::vector<std::string>> compare(type_file& types, const std::string& library) {
  std::vector<std::string> all;
  std::vector<std::string> files = {library};
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto file = TRY(file_symbols::open(files[i], {{}, false}));
    if (file->abi() != types.abi()) {
      return fail(
          error{error_code::bad_format, fmt::format("the compiler's types are not for the machine of {}", files[i])}.on(
              files[i]));
    }
    if (i == 0) {
      for (const auto& m : file->modules().subspan(1)) files.push_back(m->path);
    }
    auto compared = check_types(types, file->initial_memory(), file->abi(), *file, file->modules().front().get());
    if (!compared) return fail(std::move(compared).error());
    for (std::string& type : *compared) {
      if (std::find(all.begin(), all.end(), type) == all.end()) all.push_back(std::move(type));
    }
  }
  return all;
}

result<void> check_version(const recipe& of, const std::string& headers, const std::string& library_path,
                           const std::string& library) {
  // The version of a release candidate continues after the number.
  if (!headers.empty() && library.starts_with(headers)) return {};
  return fail(error{error_code::bad_format,
                    fmt::format("the headers are of {} {}, and {} is {}: {}", of.title,
                                headers.empty() ? "an unknown version" : headers, library_path,
                                library.empty() ? "a library without a version" : library, remedies::name_wrapper)}
                  .on(library_path));
}

result<void> put_into_place(const work_folder& folder, const std::string& path) {
  const std::string made = folder / "types.so";
  if (::chmod(made.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH) == 0 && ::rename(made.c_str(), path.c_str()) == 0)
    return {};
  return fail(error{errno == EACCES || errno == EPERM ? error_code::permission : error_code::system,
                    fmt::format("writing {}", path)}
                  .with_errno(errno)
                  .on(path));
}

/// The path of the new carrier, in a folder that exists.
result<std::string> place_of(const carrier_request& request, const std::vector<std::byte>& build_id) {
  if (!request.output.empty()) return request.output;
  const std::string folder = request.cache_folder.empty() ? default_carrier_folder() : request.cache_folder;
  if (folder.empty() || build_id.empty()) {
    return fail(
        error{error_code::invalid_argument,
              fmt::format("{}, so the cache cannot store the types: choose an output file with -o",
                          folder.empty() ? "neither XDG_CACHE_HOME nor HOME is set" : "the library has no build id")});
  }
  TRY(make_private_folder(folder));
  return folder + "/" + carrier_file_name(build_id);
}

/// PATH may have the wrappers of several installations. The one that belongs to the requested library is used.
result<type_carrier> make_with_any_wrapper(const recipe& of, carrier_request request) {
  result<type_carrier> made =
      fail(error_code::not_found, fmt::format("{}'s compiler wrapper is not in PATH", of.title));
  for (const std::string_view wrapper : of.wrappers) {
    request.wrapper = wrapper;
    if (find_in_path(request.wrapper).empty()) continue;
    made = make_type_carrier(request);
    if (made) break;
  }
  return made;
}

}  // namespace

std::vector<std::string> carrier_names() {
  std::vector<std::string> names;
  for (const recipe& r : all_recipes()) names.emplace_back(r.name);
  return names;
}

std::string carrier_made_for(const std::string& path) {
  return text_in(path, "mpiacq_carrier_for");
}

result<type_carrier> make_type_carrier(const carrier_request& request) {
  const recipe* of = find_recipe(request.mpi);
  if (of == nullptr) {
    return fail(error{error_code::invalid_argument, fmt::format("no MPI called \"{}\" is known; there are: {}",
                                                                request.mpi, fmt::join(carrier_names(), ", "))});
  }
  if (!of->can_be_made) {
    return fail(error{
        error_code::unsupported,
        fmt::format("no types can be compiled for {}; so that its queues can be read, {}", of->title, of->remedy)});
  }
  if (request.wrapper.empty() && !request.build_id.empty()) return make_with_any_wrapper(*of, request);
  auto where = TRY(look_at_installation(*of, request.wrapper));
  const auto linked = TRY(find_library(*of, where, request.library));
  const auto library = TRY(library_with_version(*of, linked));
  auto opened = TRY(file_symbols::open(library, {{}, false}));
  const module& facts = *opened->modules().front();

  if (!request.build_id.empty() && facts.build_id != request.build_id) {
    return fail(
        error{error_code::not_found,
              fmt::format("{} links with {}, and the types are requested for another library", where.wrapper, library)}
            .on(library));
  }

  auto place = TRY(place_of(request, facts.build_id));
  const std::string beside{base::folder_of(place)};
  auto folder = TRY(work_folder::make(beside.empty() ? "." : beside));
  TRY(compile(*of, where, build_id_text(facts), folder));

  type_carrier carrier{place, request.mpi, text_in(library, of->version_symbol), library, facts.build_id, {}};
  const std::string headers = text_in(folder / "types.so", "mpiacq_carrier_version");
  TRY(check_version(*of, headers, library, carrier.version));
  auto types = TRY(type_file::open(folder / "types.so", {{}, false}));
  auto compared = TRY(compare(*types, library));
  if (compared.empty()) {
    return fail(
        error{error_code::bad_format, fmt::format("no data in {} shows whether the headers belong to it", library)}.on(
            library));
  }
  carrier.compared = std::move(compared);
  TRY(put_into_place(folder, place));
  return carrier;
}

}  // namespace mpiacq
