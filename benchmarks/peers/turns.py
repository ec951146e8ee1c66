"""In which order systems take turns, and what is told of their times. Needs nothing but Python."""
import math
import statistics


def orders(count):
    """Orders of `count` systems for successive rounds, by Williams (1949): over `count` rounds (twice as many if `count`
    is odd) each system has each place equally often, and follows each other system equally often, so that what one
    leaves in the caches, or a thread of it that still spins, meets all others alike."""
    zigzag = [(k // 2 + 1) if k % 2 else (count - k // 2) % count for k in range(count)]
    rows = [[(place + shift) % count for place in zigzag] for shift in range(count)]
    if count % 2:
        rows += [row[::-1] for row in rows]
    return rows


def percentile(times, share):
    """The smallest time that at least `share` of the times do not exceed."""
    ordered = sorted(times)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def ratio_of_rounds(times, others):
    """Median, least and largest ratio of the medians of `times` by those of `others`, round by round."""
    ratios = [statistics.median(turn) / statistics.median(other) for turn, other in zip(times, others, strict=True)]
    return statistics.median(ratios), min(ratios), max(ratios)


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))
