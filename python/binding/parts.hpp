#pragma once
// The parts of the extension module.
#include <nanobind/nanobind.h>

namespace viridian::python {

void add_models(nanobind::module_& module);    // model.cpp
void add_meters(nanobind::module_& module);    // measure.cpp
void add_accounts(nanobind::module_& module);  // account.cpp

}  // namespace viridian::python
