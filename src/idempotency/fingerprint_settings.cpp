#include "idempotency/fingerprint_settings.hpp"

#include <algorithm>

#include "idem/idempotency/fingerprint.hpp"
#include "idem/text/ascii.hpp"
#include "idempotency/sha256.hpp"

namespace idem::idempotency {
namespace {

void sort_unique(std::vector<std::string>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

void put(sha256& hash, std::vector<std::string> list) {
  sort_unique(list);
  hash.update_number(list.size());
  for (const std::string& text : list) hash.update_sized(text);
}

// These names are in records: they stay when the enumeration is changed.
std::string_view text_of(config::body_mode mode) {
  switch (mode) {
    case config::body_mode::automatic: return "auto";
    case config::body_mode::raw: return "raw";
    case config::body_mode::json: return "json";
    case config::body_mode::form: return "form";
    case config::body_mode::multipart: return "multipart";
    case config::body_mode::none: return "none";
  }
  return {};
}

bool filters_count(config::body_mode mode) {
  return mode == config::body_mode::automatic || mode == config::body_mode::json || mode == config::body_mode::form;
}

}  // namespace

std::vector<std::string> counted_headers(const config::fingerprint_config& settings) {
  std::vector<std::string> names;
  names.reserve(settings.headers.size());
  for (const std::string& name : settings.headers) names.push_back(text::lower_case(name));
  sort_unique(names);
  return names;
}

std::uint32_t settings_hash(const config::fingerprint_config& settings) {
  sha256 hash;
  hash.update("s1");
  hash.update_sized(text_of(settings.body));
  hash.update_sized(settings.query ? "query" : "no query");
  put(hash, counted_headers(settings));
  if (filters_count(settings.body)) {
    put(hash, settings.exclude);
    put(hash, settings.include);
  }
  const sha256_digest digest = hash.finish();
  std::uint32_t short_hash = 0;
  for (int i = 0; i < 4; ++i) short_hash = short_hash << 8 | digest[static_cast<std::size_t>(i)];
  return short_hash;
}

prepared_settings::prepared_settings(const config::fingerprint_config& from)
    : settings(&from), hash(settings_hash(from)), headers(counted_headers(from)) {}

void known_settings::add(const config::fingerprint_config& settings) {
  by_hash_.insert_or_assign(settings_hash(settings), settings);
}

std::optional<fingerprint> known_settings::compute(std::uint16_t version, std::uint32_t settings,
                                                   const request_view& request) const {
  const auto known = by_hash_.find(settings);
  if (version != fingerprint_version || known == by_hash_.end()) return std::nullopt;
  return compute_fingerprint(known->second, request);
}

}  // namespace idem::idempotency
