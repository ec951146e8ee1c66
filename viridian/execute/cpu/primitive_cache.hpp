#pragma once
// A NoPrimitiveCache keeps oneDNN's cache of primitives empty while kernels are listed and prepared. The
// cache of oneDNN 2.6.3 holds keys that outlive what they point to, and crashes if implementations are
// iterated between the makings of primitives. The cache belongs to the whole process, so its capacity comes
// back when the last object goes; other users of oneDNN meanwhile make their primitives without it.

namespace viridian::execute::cpu {

class NoPrimitiveCache {
  public:
    NoPrimitiveCache();
    ~NoPrimitiveCache();
    NoPrimitiveCache(const NoPrimitiveCache&) = delete;
    NoPrimitiveCache& operator=(const NoPrimitiveCache&) = delete;
};

}  // namespace viridian::execute::cpu
