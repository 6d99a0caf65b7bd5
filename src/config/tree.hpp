// A YAML document as a tree in which every key and value knows its position, duplicates included.
//
// yaml-cpp's own nodes drop the position of keys and silently keep or lose repeated keys, depending on how they are
// read; the tree is therefore built from its event interface.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/report.hpp"

namespace idem::config {

struct tree_entry;

struct tree_node {
  enum class kind { null, scalar, list, map };
  kind type = kind::null;
  int line = 1;  ///< from 1
  int column = 1;
  std::string text;                 ///< of a scalar, quoted or plain, before variables are expanded
  std::vector<tree_node> items;     ///< of a list
  std::vector<tree_entry> entries;  ///< of a map, in the order of the file
};

struct tree_entry {
  std::string key;
  int line = 1;
  int column = 1;
  tree_node value;
};

/// The single document of `text`, or nothing with the reason in `out`. Anchors, aliases, tags of one's own, keys that
/// are no scalars and a second document are errors.
std::optional<tree_node> parse_tree(std::string_view text, report& out);

}  // namespace idem::config
