// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/junit_report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "report/html/html_text.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::size_t most_report_text = 1U << 20;
/// U+FFFE and U+FFFF, as UTF-8: no control characters, but not allowed in XML 1.0 either.
constexpr std::string_view not_in_xml[] = {"\xef\xbf\xbe", "\xef\xbf\xbf"};

/// The beginning of a file.
std::string beginning_of(int descriptor, std::size_t most) {
  std::string text(most, '\0');
  std::size_t size = 0;
  while (size < most) {
    const ssize_t got = ::pread(descriptor, text.data() + size, most - size, static_cast<off_t>(size));
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

/// The report as text; the beginning of a long one.
std::string report_text(const findings& found) {
  const base::unique_fd file{::memfd_create("report", MFD_CLOEXEC)};
  if (!file) return printable(found.why.sentence) + "\n";
  report_stream stream(file.get(), false);
  write_findings_text(stream, found, false);
  stream.flush();
  std::string text = beginning_of(file.get(), most_report_text + 1);
  if (text.size() <= most_report_text) return text;
  text.resize(text.rfind('\n', most_report_text) + 1);
  return text + "[...] the rest is in report.txt\n";
}

/// In an attribute a line feed would become a blank.
std::string attribute(std::string_view text) {
  return xml_text(printable(text));
}

std::string failure_element(const junit_case& done) {
  const char* const element = done.outcome == junit_outcome::error ? "error" : "failure";
  return fmt::format("<{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", element, attribute(done.kind),
                     attribute(done.message),
                     done.found ? xml_text(report_text(*done.found)) : xml_text(printable(done.message)));
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string safe = html_text(text);
  for (const std::string_view one : not_in_xml) {
    for (std::size_t at = safe.find(one); at != std::string::npos; at = safe.find(one, at)) {
      safe.replace(at, one.size(), one == not_in_xml[0] ? "\\u{fffe}" : "\\u{ffff}");
    }
  }
  return safe;
}

void write_junit(report_stream& out, const junit_case& done) {
  const auto counted_as = [&](junit_outcome kind) { return done.outcome == kind ? 1 : 0; };
  const std::string counts =
      fmt::format("tests=\"1\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"{:.3f}\"",
                  counted_as(junit_outcome::failed), counted_as(junit_outcome::error), done.took.count());
  std::string when = time_text(done.began);
  // Services want the time of the host without a zone; UTC is what they take it for.
  if (when.ends_with('Z')) when.pop_back();
  out.put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  out.put(fmt::format("<testsuites {}>\n<testsuite name=\"mpiacq watch\" {} timestamp=\"{}\" hostname=\"{}\">\n",
                      counts, counts, when, attribute(done.host)));
  out.put(fmt::format("<testcase classname=\"mpiacq.watch\" name=\"{}\" time=\"{:.3f}\">\n", attribute(done.name),
                      done.took.count()));
  if (done.outcome != junit_outcome::passed) {
    out.put(failure_element(done));
  } else if (done.found) {
    out.put(fmt::format("<system-out>{}</system-out>\n", xml_text(report_text(*done.found))));
  }
  out.put("</testcase>\n</testsuite>\n</testsuites>\n");
}

}  // namespace mpiacq::tool
