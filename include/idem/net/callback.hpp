// A move-only function object for completions. std::function must copy and may allocate; completions are called once,
// hold a pointer or a coroutine handle, and must not allocate on a request's way.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace idem::net {

template <class Signature>
class callback;

/// Calls to an empty callback are undefined. Targets up to 48 bytes that move without throwing live inside; larger
/// ones on the heap.
template <class R, class... Args>
class callback<R(Args...)> {
  static constexpr std::size_t room = 48;

 public:
  callback() noexcept = default;
  callback(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)

  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, callback> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  callback(F&& f) {  // NOLINT(google-explicit-constructor)
    using target = std::decay_t<F>;
    if constexpr (sizeof(target) <= room && alignof(target) <= alignof(std::max_align_t) &&
                  std::is_nothrow_move_constructible_v<target>) {
      ::new (static_cast<void*>(store_)) target(std::forward<F>(f));
      ops_ = &inline_ops<target>;
    } else {
      ::new (static_cast<void*>(store_)) target*(new target(std::forward<F>(f)));
      ops_ = &heap_ops<target>;
    }
  }

  callback(callback&& other) noexcept { take(other); }
  callback& operator=(callback&& other) noexcept {
    if (this != &other) {
      clear();
      take(other);
    }
    return *this;
  }
  callback(const callback&) = delete;
  callback& operator=(const callback&) = delete;
  ~callback() { clear(); }

  explicit operator bool() const noexcept { return ops_ != nullptr; }
  R operator()(Args... args) { return ops_->call(store_, std::forward<Args>(args)...); }

 private:
  struct operations {
    R (*call)(void*, Args&&...);
    void (*move)(void* from, void* to) noexcept;
    void (*destroy)(void*) noexcept;
  };
  template <class T>
  static constexpr operations inline_ops{
      [](void* p, Args&&... args) -> R { return (*static_cast<T*>(p))(std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept {
        ::new (to) T(std::move(*static_cast<T*>(from)));
        static_cast<T*>(from)->~T();
      },
      [](void* p) noexcept { static_cast<T*>(p)->~T(); }};
  template <class T>
  static constexpr operations heap_ops{
      [](void* p, Args&&... args) -> R { return (**static_cast<T**>(p))(std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept { ::new (to) T*(*static_cast<T**>(from)); },
      [](void* p) noexcept { delete *static_cast<T**>(p); }};

  void take(callback& other) noexcept {
    ops_ = std::exchange(other.ops_, nullptr);
    if (ops_) ops_->move(other.store_, store_);
  }
  void clear() noexcept {
    if (auto* ops = std::exchange(ops_, nullptr)) ops->destroy(store_);
  }

  const operations* ops_ = nullptr;
  alignas(std::max_align_t) unsigned char store_[room];
};

}  // namespace idem::net
