#pragma once
// Declares Json for headers that only name it in function signatures. Sources that read or build a document
// include `viridian/base/json.hpp`, which is expensive to compile.
#include <nlohmann/json_fwd.hpp>

namespace viridian {

using Json = nlohmann::ordered_json;

}  // namespace viridian
