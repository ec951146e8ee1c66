"""When a counter was renewed, from the readings between which its value was seen to change: renewals come in a beat, and a
reader that came late still shows the last of them."""
import statistics


def line(counts, times):
    """(period, phase) of least squares."""
    n, mean_count, mean_time = len(counts), statistics.fmean(counts), statistics.fmean(times)
    spread = sum((k - mean_count) ** 2 for k in counts)
    if n < 10 or spread == 0.0:
        return None
    period = sum((k - mean_count) * (t - mean_time) for k, t in zip(counts, times)) / spread
    return period, mean_time - period * mean_count


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def counted(middles, sharp, period):
    """How many periods after the first change each of the others came; the sharp ones lead."""
    counts, anchor, k = [0], middles[0], 0
    for middle, is_sharp in zip(middles[1:], sharp[1:]):
        steps = max(1, round((middle - anchor) / period))
        counts.append(k + steps)
        if is_sharp:
            expected = anchor + steps * period
            k, anchor = counts[-1], expected + 0.3 * (middle - expected)
    return counts


def renewed(brackets):
    """[(last time with the old value, first time with the new)], nanoseconds -> (times, period). Where there is no beat that
    nearly all of them allow the period is None and the times are the brackets' middles, or late in them where they are wide."""
    middles = [0.5 * (low + high) for low, high in brackets]
    if len(brackets) < 30:
        return [round(one) for one in middles], None
    half = 0.5 * statistics.median(after - before for before, after in zip(middles, middles[1:]))
    plain = [round(max(middle, high - half)) for middle, (_, high) in zip(middles, brackets)]
    if half <= 0:
        return plain, None
    zero = brackets[0][0]
    low, high = ([one[side] - zero for one in brackets] for side in (0, 1))
    near = [one - zero for one in middles]
    period = statistics.median(after - before for before, after in zip(near, near[1:]))
    widest = max(0.4 * period, 1.5 * statistics.median(b - a for a, b in zip(low, high)))
    sharp = [b - a <= widest for a, b in zip(low, high)]
    found = None
    for _ in range(3):
        counts = counted(near, sharp, period)
        found = line([k for k, good in zip(counts, sharp) if good], [t for t, good in zip(near, sharp) if good])
        if found is None or not 0.5 * period < found[0] < 2.0 * period:
            return plain, None
        period = found[0]
    # Where in its bracket a renewal lies may drift slowly: the phase that all brackets allow is sharper than their mean.
    least = quantile([a - period * k for a, k, good in zip(low, counts, sharp) if good], 0.98)
    most = quantile([b - period * k for b, k, good in zip(high, counts, sharp) if good], 0.02)
    phase, slack = 0.5 * (least + most), 0.02 * period
    times, allowed = [], 0
    for a, b, middle in zip(low, high, near):
        at = phase + period * ((b + slack - phase) // period)
        allowed += a - slack <= at <= b + slack
        times.append(zero + round(min(max(at, a), b) if a - slack <= at else middle))
    if allowed < 0.97 * len(times):
        return plain, None
    return times, period
