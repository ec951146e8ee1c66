// Lets the extension module run with the C++ library of GCC 11 (manylinux_2_34, RHEL 9) though GCC 12
// compiles it.
//
// GCC 12 gave std::condition_variable::wait a second version, which exceptions may leave, and binds what it
// compiles to that one. Its C++ library still has the first version, and calls of it are all that keeps the
// module from an older library. The linker's option `--wrap` (python/CMakeLists.txt) sends every call here.
// The versions differ for threads that are cancelled while they wait (pthread_cancel), which Viridian never
// does.
__asm__(
    ".symver viridian_older_wait, _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
extern "C" void viridian_older_wait(void* condition, void* lock);
extern "C" void viridian_wait(void* condition, void* lock) __asm__(
    "__wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");

void viridian_wait(void* condition, void* lock) { viridian_older_wait(condition, lock); }
