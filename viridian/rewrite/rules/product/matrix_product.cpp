#include "viridian/rewrite/rules/product/matrix_product.hpp"

namespace viridian::rewrite {

bool multiplies_matrices(const Editor& editor, const Node& product) {
    return editor.rank(product.inputs[0]).value_or(0) >= 2 && editor.rank(product.inputs[1]).value_or(0) >= 2;
}

const Node* matrix_product(const Editor& editor, ValueId value) {
    const Node* product = editor.producer(value, op::MatMul);
    return product != nullptr && editor.used_once(value) && multiplies_matrices(editor, *product) ? product
                                                                                                  : nullptr;
}

}  // namespace viridian::rewrite
