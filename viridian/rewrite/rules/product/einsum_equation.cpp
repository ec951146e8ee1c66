#include "viridian/rewrite/rules/product/einsum_equation.hpp"

#include <algorithm>

namespace viridian::rewrite {
namespace {

constexpr std::string_view einsum_dots = "...";

bool is_einsum_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The term with `axes` digits instead of "...", if it has that.
std::string spelled_term(std::string term, std::size_t axes) {
    const std::size_t at = term.find(einsum_dots);
    if (at == std::string::npos) return term;
    std::string digits;
    while (axes-- > 0) digits += static_cast<char>('0' + axes);
    return term.replace(at, einsum_dots.size(), digits);
}

bool are_distinct(std::string letters) {
    std::sort(letters.begin(), letters.end());
    return std::adjacent_find(letters.begin(), letters.end()) == letters.end();
}

// Returns whether the term has distinct letters, and "..." once at most.
bool is_plain_term(std::string term) {
    if (const std::size_t at = term.find(einsum_dots); at != std::string::npos)
        term.erase(at, einsum_dots.size());
    return std::all_of(term.begin(), term.end(), is_einsum_letter) && are_distinct(term);
}

std::vector<std::string> comma_parts(const std::string& text) {
    std::vector<std::string> found(1);
    for (const char c : text)
        if (c == ',')
            found.emplace_back();
        else
            found.back() += c;
    return found;
}

// The letters of the product of terms `a` and `b`.
std::string product_letters(const EinsumEquation& equation, std::size_t a, std::size_t b) {
    const std::string kept = read_beside(equation, a, b);
    std::string letters;
    for (const char c : equation.terms[a] + equation.terms[b])
        if (has_letter(kept, c) && !has_letter(letters, c)) letters += c;
    return letters;
}

}  // namespace

std::optional<EinsumEquation> EinsumEquation::of(std::string text, const std::vector<Dims>& operands) {
    std::erase(text, ' ');
    const std::size_t arrow = text.find("->");
    EinsumEquation equation{comma_parts(text.substr(0, arrow)), {}};
    if (equation.terms.size() != operands.size()) return std::nullopt;
    std::size_t most = 0;
    std::string all;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        std::string& term = equation.terms[i];
        const std::size_t named =
            term.size() - (term.find(einsum_dots) != std::string::npos ? einsum_dots.size() : 0);
        if (!is_plain_term(term) || operands[i].size() < named) return std::nullopt;
        const std::size_t axes = operands[i].size() - named;
        term = spelled_term(term, axes);
        if (axes > 10 || term.size() != operands[i].size()) return std::nullopt;
        most = std::max(most, axes);
        all += term;
    }
    if (arrow != std::string::npos) {
        equation.output = text.substr(arrow + 2);
        if (!is_plain_term(equation.output)) return std::nullopt;
        equation.output = spelled_term(equation.output, most);
    } else {
        equation.output = spelled_term(std::string(einsum_dots), most);
        std::string letters = all;
        std::sort(letters.begin(), letters.end());
        for (const char c : letters)
            if (is_einsum_letter(c) && std::count(all.begin(), all.end(), c) == 1) equation.output += c;
    }
    if (!std::all_of(equation.output.begin(), equation.output.end(),
                     [&](char c) { return has_letter(all, c); }))
        return std::nullopt;
    return equation;
}

bool EinsumExtents::add(const std::string& term, const Dims& dims) {
    for (std::size_t i = 0; i < term.size(); ++i) {
        const auto [at, fresh] = known_.try_emplace(term[i], dims[i]);
        if (fresh || at->second == dims[i]) continue;
        if (is_einsum_letter(term[i]) || (at->second != 1 && dims[i] != 1)) return false;
        at->second = std::max(at->second, dims[i]);
    }
    return true;
}

Dims EinsumExtents::of(const std::string& letters) const {
    Dims dims;
    for (const char c : letters) dims.push_back(of(c));
    return dims;
}

std::int64_t EinsumExtents::product(const std::string& letters) const {
    std::int64_t all = 1;
    for (const char c : letters) all *= of(c);
    return all;
}

double EinsumExtents::size(const std::string& letters) const {
    double all = 1;
    for (const char c : letters) all *= static_cast<double>(of(c));
    return all;
}

std::string read_beside(const EinsumEquation& equation, std::size_t a, std::size_t b) {
    std::string kept = equation.output;
    for (std::size_t i = 0; i < equation.terms.size(); ++i)
        if (i != a && i != b) kept += equation.terms[i];
    return kept;
}

std::optional<std::vector<std::array<std::size_t, 2>>> einsum_pairs(const EinsumEquation& equation,
                                                                    const EinsumExtents& extents) {
    double most = extents.size(equation.output);
    for (const std::string& term : equation.terms) most = std::max(most, extents.size(term));
    std::vector<std::array<std::size_t, 2>> pairs;
    EinsumEquation left = equation;
    while (left.terms.size() > 1) {
        std::array<std::size_t, 2> best{0, 1};
        for (std::size_t a = 0; a < left.terms.size(); ++a)
            for (std::size_t b = a + 1; b < left.terms.size(); ++b)
                if (extents.size(product_letters(left, a, b)) <
                    extents.size(product_letters(left, best[0], best[1])))
                    best = {a, b};
        const std::string made = product_letters(left, best[0], best[1]);
        if (extents.size(made) > most) return std::nullopt;
        left.terms[best[0]] = made;
        left.terms.erase(left.terms.begin() + static_cast<std::ptrdiff_t>(best[1]));
        pairs.push_back(best);
    }
    return pairs;
}

}  // namespace viridian::rewrite
