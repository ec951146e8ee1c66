#pragma once
// Finds the constant that scales or shifts the result of a LayerNormalization.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

struct LayerNormOperand {
    const Node* norm;  // the LayerNormalization
    ValueId operand;
    Dims dims;  // the normalised dims, which the operand has without its leading ones

    // Returns the normalisation and the constant that the node `at` combines, if its operator is `op` (Mul or
    // Add) and the normalisation has one output that nothing else reads.
    static std::optional<LayerNormOperand> of(const Editor& editor, NodeId at, graph::KnownOperator op);
};

// Makes a random LayerNormalization before the node `op` with a constant.
Graph layer_norm_operand_instance(Random& random, ElementType element, const graph::Operator& op);

}  // namespace viridian::rewrite
