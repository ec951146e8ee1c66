#pragma once
// Names a record of CUPTI in the style of PyTorch's profiler. The grid stands behind a kernel's name, because
// one kernel at two sizes is two kinds of work.
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "viridian/trace/record/cupti_api.hpp"

namespace viridian::trace::cupti {

// Returns "Memcpy HtoD", "Memset (Device)", or a kernel's demangled name with its grid: "gemm <8,1,1>".
[[nodiscard]] inline std::string name_of(const Activity& work) {
    if (work.kind == fill_kind) return "Memset (Device)";
    if (work.kind == copy_kind) {
        // CUpti_ActivityMemcpyKind: 1 HtoD, 2 DtoH, 8 DtoD, 10 PtoP
        return work.direction == 1    ? "Memcpy HtoD"
               : work.direction == 2  ? "Memcpy DtoH"
               : work.direction == 8  ? "Memcpy DtoD"
               : work.direction == 10 ? "Memcpy PtoP"
                                      : "Memcpy";
    }
    if (work.name == nullptr) return "kernel";
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> plain(
        abi::__cxa_demangle(work.name, nullptr, nullptr, &status), std::free);
    std::string name = status == 0 && plain ? plain.get() : work.name;
    return name + " <" + std::to_string(work.grid[0]) + "," + std::to_string(work.grid[1]) + "," +
           std::to_string(work.grid[2]) + ">";
}

}  // namespace viridian::trace::cupti
