#pragma once
// Result<T> holds a value or an Error, because C++20 has no std::expected. Exceptions do not leave a room.
//
//     Result<Graph> load(const Path& path) {
//         VIRIDIAN_TRY(const std::string bytes, read_file(path));  // declares `bytes`, or returns the error
//         VIRIDIAN_TRY(check(bytes));                              // for Result<void>
//         return parse(bytes);
//     }
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "viridian/base/error.hpp"

namespace viridian {

// `value`, `*` and `->` may be used only if `ok` returns true, and `error` only if it returns false.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}
    Result(Error error) : error_(std::move(error)) {}

    [[nodiscard]] bool ok() const { return value_.has_value(); }
    explicit operator bool() const { return ok(); }

    [[nodiscard]] const T& value() const& { return value_.value(); }
    [[nodiscard]] T& value() & { return value_.value(); }
    // These return by value, so that `for (auto& x : *make())` keeps the values over which it loops.
    [[nodiscard]] T value() && { return std::move(value_).value(); }
    [[nodiscard]] const T& operator*() const& { return value(); }
    [[nodiscard]] T& operator*() & { return value(); }
    [[nodiscard]] T operator*() && { return std::move(*this).value(); }
    [[nodiscard]] const T* operator->() const { return &value(); }
    [[nodiscard]] T* operator->() { return &value(); }

    [[nodiscard]] const Error& error() const& { return error_.value(); }
    [[nodiscard]] Error&& error() && { return std::move(error_).value(); }

  private:
    // Two optionals rather than a variant, which takes the compiler far longer.
    std::optional<T> value_;
    std::optional<Error> error_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    [[nodiscard]] bool ok() const { return !error_.has_value(); }
    explicit operator bool() const { return ok(); }
    [[nodiscard]] const Error& error() const& { return *error_; }
    [[nodiscard]] Error&& error() && { return std::move(*error_); }

  private:
    std::optional<Error> error_;
};

// Makes an error from its code, the next step and a message in fmt's syntax:
//     fail(ErrorCode::malformed, "export the model again", "`{}` has {} bytes too few", path, n)
template <class... Arguments>
[[nodiscard]] Error fail(ErrorCode code, std::string next_step, fmt::format_string<Arguments...> message,
                         Arguments&&... arguments) {
    return Error{code, fmt::vformat(message, fmt::make_format_args(arguments...)), std::move(next_step)};
}

// BrokenInvariant is thrown if an invariant of our own code does not hold, which is a bug. Only `cli` catches
// it (exit code 3).
struct BrokenInvariant {
    std::string name;
};
// Checks the invariant that `name` states in words.
inline void invariant(bool holds, std::string_view name) {
    if (!holds) [[unlikely]]
        throw BrokenInvariant{std::string(name)};
}

}  // namespace viridian

#define VIRIDIAN_JOIN_(a, b) a##b
#define VIRIDIAN_JOIN(a, b) VIRIDIAN_JOIN_(a, b)
#define VIRIDIAN_TRY_VALUE(name, declaration, ...)  \
    auto name = (__VA_ARGS__);                      \
    if (!name.ok()) return std::move(name).error(); \
    declaration = std::move(name).value()
#define VIRIDIAN_TRY_VOID(...) \
    if (auto viridian_result = (__VA_ARGS__); !viridian_result.ok()) return std::move(viridian_result).error()
#define VIRIDIAN_TRY_DECLARE(declaration, ...) \
    VIRIDIAN_TRY_VALUE(VIRIDIAN_JOIN(viridian_result_, __LINE__), declaration, __VA_ARGS__)
// VIRIDIAN_TRY(expression) returns the error of a Result<void>, if it has one. VIRIDIAN_TRY(declaration,
// expression) does so for a Result<T>, or else initialises the declared variable with its value.
#define VIRIDIAN_TRY_CHOOSE(a, b, c, d, e, f, g, h, name, ...) name
#define VIRIDIAN_TRY(...)                                                                              \
    VIRIDIAN_TRY_CHOOSE(__VA_ARGS__, VIRIDIAN_TRY_DECLARE, VIRIDIAN_TRY_DECLARE, VIRIDIAN_TRY_DECLARE, \
                        VIRIDIAN_TRY_DECLARE, VIRIDIAN_TRY_DECLARE, VIRIDIAN_TRY_DECLARE,              \
                        VIRIDIAN_TRY_DECLARE, VIRIDIAN_TRY_VOID, )                                     \
    (__VA_ARGS__)
