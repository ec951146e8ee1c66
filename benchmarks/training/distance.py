"""How far gradients are from those of another program."""
import numpy


def worst(found, wanted, least=1e-3, zero=0.0):
    """(the largest relative L2 distance of a gradient, its name); both are arrays by name. A gradient that is zero except for
    rounding, such as that of a bias before a normalisation, is measured against the others: its root mean square counts as at
    least `least` times their median, and as the median itself if it is less than `zero` times it."""
    typical = numpy.median([numpy.linalg.norm(value) / value.size ** 0.5 for value in wanted.values()])
    largest, place = 0.0, ""
    for name, value in wanted.items():
        value = value.astype(numpy.float64)
        median = typical * value.size ** 0.5
        size = numpy.linalg.norm(value)
        size = median if size < zero * median else max(size, least * median)
        error = numpy.linalg.norm(found[name].astype(numpy.float64) - value) / size if name in found else 0.0
        if not error <= largest:
            largest, place = float(error), name
    return largest, place
