// Accounts: joules by module and operator of a recording, and their page.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/binding/errors.hpp"
#include "python/binding/parts.hpp"
#include "viridian/account/products/module_footprint.hpp"
#include "viridian/account/products/timeline.hpp"
#include "viridian/base/json.hpp"
#include "viridian/report/page.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::python {
namespace {

account::Accounting parsed(const std::string& text) {
    const Json json = value_or_throw(parse_json(text, "account"));
    return value_or_throw(account::accounting_from_json(json, "account"));
}

// The rows of `account --by`, as tuples in the order of python/viridian/accounting.py.
nb::list footprint(const std::string& text, const std::string& by, std::optional<std::size_t> depth) {
    const auto group = account::group_by_from(by);
    if (!group)
        throw Failure{
            {"invalid_argument", "there is no grouping `" + by + "`", "take module, type or operator"}};
    nb::list rows;
    for (const account::GroupRow& row : account::module_footprint(parsed(text), *group, depth)) {
        const account::PassJoules& passes = row.passes;
        rows.append(nb::make_tuple(row.name, row.type, row.own, row.calls, row.energy.value, row.low.value,
                                   row.high.value, row.seconds.value, passes.forward.value,
                                   passes.backward.value, passes.recompute.value, passes.optimizer.value,
                                   passes.unknown.value));
    }
    return rows;
}

std::string page(const std::string& text) {
    return value_or_throw(report::page(value_or_throw(parse_json(text, "result"))));
}

// Writes the events of `trace`, with the joules of the result `text`, above the power of `log`.
void write_timeline(const std::string& trace, const std::string& log, const std::string& text,
                    const std::string& file) {
    const account::Accounting result = parsed(text);
    const auto events = value_or_throw(trace::open(trace));
    const meter::PowerLog power = value_or_throw(meter::read_power_log(log));
    value_or_throw(account::write_timeline(*events, power, result, file));
}

}  // namespace

void add_accounts(nb::module_& module) {
    module.def(
        "account",
        [](const std::string& trace, const std::string& power) {
            const nb::gil_scoped_release released;
            return value_or_throw(v1::account(trace, power));
        },
        nb::arg("trace"), nb::arg("power"));
    module.def("write_timeline", &write_timeline, nb::arg("trace"), nb::arg("power"), nb::arg("account"),
               nb::arg("file"), nb::call_guard<nb::gil_scoped_release>());
    module.def("footprint", &footprint, nb::arg("account"), nb::arg("by"), nb::arg("depth").none());
    module.def("page", &page, nb::arg("result"));
}

}  // namespace viridian::python
