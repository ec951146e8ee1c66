#include "viridian/rewrite/retrace.hpp"

#include "viridian/graph/infer.hpp"

namespace viridian::rewrite {

Result<Retraced> retrace(Graph graph, const Certificate& certificate) {
    Retraced done{std::move(graph), {}};
    for (const Application& entry : certificate) {
        const Rule* rule = find_rule(entry.rule);
        invariant(rule != nullptr, "a certificate of this program names rules that exist");
        std::optional<Application> followed;
        for (int attempt = 0; attempt < 2 && !followed && done.graph.alive(entry.at); ++attempt) {
            if (attempt > 0) VIRIDIAN_TRY(infer_types(done.graph));
            VIRIDIAN_TRY(followed, apply(*rule, done.graph, entry.at));
        }
        if (!followed)
            return fail(ErrorCode::mismatch, "please report it with the model",
                        "entry {} (`{}` at `{}`) does not fit the graph with its weights",
                        done.certificate.size(), entry.rule, entry.node);
        done.certificate.push_back(*std::move(followed));
    }
    return done;
}

}  // namespace viridian::rewrite
