// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "options/report_options.hpp"

#include "options/option_parts.hpp"

namespace mpiacq::tool {

void add_report_options(CLI::App& app, report_options& options) {
  app.add_flag("--json", options.json,
               "Report as JSON, one document for each event. A file contains the last document");
  app.add_option("-o,--output", options.output, "Write the report to FILE; - is standard output")->type_name("FILE");
  add_debug_folders_option(app, options);
}

void add_debug_folders_option(CLI::App& app, report_options& options) {
  app.add_option("--debug-dir", options.debug_folders,
                 "Search DIR for separate debug files before /usr/lib/debug. May be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);  // one folder each time: the next word is not another
}

debug_file_search search_in(const report_options& options) {
  debug_file_search search;
  search.folders.insert(search.folders.begin(), options.debug_folders.begin(), options.debug_folders.end());
  return search;
}

debug_file_search search_without_downloads(const report_options& options) {
  debug_file_search search = search_in(options);
  search.debuginfod = false;
  return search;
}

}  // namespace mpiacq::tool
