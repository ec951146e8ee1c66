// Regroups a product of three: (x·y)·z ⇒ x·(y·z) and x·(y·z) ⇒ (x·z)·y. TASO and Tensat state that
// multiplication is associative.
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/elementwise/associate.hpp"

namespace viridian::rewrite {

Rule associate_product() {
    return {.name = "associate_product",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (multiplication is associative)",
            .equation = "(x·y)·z ⇒ x·(y·z); x·(y·z) ⇒ (x·z)·y",
            .guards =
                "y and z of equal types, so that nothing between grows; floating constants are moderate "
                "(merge_scales), y and z not both constant; nothing else reads what lies between",
            .polynomial = true,
            .apply = [](Editor& editor, NodeId at) { return associate(editor, at, op::Mul); },
            .instance = [](Random& r, ElementType e) { return associate_instance(r, e, op::Mul); }};
}

}  // namespace viridian::rewrite
