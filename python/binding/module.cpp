// The extension module of the Python package (docs/python.md). It is thin: names, defaults and frameworks are
// the business of python/viridian.
#include "python/binding/errors.hpp"
#include "python/binding/parts.hpp"

NB_MODULE(_core, module) {
    viridian::python::add_errors(module);
    viridian::python::add_models(module);
    viridian::python::add_meters(module);
    viridian::python::add_accounts(module);
}
