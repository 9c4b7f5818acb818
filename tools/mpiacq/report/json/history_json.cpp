// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/history_report.hpp"
#include "report/json/mpi_call_json.hpp"

namespace mpiacq::tool {

namespace {

double seconds_of(clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

json json_of_place(const rank_call& where, const rank_names& names) {
  return {{"ranks", names.text(where.ranks)}, {"call", or_null(where.function)}, {"at", json_of_site(where.at)}};
}

}  // namespace

json json_of_history(const history_snapshot& history, const rank_names& names) {
  json stays = json::array(), samples = json::array();
  for (const rank_stay& stay : history.stays) {
    json one = json_of_place(stay.where, names);
    one["seconds"] = seconds_of(stay.at_least);
    one["samples"] = stay.samples;
    one["since_first"] = stay.since_first;
    stays.push_back(std::move(one));
  }
  for (const history_sample& sample : history.samples) {
    json places = json::array();
    for (const rank_call& place : sample.places) places.push_back(json_of_place(place, names));
    samples.push_back({{"seconds_before_last", seconds_of(history.samples.back().when - sample.when)},
                       {"places", std::move(places)}});
  }
  return {{"every_seconds", history.every.count()}, {"stays", std::move(stays)}, {"samples", std::move(samples)}};
}

}  // namespace mpiacq::tool
