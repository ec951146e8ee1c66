#pragma once
// A CPU device for tests that need no more than its threads.
#include <gtest/gtest.h>

#include "viridian/execute/cpu/device.hpp"

namespace viridian::execute {

inline std::unique_ptr<Device> device_with(int threads) {
    auto device = make_cpu_device({.threads = threads, .pin = false, .allowances = {}});
    EXPECT_TRUE(device.ok());
    return *std::move(device);
}

}  // namespace viridian::execute
