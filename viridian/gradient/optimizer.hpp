#pragma once
// Makes optimisers operators: each parameter gets one node, whose body says in standard operators what the
// optimiser does.
#include <string>
#include <vector>

#include "viridian/gradient/term.hpp"

namespace viridian::gradient {

enum class OptimizerKind : std::uint8_t {
    none,     // gradients alone
    sgd,      // Robbins and Monro 1951; with momentum and Nesterov's form, as in Sutskever et al. 2013
    adam,     // Kingma and Ba 2015, algorithm 1; decay is added to the gradient
    adamw,    // Loshchilov and Hutter 2019, algorithm 2; decay is apart from the gradient
    lamb,     // You et al. 2020, algorithm 2
    rmsprop,  // Tieleman and Hinton 2012
};
[[nodiscard]] std::string_view name_of(OptimizerKind kind);
// Errors: invalid_argument, with the names that there are.
[[nodiscard]] Result<OptimizerKind> parse_optimizer(std::string_view name);

// The defaults are PyTorch's, except that weight decay is 0 for adamw too (PyTorch has 0.01).
struct OptimizerOptions {
    OptimizerKind kind = OptimizerKind::adamw;
    double momentum = 0;    // sgd, rmsprop
    bool nesterov = false;  // sgd with momentum
    double beta1 = 0.9;     // adam, adamw, lamb
    double beta2 = 0.999;
    double alpha = 0.99;    // rmsprop
    double epsilon = 1e-8;  // lamb 1e-6 if it is not given
    double decay = 0;       // weight decay of the parameters that decay
};

// The moments that the optimiser keeps for each parameter, in the order of Update::moments.
[[nodiscard]] std::vector<std::string> moments_of(const OptimizerOptions& options);

struct Update {
    Term parameter;
    std::vector<Term> moments;
};

// Adds the node that updates `parameter`. `rate` is the learning rate and `count` the number of steps before
// this one, as scalars of the parameter's type; the gradient is multiplied by the scalar `factor` first,
// which holds clipping and the loss scale. `decay` is the weight decay of this parameter.
[[nodiscard]] Update add_update(const OptimizerOptions& options, double decay, Term parameter, Term gradient,
                                const std::vector<Term>& moments, Term rate, Term count, Term factor);

}  // namespace viridian::gradient
