// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/openmpi_topology.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mpiacq {

namespace {

using ranks_of_neighbours = std::optional<std::vector<std::int64_t>>;

constexpr std::uint64_t most_dimensions = 64;

class topology_reader {
 public:
  topology_reader(const process_handles& handles, object_reader& objects, memory_reader& memory, std::int64_t rank,
                  std::int64_t size)
      : handles_(handles),
        fields_(*handles.layouts->topology),
        objects_(objects),
        memory_(memory),
        rank_(rank),
        size_(size) {}

  [[nodiscard]] ranks_of_neighbours read(target_address communicator) {
    const auto module = objects_.number(communicator, fields_.of_communicator);
    const auto kept = module && *module != 0 ? objects_.number(target_address{*module}, fields_.kept) : std::nullopt;
    if (!kept || *kept == 0) return std::nullopt;
    const target_address topology{*kept};
    ranks_of_neighbours found;
    if (is_a(topology, cartesian_class)) found = in_grid(topology);
    if (is_a(topology, graph_class)) found = in_graph(topology);
    if (is_a(topology, adjacent_graph_class)) found = listed(topology, fields_.sources, fields_.source_count);
    const auto is_rank = [&](std::int64_t one) { return one >= 0 && one < size_; };
    return found && std::all_of(found->begin(), found->end(), is_rank) ? found : std::nullopt;
  }

 private:
  [[nodiscard]] bool is_a(target_address object, std::string_view of_class) {
    const auto its_class = handles_.address_of(of_class);
    return its_class && objects_.is_a(object, *its_class);
  }
  /// Numbers of the type int.
  [[nodiscard]] ranks_of_neighbours numbers(target_address from, std::uint64_t count) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * int_bytes);
    if (!read_exact(memory_, from, bytes)) return std::nullopt;
    std::vector<std::int64_t> all;
    for (std::size_t at = 0; at < bytes.size(); at += int_bytes) {
      const auto bits = decode_unsigned(std::span{bytes}.subspan(at, int_bytes), handles_.machine().order);
      all.push_back(static_cast<std::int32_t>(bits));
    }
    return all;
  }
  [[nodiscard]] ranks_of_neighbours array(target_address object, const field& which, std::uint64_t count) {
    const auto from = objects_.number(object, which);
    return from && *from != 0 ? numbers(target_address{*from}, count) : std::nullopt;
  }
  [[nodiscard]] ranks_of_neighbours listed(target_address object, const field& which, const field& count) {
    const auto many = objects_.number(object, count);
    if (!many || *many > most_neighbours) return std::nullopt;
    return *many == 0 ? std::vector<std::int64_t>{} : array(object, which, *many);
  }

  /// The neighbours of a rank in a grid: the one before and the one behind it in each dimension (MPI 4.1, 8.6).
  [[nodiscard]] ranks_of_neighbours in_grid(target_address object) {
    const auto many = objects_.number(object, fields_.dimensions);
    if (!many || *many > most_dimensions) return std::nullopt;
    if (*many == 0) return std::vector<std::int64_t>{};
    const auto sizes = array(object, fields_.sizes, *many), cycles = array(object, fields_.cycles, *many);
    const auto own = array(object, fields_.own_place, *many);
    if (!sizes || !cycles || !own || !is_own_place(*sizes, *own)) return std::nullopt;
    std::vector<std::int64_t> found;
    std::int64_t step = size_;
    for (std::size_t i = 0; i < sizes->size(); ++i) {
      const std::int64_t length = (*sizes)[i], here = (*own)[i];
      step /= length;
      for (const std::int64_t next : {here - 1, here + 1}) {
        const std::int64_t place = (next + length) % length;
        if (place == next || (*cycles)[i] != 0) found.push_back(rank_ + (place - here) * step);
      }
    }
    return found;
  }
  /// Whether the grid has as many places as the communicator has ranks, and this rank is at this place of it.
  [[nodiscard]] bool is_own_place(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& own) const {
    std::int64_t places = 1, rank = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < 1 || sizes[i] > size_ || own[i] < 0 || own[i] >= sizes[i]) return false;
      places *= sizes[i];
      rank = rank * sizes[i] + own[i];
      if (places > size_) return false;
    }
    return places == size_ && rank == rank_;
  }

  /// The edges of all ranks are in one list; an index says where those of each rank end.
  [[nodiscard]] ranks_of_neighbours in_graph(target_address object) {
    const auto nodes = objects_.number(object, fields_.nodes);
    const auto index = objects_.number(object, fields_.ends);
    const auto edges = objects_.number(object, fields_.edges);
    if (!nodes || *nodes != static_cast<std::uint64_t>(size_) || !index || !edges) return std::nullopt;
    const auto before = static_cast<std::uint64_t>(std::max<std::int64_t>(rank_ - 1, 0));
    const auto ends = numbers(target_address{*index} + before * int_bytes, rank_ == 0 ? 1 : 2);
    if (!ends) return std::nullopt;
    const std::int64_t first = rank_ == 0 ? 0 : ends->front(), end = ends->back();
    if (first < 0 || end < first || end - first > static_cast<std::int64_t>(most_neighbours)) return std::nullopt;
    const target_address from = target_address{*edges} + static_cast<std::uint64_t>(first) * int_bytes;
    return first == end ? std::vector<std::int64_t>{} : numbers(from, static_cast<std::uint64_t>(end - first));
  }

  static constexpr std::size_t int_bytes = 4;
  const process_handles& handles_;
  const openmpi_topology_fields& fields_;
  object_reader& objects_;
  memory_reader& memory_;
  std::int64_t rank_, size_;
};

}  // namespace

std::optional<std::vector<std::int64_t>> read_neighbours(target_address communicator, const process_handles& handles,
                                                         object_reader& objects, memory_reader& memory,
                                                         std::int64_t rank, std::int64_t size) {
  if (!handles.layouts || !handles.layouts->topology) return std::nullopt;
  return topology_reader(handles, objects, memory, rank, size).read(communicator);
}

}  // namespace mpiacq
