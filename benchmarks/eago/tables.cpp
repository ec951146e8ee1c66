#include "tables.hpp"

#include "filters.hpp"
#include "text.hpp"

namespace viridian::eago {
namespace {

// "energy −24 % (paper −24 %)": a row against another, ours and the paper's.
std::string change(const char* what, double Figures::* member, const Figures& from, const Figures& to,
                   const Figures& paper_from, const Figures& paper_to) {
    const auto percent = [&](const Figures& a, const Figures& b) {
        return 100 * (b.*member / (a.*member) - 1);
    };
    return fmt::format("{} {:+.0f} % (paper {:+.0f} %)", what, percent(from, to),
                       percent(paper_from, paper_to));
}

std::string claims(const std::vector<Row>& rows, std::size_t network) {
    const auto say = [&](const char* title, std::size_t from, std::size_t to) {
        const Figures a = rows[from].predicted(), b = rows[to].predicted();
        const Figures &pa = table3[from].networks[network], &pb = table3[to].networks[network];
        return fmt::format("- {}: {}, {}, {}\n", title, change("time", &Figures::milliseconds, a, b, pa, pb),
                           change("power", &Figures::watts, a, b, pa, pb),
                           change("energy", &Figures::millijoules, a, b, pa, pb));
    };
    return say("best time against substitution only", 1, 2) +
           say("best energy against substitution only", 1, 3) + say("best power against origin", 0, 4) +
           say("0.5 power + 0.5 energy against origin", 0, 5);
}

}  // namespace

Result<std::string> table_three(Laboratory& laboratory, Study& study, const Network& network) {
    std::vector<Row> rows;
    std::vector<Figures> paper;
    VIRIDIAN_TRY(Row origin, study.origin_row());
    rows.push_back(std::move(origin));
    VIRIDIAN_TRY(Row substitution,
                 study.restricted("substitution only", "time", fastest_only(laboratory.source)));
    rows.push_back(std::move(substitution));
    for (const PaperRow& row : table3)
        if (row.name.starts_with("best") || row.name.starts_with("0.5"))
            VIRIDIAN_TRY(study.search(std::string(row.objective)));
    for (const PaperRow& row : table3) {
        paper.push_back(row.networks[network.paper]);
        if (paper.size() <= 2) continue;
        VIRIDIAN_TRY(Row best, study.best(std::string(row.name), std::string(row.objective)));
        rows.push_back(std::move(best));
    }
    VIRIDIAN_TRY(run_rows(laboratory, rows));
    return fmt::format("## Table 3: {}\n\n", network.name) + rows_table(rows, paper) +
           fmt::format("\n{} distinct plans in {} rows; {} graphs priced. Predicted, row against row:\n\n",
                       distinct(rows), rows.size(), study.graphs_priced()) +
           claims(rows, network.paper);
}

Result<std::string> table_four(Laboratory& laboratory, Study& study) {
    std::vector<Row> rows;
    std::vector<Figures> paper;
    for (const PaperMix& mix : table4) VIRIDIAN_TRY(study.search(std::string(mix.objective)));
    for (const PaperMix& mix : table4) {
        VIRIDIAN_TRY(Row row, study.best(std::string(mix.objective), std::string(mix.objective)));
        rows.push_back(std::move(row));
        paper.push_back(mix.figures);
    }
    VIRIDIAN_TRY(run_rows(laboratory, rows));
    const auto dominated = [](const std::vector<Figures>& all) {
        std::size_t count = 0;
        for (const Figures& a : all)
            for (const Figures& b : all)
                if (b.milliseconds <= a.milliseconds && b.millijoules <= a.millijoules &&
                    (b.milliseconds < a.milliseconds * (1 - 1e-9) ||
                     b.millijoules < a.millijoules * (1 - 1e-9))) {
                    ++count;
                    break;
                }
        return count;
    };
    std::vector<Figures> ours;
    for (const Row& row : rows) ours.push_back(row.predicted());
    return "## Table 4: between time and energy, SqueezeNet\n\n" + rows_table(rows, paper) +
           fmt::format(
               "\n{} distinct plans in {} rows; {} of them dominated by another row (the paper: {}).\n",
               distinct(rows), rows.size(), dominated(ours), dominated(paper));
}

Result<std::string> table_five(Laboratory& laboratory, Study& study) {
    std::vector<Row> rows;
    std::vector<Figures> paper;
    for (const PaperMix& mix : table5) paper.push_back(mix.figures);
    VIRIDIAN_TRY(Row origin, study.origin_row());
    rows.push_back(std::move(origin));
    VIRIDIAN_TRY(Row outer, study.restricted("outer only", "energy", first_only(laboratory.source)));
    rows.push_back(std::move(outer));
    VIRIDIAN_TRY(Row inner, study.assigned("inner only", "energy", unfused(laboratory.source)));
    rows.push_back(std::move(inner));
    VIRIDIAN_TRY(study.search("energy"));
    VIRIDIAN_TRY(Row both, study.best("both", "energy"));
    rows.push_back(std::move(both));
    VIRIDIAN_TRY(Row fused, study.assigned("inner with fusion", "energy", laboratory.source));
    rows.push_back(std::move(fused));
    VIRIDIAN_TRY(run_rows(laboratory, rows));
    return "## Table 5: what each search contributes, SqueezeNet for energy\n\n" + rows_table(rows, paper) +
           fmt::format(
               "\n{} distinct plans in {} rows. Outer only: every region by the library's first kernel; "
               "fusion is a "
               "substitution. Inner only: no rewrite, no fusion. The last row is not in the paper: fusion as "
               "part of "
               "the assignment.\n",
               distinct(rows), rows.size());
}

}  // namespace viridian::eago
