#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <string>
#include <vector>

#include "viridian/base/json.hpp"
#include "viridian/cli/run_cli.hpp"

namespace viridian::cli {

struct Outcome {
    int code;
    std::string out;
    std::string err;
};

// The command line in this process, as a user would call it.
inline Outcome run(const std::vector<std::string>& arguments) {
    std::vector<const char*> all = {"viridian"};
    for (const std::string& argument : arguments) all.push_back(argument.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = run_cli(static_cast<int>(all.size()), all.data());
    return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

}  // namespace viridian::cli
