#pragma once
// Lists the headers that are compiled once for this room: the common ones, and those of options and of JSON.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmake/precompiled.hpp"
