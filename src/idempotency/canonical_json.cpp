// Canonical JSON in one pass: the events are written out at once, and only the members of an object that did not come
// in order are moved, when it ends. Nothing is kept but the text itself, the names of open objects and where members
// begin.
#include <algorithm>
#include <cstdint>

#include "idem/idempotency/fingerprint.hpp"
#include "idem/memory/block_pool.hpp"
#include "idem/text/json.hpp"
#include "idem/text/json_pointer.hpp"
#include "idempotency/json_events.hpp"

namespace idem::idempotency {
namespace {

/// Bytes. No route buffers as much; it keeps all offsets within 32 bits, for an escape may become three times as long.
constexpr std::size_t max_text = std::size_t{1} << 30;

std::uint32_t narrow(std::size_t offset) { return static_cast<std::uint32_t>(offset); }

/// A pointer of `exclude` or `include`.
struct filter {
  text::json_pointer tokens;
  bool exclude = false;
};

// What is no pointer means the names of form fields, in a list that serves `auto`.
std::vector<filter> make_filters(const std::vector<std::string>& exclude, const std::vector<std::string>& include) {
  std::vector<filter> filters;
  for (const std::string& text : exclude)
    if (auto tokens = text::parse_json_pointer(text)) filters.push_back({std::move(*tokens), true});
  for (const std::string& text : include)
    if (auto tokens = text::parse_json_pointer(text)) filters.push_back({std::move(*tokens), false});
  return filters;
}

/// The first eight bytes as a number that orders like them; what is missing counts as zero bytes.
std::uint64_t order_of_head(std::string_view text) {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < 8; ++i) head = head << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0);
  return head;
}

class canonical_writer {
 public:
  /// Forgets what came before, but not its room.
  void reset(std::size_t expected_size, std::vector<filter> filters) {
    filters_ = std::move(filters);
    active_.clear();
    frames_.clear();
    members_.clear();
    names_.clear();
    dropped_depth_ = 0;
    pending_ = {};
    out_ = memory::take_string();
    out_.reserve(expected_size);
    for (std::size_t i = 0; i < filters_.size(); ++i) active_.push_back(i);
    all_included_ = std::all_of(filters_.begin(), filters_.end(), [](const filter& f) { return f.exclude; });
  }

  void begin_object() { begin('{'); }
  void begin_array() { begin('['); }

  void end_array() {
    if (!leave_dropped()) close(']');
  }
  void end_object() {
    if (leave_dropped()) return;
    sort_members();
    close('}');
  }

  void name(std::string_view text) {
    if (dropped_depth_ > 0) return;
    pending_ = judge([&](std::string_view token) { return token == text; });
    if (!pending_.keep) return;
    members_.push_back({order_of_head(text), narrow(names_.size()), narrow(text.size()), narrow(out_.size()), 0});
    names_ += text;
    text::append_json_string(out_, text);
    out_ += ':';
  }

  void string(std::string_view text) {
    if (!begin_scalar()) return;
    text::append_json_string(out_, text);
    end_value();
  }
  void number(std::string_view text) { plain(text); }
  void literal(std::string_view text) { plain(text); }

