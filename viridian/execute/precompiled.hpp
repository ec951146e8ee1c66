#pragma once
// Lists the headers that are compiled once for this room: the common ones, and oneDNN's.
#include <oneapi/dnnl/dnnl.hpp>

#include "cmake/precompiled.hpp"
