#pragma once
// The numbers of EAGO (Wang, Ge, Qiu: "Energy-aware DNN graph optimization", 2020), on a Tesla V100:
// milliseconds, watts, and joules per 1000 inferences (millijoules of one).
#include <optional>
#include <string_view>

namespace viridian::eago {

struct Figures {
    double milliseconds = 0, watts = 0, millijoules = 0;
};

// Table 1: one node by algorithms A, B and C.
struct PaperNode {
    std::string_view name;
    Figures a, b;
    std::optional<Figures> c;
};
inline constexpr PaperNode table1[] = {
    {"Conv1", {0.0195, 144.5, 2.81}, {0.0209, 84, 1.75}, {}},
    {"Conv2", {0.00941, 58, 0.545}, {0.0175, 47, 0.822}, {}},
    {"Conv3", {0.165, 190.8, 31.4}, {0.146, 116, 16.9}, Figures{0.083, 144, 11.9}},
};

// Table 2: eight graphs of one search of SqueezeNet.
struct PaperGraph {
    Figures estimated, actual;
};
inline constexpr PaperGraph table2[] = {
    {{0.862, 80.78, 69.66}, {0.895, 79.00, 70.70}}, {{0.801, 83.28, 66.73}, {0.833, 81.50, 67.88}},
    {{0.778, 84.10, 65.42}, {0.802, 81.83, 65.62}}, {{0.758, 84.77, 64.33}, {0.805, 81.83, 65.87}},
    {{0.740, 85.49, 63.32}, {0.795, 82.00, 65.21}}, {{0.721, 86.53, 62.43}, {0.796, 82.33, 65.54}},
    {{0.696, 89.20, 62.13}, {0.758, 85.00, 64.49}}, {{0.686, 90.45, 62.12}, {0.732, 87.00, 63.75}},
};

// Table 3, by row, for SqueezeNet, Inception-v3 and ResNet-50.
struct PaperRow {
    std::string_view name, objective;
    Figures networks[3];
};
inline constexpr PaperRow table3[] = {
    {"origin", "", {{0.916, 101.2, 92.72}, {6.796, 71.16, 483.6}, {2.079, 79.55, 165.4}}},
    {"substitution only", "time", {{0.749, 112.1, 84.04}, {5.493, 83.00, 455.9}, {2.033, 80.00, 162.6}}},
    {"best time", "time", {{0.683, 107.2, 73.26}, {5.469, 82.00, 448.4}, {1.926, 78.00, 150.2}}},
    {"best energy", "energy", {{0.736, 86.50, 63.67}, {5.788, 72.13, 417.5}, {1.982, 75.00, 148.6}}},
    {"best power", "power", {{2.183, 59.20, 129.2}, {12.59, 53.25, 670.6}, {6.540, 52.27, 341.9}}},
    {"0.5 power + 0.5 energy",
     "0.5*power+0.5*energy",
     {{0.935, 75.40, 70.52}, {7.742, 59.33, 459.3}, {2.233, 67.81, 151.4}}},
};

// Table 4: SqueezeNet between time and energy.
struct PaperMix {
    std::string_view objective;
    Figures figures;
};
inline constexpr PaperMix table4[] = {
    {"time", {0.683, 107.2, 73.26}},
    {"0.8*time+0.2*energy", {0.693, 101.2, 70.16}},
    {"0.6*time+0.4*energy", {0.707, 93.50, 66.13}},
    {"0.4*time+0.6*energy", {0.719, 89.00, 64.06}},
    {"0.2*time+0.8*energy", {0.715, 89.33, 63.88}},
    {"energy", {0.736, 86.50, 63.67}},
};

// Table 5: SqueezeNet for energy, with parts of the search.
inline constexpr PaperMix table5[] = {
    {"origin", {0.916, 101, 92.72}},
    {"outer search only", {0.776, 108, 83.87}},
    {"inner search only", {0.843, 91.8, 77.40}},
    {"both", {0.736, 86.5, 63.67}},
};

}  // namespace viridian::eago
