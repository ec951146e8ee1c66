// Regroups a sum of three: (x + y) + z ⇒ x + (y + z) and x + (y + z) ⇒ (x + z) + y. TASO and Tensat state
// that addition is associative.
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/elementwise/associate.hpp"

namespace viridian::rewrite {

Rule associate_sum() {
    return {.name = "associate_sum",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (addition is associative)",
            .equation = "(x + y) + z ⇒ x + (y + z); x + (y + z) ⇒ (x + z) + y",
            .guards =
                "y and z of equal types, so that nothing between grows; floating constants are moderate "
                "(merge_scales), y and z not both constant; nothing else reads what lies between",
            .polynomial = true,
            .apply = [](Editor& editor, NodeId at) { return associate(editor, at, op::Add); },
            .instance = [](Random& r, ElementType e) { return associate_instance(r, e, op::Add); }};
}

}  // namespace viridian::rewrite
