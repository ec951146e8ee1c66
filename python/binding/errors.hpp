#pragma once
// Turns errors of the library into Python's exceptions (python/viridian/errors.py).
#include <nanobind/nanobind.h>

#include "viridian/base/result.hpp"
#include "viridian/viridian.hpp"

namespace viridian::python {

namespace nb = nanobind;

// A Failure carries an error to the translator that raises it.
struct Failure {
    v1::Error error;
};

// Return the value of `result`, or throw its error as a Failure.
template <class T>
T value_or_throw(v1::Result<T> result) {
    if (!result.ok()) throw Failure{result.error()};
    return *std::move(result);
}
[[nodiscard]] v1::Error to_public(const Error& error);
template <class T>
T value_or_throw(Result<T> result) {
    if (!result.ok()) throw Failure{to_public(result.error())};
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// Lets `module` raise Failures as exceptions.
void add_errors(nb::module_& module);

}  // namespace viridian::python
