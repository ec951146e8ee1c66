#include "python/binding/errors.hpp"

namespace viridian::python {
namespace {

// Returns whose fault an error is: "user", "machine" or "bug".
const char* kind_of_code(std::string_view code) {
    for (int i = 0; i <= static_cast<int>(ErrorCode::broken_invariant); ++i) {
        const auto one = static_cast<ErrorCode>(i);
        if (name_of(one) != code) continue;
        const ErrorKind kind = kind_of(one);
        return kind == ErrorKind::user ? "user" : kind == ErrorKind::machine ? "machine" : "bug";
    }
    return "bug";
}

}  // namespace

v1::Error to_public(const Error& error) {
    return {std::string(name_of(error.code)), error.message, error.next_step};
}

void add_errors(nb::module_&) {
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void*) {
            try {
                std::rethrow_exception(thrown);
            } catch (const Failure& failure) {
                const v1::Error& error = failure.error;
                const nb::object made =
                    nb::module_::import_("viridian.errors")
                        .attr("make_error")(kind_of_code(error.code), error.code.c_str(),
                                            error.message.c_str(), error.next_step.c_str());
                PyErr_SetObject(made.type().ptr(), made.ptr());
            }
        },
        nullptr);
}

}  // namespace viridian::python
