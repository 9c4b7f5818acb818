// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/report_form.hpp"

#include <random>
#include <string>

#include <fmt/format.h>

#include "report/json/json_writer.hpp"

namespace mpiacq::tool {

namespace {

/// A word that nobody can foresee, so that no name in the job contains it.
std::string new_nonce() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

}  // namespace

report_form form_of_file(std::string_view file) {
  if (file.ends_with(".json")) return report_form::document;
  return file.ends_with(".html") || file.ends_with(".htm") ? report_form::page : report_form::text;
}

void write_in_form(report_stream& out, const findings& found, report_form form, bool colour) {
  switch (form) {
    case report_form::document: {
      json_writer document(out);
      write_findings(document, found);
      return out.put('\n');
    }
    case report_form::page:
      return write_findings_page(out, found, new_nonce());
    case report_form::text:
      return write_findings_text(out, found, colour);
  }
}

}  // namespace mpiacq::tool
