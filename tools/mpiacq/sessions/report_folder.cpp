// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/report_folder.hpp"

#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "report/report_form.hpp"
#include "report/whole_file.hpp"

namespace mpiacq::tool {

namespace {

error with_remedy(error why) {
  why.message += "; name a folder that you can write to (--report DIR)";
  return why;
}

}  // namespace

result<void> prepare_report_folder(const std::string& folder) {
  constexpr mode_t by_umask = 0777;
  if (::mkdir(folder.c_str(), by_umask) != 0 && errno != EEXIST) {
    return fail(with_remedy(
        error{error_code::system, fmt::format("making the folder {} for reports", folder)}.with_errno(errno).on(
            folder)));
  }
  // A file that is opened and not written leaves nothing behind.
  const auto file = whole_file::open_to_replace(folder + "/report.txt");
  if (!file) return fail(with_remedy(file.error()));
  return {};
}

result<void> write_report_folder(const std::string& folder, const std::shared_ptr<const findings>& found,
                                 std::function<void()> otherwise) {
  TRY(prepare_report_folder(folder));
  // All files are written on one thread.
  const auto once = [called = std::make_shared<bool>(false), otherwise = std::move(otherwise)] {
    if (!std::exchange(*called, true)) otherwise();
  };
  for (const char* const file : {"report.txt", "report.json", "report.html"}) {
    const whole_file one = TRY(whole_file::open_to_replace(folder + "/" + file));
    one.write([found, form = form_of_file(file)](report_stream& out) { write_in_form(out, *found, form, false); },
              once);
  }
  return {};
}

}  // namespace mpiacq::tool
