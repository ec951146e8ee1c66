#pragma once
// Answers oneDNN's calls of OpenMP with the crew of the calling thread.
//
// Debian's oneDNN uses six functions of OpenMP. The library defines them (openmp.cpp): the dynamic linker
// prefers them to libgomp's if the program, or libviridian.so, comes before libgomp in its search order. The
// kernels of oneDNN then run as jobs of our crew. A thread outside of our calls gets what it would get
// without us, from the next library that has the function.
//
// If another library's functions come first, or oneDNN was loaded before us, oneDNN keeps to one thread
// during our calls: threads of two libraries would wait for each other's processors.

namespace viridian::execute::cpu {

// Returns whether oneDNN calls our functions. The first call tries it with a small primitive.
[[nodiscard]] bool onednn_runs_on_crews();

// While the object lives, the OpenMP library that oneDNN uses instead of ours, if it does, gives the calling
// thread one thread. OpenMP keeps that number for each thread, so other threads see no change.
class OneThreadOfOpenMp {
  public:
    OneThreadOfOpenMp();
    ~OneThreadOfOpenMp();
    OneThreadOfOpenMp(const OneThreadOfOpenMp&) = delete;
    OneThreadOfOpenMp& operator=(const OneThreadOfOpenMp&) = delete;

  private:
    int before_[2] = {0, 0};
};

}  // namespace viridian::execute::cpu
