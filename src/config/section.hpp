// Typed access to one map of the file. A section reports what does not fit as it is read; a key that is absent or
// faulty leaves its target as it was, so that targets begin with their defaults.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/report.hpp"
#include "config/schema.hpp"
#include "config/tree.hpp"
#include "config/words.hpp"

namespace idem::config {

/// A scalar after its variables were expanded.
struct scalar {
  std::string text;
  std::string shown;  ///< for messages: report::value of the text
  place at;
};

template <class T>
struct limits {
  T least;
  T most;
};

/// Reads `node` as a scalar, or reports what it is instead. `expected` is one clause, e.g. `a duration`.
std::optional<scalar> read_scalar(report& out, const tree_node& node, const std::string& path,
                                  std::string_view expected);

/// Reads each item of a list as a scalar; faulty ones are reported and left out.
std::vector<scalar> read_scalars(report& out, const tree_node& list, const std::string& path,
                                 std::string_view expected);

class section {
 public:
  /// Reports unknown and repeated keys at once.
  /// @param node the map; nullptr or a null node is an empty map; anything else is reported and read as empty
  /// @param at   where the section stands, for what is missing in it
  section(report& out, const tree_node* node, place at, const map_schema& schema);

  report& out() const { return out_; }
  const place& at() const { return at_; }
  /// Path of a key of this section.
  std::string path(std::string_view key) const;
  /// Position of the key's value if it is there, else of the section; always with the key's path.
  place where(std::string_view key) const;
  /// The key's value, a null node included; nullptr if the key is absent.
  const tree_node* find(std::string_view key) const;

  /// As report::refused().
  bool refused(std::string_view key) const { return out_.refused(path(key)); }

  section child(std::string_view key, const map_schema& schema) const;

  std::optional<scalar> text(std::string_view key, std::string_view expected) const;
  /// Nothing if the key is absent or no list.
  std::optional<std::vector<scalar>> texts(std::string_view key, std::string_view expected) const;
  /// The node of a list, or nullptr.
  const tree_node* list(std::string_view key, std::string_view expected) const;

  // Each returns whether the key was there and right, and has set `target`.
  bool string(std::string_view key, std::string& target, std::string_view expected) const;
  bool duration(std::string_view key, std::chrono::milliseconds& target,
                limits<std::chrono::milliseconds> allowed) const;
  bool size(std::string_view key, std::size_t& target, limits<std::size_t> allowed) const;
  template <class Number>
  bool number(std::string_view key, Number& target, limits<std::uint64_t> allowed) const;
  bool flag(std::string_view key, bool& target) const;
  /// `true` and `false` stand for `on` and `off` where those are choices.
  template <class Enum, std::size_t N>
  bool choice(std::string_view key, Enum& target, const word<Enum> (&choices)[N]) const;

 private:
  std::optional<std::uint64_t> whole_number(std::string_view key, limits<std::uint64_t> allowed) const;
  std::optional<std::size_t> one_of(std::string_view key, std::span<const std::string_view> names) const;
  void report_keys() const;

  report& out_;
  const tree_node* node_ = nullptr;  ///< a map or nullptr
  place at_;
  std::span<const std::string_view> keys_;
};

template <class Number>
bool section::number(std::string_view key, Number& target, limits<std::uint64_t> allowed) const {
  const auto value = whole_number(key, allowed);
  if (value) target = static_cast<Number>(*value);
  return value.has_value();
}

template <class Enum, std::size_t N>
bool section::choice(std::string_view key, Enum& target, const word<Enum> (&choices)[N]) const {
  std::array<std::string_view, N> names;
  for (std::size_t i = 0; i < N; ++i) names[i] = choices[i].first;
  const auto which = one_of(key, names);
  if (which) target = choices[*which].second;
  return which.has_value();
}

}  // namespace idem::config
