// The words of choices, as they are read from a file and as `check --show` writes them.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "idem/config/config.hpp"

namespace idem::config {

template <class Enum>
using word = std::pair<std::string_view, Enum>;

inline constexpr word<route_mode> mode_words[] = {
    {"enforce", route_mode::enforce}, {"observe", route_mode::observe}, {"off", route_mode::off}};
inline constexpr word<body_mode> body_words[] = {{"auto", body_mode::automatic},      {"raw", body_mode::raw},
                                                 {"json", body_mode::json},           {"form", body_mode::form},
                                                 {"multipart", body_mode::multipart}, {"none", body_mode::none}};
inline constexpr word<guarantee> guarantee_words[] = {{"at_most_once", guarantee::at_most_once},
                                                      {"at_least_once", guarantee::at_least_once}};
inline constexpr word<in_flight_respond> respond_words[] = {{"conflict", in_flight_respond::conflict},
                                                            {"accepted", in_flight_respond::accepted},
                                                            {"wait", in_flight_respond::wait}};
inline constexpr word<oversize_policy> oversize_words[] = {{"conflict", oversize_policy::conflict},
                                                           {"status_only", oversize_policy::status_only}};
inline constexpr word<store_error_policy> store_error_words[] = {{"reject", store_error_policy::reject},
                                                                 {"allow", store_error_policy::allow}};
inline constexpr word<absent_policy> absent_words[] = {
    {"off", absent_policy::off}, {"on", absent_policy::if_repeated}, {"always", absent_policy::always}};
inline constexpr word<signature_scheme> scheme_words[] = {
    {"", signature_scheme::none},           {"standard_webhooks", signature_scheme::standard_webhooks},
    {"stripe", signature_scheme::stripe},   {"github", signature_scheme::github},
    {"shopify", signature_scheme::shopify}, {"slack", signature_scheme::slack}};

/// The word of a value that is among `words`.
template <class Enum, std::size_t N>
constexpr std::string_view word_of(Enum value, const word<Enum> (&words)[N]) {
  for (const auto& [text, meaning] : words) {
    if (meaning == value) return text;
  }
  return words[0].first;
}

}  // namespace idem::config
