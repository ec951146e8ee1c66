#include "viridian/pipeline/exact/residual.hpp"

#include <array>

namespace viridian::pipeline {
namespace {

struct Link {
    std::int32_t tail, head;
    Nanoseconds length;
};

std::int64_t capacity(const Curve& curve, std::int32_t piece) {
    const auto j = static_cast<std::size_t>(piece);
    if (j >= curve.slope.size()) return Residual::unlimited;
    return curve.slope[j] - (j > 0 ? curve.slope[j - 1] : 0);
}

}  // namespace

bool Residual::fits(const Network& network) {
    Int128 sum = 0;
    for (int u = 0; u < network.size(); ++u)
        if (const Curve& curve = network.curve(u); !curve.slope.empty()) sum += curve.slope.back();
    return sum < unlimited;
}

Residual::Residual(const Network& network) : network_(network), units_(network.size()) {
    const std::size_t n = at(units_);
    piece_.resize(n);
    for (auto* arcs : {&rank_, &data_, &source_, &sink_}) arcs->assign(n, -1);
    std::vector<std::uint8_t> followed(n, 0);
    std::vector<Link> links;
    std::vector<std::int32_t*> places;  // where a link's number is noted
    const auto link = [&](int tail, int head, Nanoseconds length, std::int32_t* place) {
        links.push_back({tail, head, length});
        places.push_back(place);
    };
    for (int u = 0; u < units_; ++u) link(2 * u, 2 * u + 1, 0, nullptr);
    for (int u = 0; u < units_; ++u) {
        const std::int32_t needed = network.dependency[at(u)], before = network.before(u);
        if (needed >= 0)
            link(2 * needed + 1, 2 * u, network.delay[at(u)], &data_[at(u)]), followed[at(needed)] = 1;
        if (before >= 0) followed[at(before)] = 1;
        if (before >= 0 && before != needed) link(2 * before + 1, 2 * u, 0, &rank_[at(u)]);
        if (before < 0 && needed < 0) link(source(), 2 * u, 0, &source_[at(u)]);
    }
    for (int u = 0; u < units_; ++u)
        if (followed[at(u)] == 0) link(2 * u + 1, sink(), 0, &sink_[at(u)]);

    first_.assign(at(nodes()) + 1, 0);
    for (const Link& l : links) ++first_[at(l.tail) + 1], ++first_[at(l.head) + 1];
    for (std::size_t v = 1; v < first_.size(); ++v) first_[v] += first_[v - 1];
    std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
    arcs_.resize(2 * links.size());
    for (std::size_t i = 0; i < links.size(); ++i) {
        const Link& l = links[i];
        const std::int32_t forward = next[at(l.tail)]++, backward = next[at(l.head)]++;
        arcs_[at(forward)] = {l.length, unlimited, l.head, backward};
        arcs_[at(backward)] = {-l.length, 0, l.tail, forward};
        if (places[i] != nullptr) *places[i] = forward;
    }
    for (int u = 0; u < units_; ++u) refresh(u);
}

// A unit's own arc is the first of its start node: it was linked first.
void Residual::refresh(int unit) {
    const Curve& curve = network_.curve(unit);
    const Piece& piece = piece_[at(unit)];
    Arc& forward = arcs_[at(begin(2 * unit))];
    Arc& backward = arcs_[at(forward.mate)];
    const std::int64_t whole = capacity(curve, piece.index);
    forward.length = curve.duration[at(piece.index)];
    forward.room = whole == unlimited ? unlimited : whole - piece.amount;
    if (piece.amount > 0 || piece.index == 0) {
        backward.length = -forward.length;
        backward.room = piece.amount;
    } else {
        backward.length = -curve.duration[at(piece.index - 1)];
        backward.room = capacity(curve, piece.index - 1);
    }
}

bool Residual::push(int a, std::int64_t amount) {
    Arc& along = arcs_[at(a)];
    Arc& back = arcs_[at(along.mate)];
    const bool closes = along.room == amount;
    const std::int32_t from = back.to;
    if ((from ^ along.to) != 1 || from >= source()) {  // no unit's own arc
        if (along.room != unlimited) along.room -= amount;
        if (back.room != unlimited) back.room += amount;
        return closes;
    }
    const int unit = from >> 1;
    Piece& piece = piece_[at(unit)];
    if ((from & 1) == 0) {
        piece.amount += amount;
        if (closes) piece = {piece.index + 1, 0};
    } else {
        if (piece.amount == 0) --piece.index;
        piece.amount = along.room - amount;
    }
    refresh(unit);
    return closes;
}

std::int64_t Residual::through(int unit) const {
    const Piece& piece = piece_[at(unit)];
    const Curve& curve = network_.curve(unit);
    return piece.amount + (piece.index > 0 ? curve.slope[at(piece.index - 1)] : 0);
}

}  // namespace viridian::pipeline