  /// The text. What a large one needed is given back.
  std::string take() {
    if (members_.capacity() > kept_members || names_.capacity() > kept_bytes || scratch_.capacity() > kept_bytes) {
      members_ = {};
      names_ = {};
      scratch_ = {};
    }
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kept_members = 1024, kept_bytes = 16 * 1024;

  struct frame {
    bool array;
    bool included;             // all that stands inside counts, but for what is excluded
    std::size_t active_begin;  // the filters that lead on from here, in active_
    std::size_t active_end;
    std::size_t begin;  // of its text, in out_
    std::size_t first_member;
    std::size_t names_begin;
    std::size_t index;
  };
  // small, since sorting moves it about
  struct member {
    std::uint64_t head;             // decides most comparisons without a look at the name
    std::uint32_t name, name_size;  // in names_, unescaped
    std::uint32_t begin, end;       // in out_, with the comma behind it
  };
  struct verdict {
    bool keep = true;
    bool included = true;
    std::size_t active_begin = 0;  // its filters end with active_
  };

  /// Whether the next value of the innermost container counts; `matches` tells whether a token names it. A value on the
  /// way to an included place counts as far as it is not in there: its kind does, what else stands in it does not.
  template <class Matches>
  verdict judge(Matches matches) {
    const frame& f = frames_.back();
    const std::size_t depth = frames_.size() - 1;
    verdict v{true, f.included, active_.size()};
    bool on_way = false;
    for (std::size_t i = f.active_begin; i < f.active_end; ++i) {
      const filter& candidate = filters_[active_[i]];
      if (!matches(candidate.tokens[depth])) continue;
      if (candidate.tokens.size() > depth + 1) {
        active_.push_back(active_[i]);
        on_way = on_way || !candidate.exclude;
      } else if (candidate.exclude) {
        v.keep = false;
      } else {
        v.included = true;
      }
    }
    v.keep = v.keep && (v.included || on_way);
    if (!v.keep) active_.resize(v.active_begin);
    return v;
  }

  verdict next_value() {
    if (frames_.empty()) return {true, all_included_, 0};
    frame& f = frames_.back();
    if (!f.array) return pending_;
    const std::size_t index = f.index++;
    return judge([&](std::string_view token) { return token == "*" || text::names_index(token, index); });
  }

  void begin(char bracket) {
    if (dropped_depth_ > 0) {
      ++dropped_depth_;
      return;
    }
    const verdict v = next_value();
    if (!v.keep) {
      dropped_depth_ = 1;
      return;
    }
    frames_.push_back(
        {bracket == '[', v.included, v.active_begin, active_.size(), out_.size(), members_.size(), names_.size(), 0});
    out_ += bracket;
  }

  bool leave_dropped() {
    if (dropped_depth_ == 0) return false;
    --dropped_depth_;
    return true;
  }

  bool begin_scalar() {
    if (dropped_depth_ > 0) return false;
    const verdict v = next_value();
    active_.resize(frames_.empty() ? 0 : v.active_begin);
    return v.keep;
  }

  void plain(std::string_view text) {
    if (!begin_scalar()) return;
    out_ += text;
    end_value();
  }

  void close(char bracket) {
    const frame f = frames_.back();
    frames_.pop_back();
    if (out_.size() == f.begin + 1) {
      out_ += bracket;
    } else {
      out_.back() = bracket;  // in the place of the last comma
    }
    members_.resize(f.first_member);
    names_.resize(f.names_begin);
    active_.resize(f.active_begin);
    end_value();
  }

  void end_value() {
    if (frames_.empty()) return;
    out_ += ',';
    if (!frames_.back().array) members_.back().end = narrow(out_.size());
  }

  std::string_view name_of(const member& m) const { return std::string_view(names_).substr(m.name, m.name_size); }

  // The order of UTF-8's bytes is that of code points. Members of one name stay in the order they came in.
  void sort_members() {
    const frame& f = frames_.back();
    const auto first = members_.begin() + static_cast<std::ptrdiff_t>(f.first_member);
    const auto less = [this](const member& a, const member& b) {
      if (a.head != b.head) return a.head < b.head;
      const int order = name_of(a).compare(name_of(b));
      return order != 0 ? order < 0 : a.begin < b.begin;
    };
    if (std::is_sorted(first, members_.end(), less)) return;
    std::sort(first, members_.end(), less);
    scratch_.clear();
    for (auto m = first; m != members_.end(); ++m) scratch_.append(out_, m->begin, m->end - m->begin);
    out_.replace(f.begin + 1, scratch_.size(), scratch_);
  }

  std::vector<filter> filters_;
  bool all_included_ = true;
  std::vector<std::size_t> active_;
  std::vector<frame> frames_;
  std::vector<member> members_;  // of all open objects, each one's behind its parent's
  std::string names_;
  std::string out_, scratch_;
  verdict pending_;
  std::size_t dropped_depth_ = 0;  // how deep in a value that does not count
};

}  // namespace

std::optional<std::string> canonical_json(std::string_view text, const std::vector<std::string>& exclude,
                                          const std::vector<std::string>& include) {
  if (text.size() > max_text) return std::nullopt;
  static thread_local canonical_writer writer;
  writer.reset(text.size(), make_filters(exclude, include));
  const bool parsed = visit_json(text, writer);
  auto canonical = writer.take();
  if (!parsed) return std::nullopt;
  return canonical;
}

}  // namespace idem::idempotency
