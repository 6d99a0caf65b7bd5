// The coroutine of the program, how one is started, and how it waits for Asio.
//
// Asio has a coroutine type of its own, which asks nothing of its caller and pays for it: each call goes through a
// stack of frames that it keeps, and the frames come from a list that is searched and holds none above a kilobyte. A
// request runs through some twenty short coroutines. Here a call is a jump into the frame, a return a jump back, and
// frames are blocks that the thread keeps for the next ones.
//
// A coroutine that waits belongs to what it waits for: if that is destroyed without an answer, as handlers are when
// their io_context goes, the whole chain of callers is destroyed with it.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace idem::net {

namespace asio = boost::asio;
using executor = asio::io_context::executor_type;

/// `co_await` on an operation of Asio with this token gives a tuple, with an error_code in front.
inline constexpr auto as_result = asio::as_tuple(asio::deferred);

/// What all frames have in common. A chain is a coroutine that was spawned, the one that it awaits, and so on.
class frame {
 public:
  frame(const frame&) = delete;
  frame& operator=(const frame&) = delete;

  static void* operator new(std::size_t size);
  static void operator delete(void* p, std::size_t size) noexcept;

 protected:
  frame() = default;
  ~frame() = default;

 private:
  template <class T>
  friend class task;
  friend class resumption;
  friend class spawned;

  std::coroutine_handle<> handle_;
  frame* caller_ = nullptr;  ///< null for the first of a chain
};

/// The right to go on with a suspended coroutine, once. Whoever lets it go unused destroys the chain.
class resumption {
 public:
  explicit resumption(frame& f) : frame_(&f) {}
  resumption(resumption&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  resumption& operator=(resumption&&) = delete;
  ~resumption() {
    if (frame_) abandon();
  }

  /// Runs the coroutine until it waits again or ends. Nothing that belongs to it may be touched afterwards.
  void operator()() { std::exchange(frame_, nullptr)->handle_.resume(); }

  explicit operator bool() const { return frame_ != nullptr; }
  /// Leaves the coroutine to somebody else.
  void give_up() { frame_ = nullptr; }

 private:
  void abandon() noexcept;

  frame* frame_;
};

template <class A>
concept awaiter = requires(std::remove_reference_t<A>& a) {
  { a.await_ready() } -> std::convertible_to<bool>;
};

/// Waits for one operation of Asio.
template <class Operation, class Result>
class operation_awaiter {
 public:
  explicit operation_awaiter(Operation&& o) : operation_(std::move(o)) {}
  bool await_ready() const noexcept { return false; }
  template <std::derived_from<frame> P>
  void await_suspend(std::coroutine_handle<P> waiting) {
    initiating_ = true;
    std::move(operation_)(completion{this, resumption(waiting.promise())});
    initiating_ = false;
  }
  Result await_resume() { return std::move(*result_); }

 private:
  struct completion {
    operation_awaiter* to;
    resumption go_on;

    completion(operation_awaiter* a, resumption r) : to(a), go_on(std::move(r)) {}
    completion(completion&&) noexcept = default;
    completion& operator=(completion&&) = delete;
    ~completion() {
      // an initiation that throws drops its handler, but the coroutine lives: it gets the exception
      if (go_on && to->initiating_) go_on.give_up();
    }
    void operator()(Result r) {
      to->result_.emplace(std::move(r));
      go_on();
    }
  };

  bool initiating_ = false;
  Operation operation_;
  std::optional<Result> result_;
};

/// What a coroutine of ours may await: tasks and other awaiters of ours, and operations of Asio with as_result.
struct awaits {
  template <awaiter A>
  A&& await_transform(A&& a) const noexcept {
    return std::forward<A>(a);
  }
  template <class Result, class... Rest>
  auto await_transform(asio::deferred_async_operation<void(Result), Rest...> o) const {
    return operation_awaiter<asio::deferred_async_operation<void(Result), Rest...>, Result>(std::move(o));
  }
};

/// A coroutine that returns a T. It begins when it is awaited or spawned, runs on its awaiter's thread, and hands
/// exceptions to it. Destroying a task destroys its frame, at whatever point it is.
template <class T>
class [[nodiscard]] task {
 public:
  class promise_type;

  task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  task& operator=(task&&) = delete;
  ~task() {
    if (frame_) frame_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  template <std::derived_from<frame> P>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<P> caller) noexcept {
    frame_.promise().caller_ = &caller.promise();
    return frame_;
  }
  T await_resume() { return frame_.promise().result(); }

 private:
  using handle = std::coroutine_handle<promise_type>;
  explicit task(handle h) : frame_(h) {}

  struct returns_to_caller {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(handle ended) const noexcept { return ended.promise().caller_->handle_; }
    void await_resume() const noexcept {}
  };

  class promise_base : public frame, public awaits {
   public:
    std::suspend_always initial_suspend() const noexcept { return {}; }
    returns_to_caller final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { failure_ = std::current_exception(); }

   protected:
    void rethrow() {
      if (failure_) std::rethrow_exception(std::move(failure_));
    }

   private:
    std::exception_ptr failure_;
  };

  handle frame_;
};

template <class T>
class task<T>::promise_type : public promise_base {
 public:
  task get_return_object() noexcept {
    const auto h = handle::from_promise(*this);
    this->handle_ = h;
    return task(h);
  }
  template <std::convertible_to<T> U = T>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T result() {
    this->rethrow();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class task<void>::promise_type : public promise_base {
 public:
  task get_return_object() noexcept {
    const auto h = handle::from_promise(*this);
    handle_ = h;
    return task(h);
  }
  void return_void() const noexcept {}
  void result() { rethrow(); }
};

/// The first of a chain, which nobody awaits: it begins at once, and its frame goes when it ends.
class spawned {
 public:
  class promise_type : public frame, public awaits {
   public:
    spawned get_return_object() noexcept {
      handle_ = std::coroutine_handle<promise_type>::from_promise(*this);
      return {};
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };

  template <class Failed>
  static spawned run(executor ex, task<void> t, Failed failed) {
    const asio::executor_work_guard<executor> work(ex);
    std::exception_ptr e;
    try {
      co_await t;
    } catch (...) {
      e = std::current_exception();
    }
    if (e) failed(e);
  }
};

/// `t`, and its object kept alive until it ends.
template <class Owner>
task<void> keeping([[maybe_unused]] std::shared_ptr<Owner> owner, task<void> t) {
  co_await t;
}

/// Runs `t` on the executor's thread: at once if this is that thread. The io_context has work until it ends.
/// @param failed called with the exception that ended it, if one did
template <class Failed>
void spawn(executor ex, task<void> t, Failed failed) {
  asio::dispatch(ex, [ex, t = std::move(t), failed = std::move(failed)]() mutable {
    spawned::run(ex, std::move(t), std::move(failed));
  });
}
/// The same for what does not throw but for want of memory, which ends it silently.
inline void spawn(executor ex, task<void> t) {
  spawn(ex, std::move(t), [](const std::exception_ptr&) {});
}

}  // namespace idem::net
