#pragma once
// The common part of the compiled peers: a process that runs one model on given inputs, turn by turn, as the
// harness asks (systems.py). It calls a runtime's C interface, so that nothing but that call is timed.
#include <sched.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace peers {

// A Tensor is an input or output of the model, in memory that the worker owns and the runtime uses directly.
struct Tensor {
    std::string name;
    std::string type;  // as NumPy writes it: "<f4", "<i8", "<i4", "|b1"
    std::vector<std::int64_t> dimensions;
    std::string header;  // of the .npy file, which is written again before the outputs
    std::vector<char> bytes;
};

// The Arguments of a worker are MODEL TENSORS THREADS PROCESSORS PRECISION OUTPUTS. TENSORS is a file with a
// line `input NAME FILE` or `output NAME FILE` for each tensor, separated by tabs; the .npy files give types
// and shapes, and the inputs' values. PROCESSORS is the list on which thread 0, 1, … must run, "0,1", or "-".
// OUTPUTS is a folder for the outputs of the last run, or "-".
struct Arguments {
    std::string model;
    std::vector<Tensor> inputs, outputs;
    int threads = 1;
    std::vector<int> processors;
    std::string precision, folder;
};

inline std::runtime_error wrong(const std::string& what) { return std::runtime_error(what); }

// Returns the tensor of a .npy file (version 1, C order), or one of the same type and shape that holds zeros.
inline Tensor read_npy(const std::string& name, const std::string& file, bool values) {
    std::ifstream stream(file, std::ios::binary);
    char start[10] = {};
    if (!stream.read(start, sizeof start) || std::memcmp(start, "\x93NUMPY\x01", 7) != 0)
        throw wrong(file + " is no .npy file of version 1");
    const std::size_t length =
        static_cast<unsigned char>(start[8]) + 256U * static_cast<unsigned char>(start[9]);
    std::string text(length, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(length));
    Tensor tensor{name, {}, {}, std::string(start, sizeof start) + text, {}};
    const std::size_t quoted = text.find('\'', text.find("'descr':") + 8) + 1;
    tensor.type = text.substr(quoted, text.find('\'', quoted) - quoted);
    if (text.find("'fortran_order': False") == std::string::npos) throw wrong(file + " is not in C order");
    const std::size_t from = text.find('(') + 1;
    std::istringstream shape(text.substr(from, text.find(')') - from));
    std::size_t bytes = static_cast<std::size_t>(std::atoi(tensor.type.c_str() + 2));
    for (std::string part; std::getline(shape, part, ',');) {
        if (part.find_first_of("0123456789") == std::string::npos) continue;
        tensor.dimensions.push_back(std::atoll(part.c_str()));
        bytes *= static_cast<std::size_t>(tensor.dimensions.back());
    }
    tensor.bytes.resize(bytes);
    if (values && !stream.read(tensor.bytes.data(), static_cast<std::streamsize>(bytes)))
        throw wrong(file + " is shorter than its shape says");
    return tensor;
}

inline Arguments read_arguments(int count, char** words) {
    if (count != 7) throw wrong("give MODEL TENSORS THREADS PROCESSORS PRECISION OUTPUTS");
    Arguments arguments;
    arguments.model = words[1];
    std::ifstream tensors(words[2]);
    for (std::string line; std::getline(tensors, line);) {
        std::istringstream fields(line);
        std::string kind, name, file;
        std::getline(fields, kind, '\t'), std::getline(fields, name, '\t'), std::getline(fields, file);
        if (kind == "input")
            arguments.inputs.push_back(read_npy(name, file, true));
        else
            arguments.outputs.push_back(read_npy(name, file, false));
    }
    if (arguments.outputs.empty()) throw wrong(std::string(words[2]) + " names no output");
    arguments.threads = std::atoi(words[3]);
    std::istringstream processors(words[4]);
    if (std::string(words[4]) != "-")
        for (std::string part; std::getline(processors, part, ',');)
            arguments.processors.push_back(std::atoi(part.c_str()));
    arguments.precision = words[5];
    arguments.folder = words[6];
    return arguments;
}

// Keeps the calling thread on one processor.
inline void pin(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0)
        throw wrong("cannot pin to processor " + std::to_string(processor));
}

// The largest resident memory so far, in bytes.
inline std::int64_t peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (std::int64_t kibibytes = 0; word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
    return 0;
}

inline void write_outputs(const Arguments& arguments) {
    for (std::size_t i = 0; i < arguments.outputs.size(); ++i) {
        std::ofstream file(arguments.folder + "/" + std::to_string(i) + ".npy", std::ios::binary);
        const Tensor& tensor = arguments.outputs[i];
        file.write(tensor.header.data(), static_cast<std::streamsize>(tensor.header.size()));
        file.write(tensor.bytes.data(), static_cast<std::streamsize>(tensor.bytes.size()));
    }
}

// Serves turns until stdin ends. `load` opens the runtime's library without a model; `prepare` reads and
// prepares the model and returns the function that runs it once. The first line printed is
// {"ready": seconds of prepare, "memory_before": bytes before it}. Every line read is a number of seconds,
// answered by the seconds of each run: the first run is not counted, and at least two follow.
inline int serve(int count, char** words, const std::function<void(const Arguments&)>& load,
                 const std::function<std::function<void()>(Arguments&)>& prepare) {
    using Clock = std::chrono::steady_clock;
    const auto since = [](Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    try {
        Arguments arguments = read_arguments(count, words);
        load(arguments);
        const std::int64_t memory_before = peak_memory();
        const auto start = Clock::now();
        const std::function<void()> run = prepare(arguments);
        std::printf("{\"ready\": %.6f, \"memory_before\": %lld}\n", since(start),
                    static_cast<long long>(memory_before));
        std::fflush(stdout);
        std::vector<double> times;
        for (std::string line; std::getline(std::cin, line);) {
            const double seconds = std::atof(line.c_str());
            times.clear();
            run();
            const auto begin = Clock::now();
            while (times.size() < 2 || since(begin) < seconds) {
                const auto before = Clock::now();
                run();
                times.push_back(since(before));
            }
            const char* separator = "[";
            for (const double time : times) std::printf("%s%.9f", separator, time), separator = ",";
            std::printf("]\n");
            std::fflush(stdout);
        }
        if (arguments.folder != "-") write_outputs(arguments);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

}  // namespace peers
