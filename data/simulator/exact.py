"""Random numbers and functions whose bits do not depend on the machine.

IEEE 754 fixes the result of ``+ - * /`` and the square root to the last bit, and of
nothing else: ``numpy.exp`` differs between processors with and without AVX-512, and
``numpy.sum`` may add in another order. So everything here is made of those operations,
of ``cumsum``, which adds in order, and of uniform numbers from a counter-based generator.

References:
    J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (Philox).
"""

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# ln 2 in two pieces: the first has trailing zero bits, so its multiples are exact.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_INVERSE_LN2 = 1.44269504088896338700
# Taylor's series up to degree 13 is exact to 2^-53 for |x| <= ln 2 / 2.
_COEFFICIENTS = [1.0 / math.factorial(degree) for degree in range(13, -1, -1)]


def stream(seed: int, *path: int) -> np.random.Generator:
    """A generator of its own for each part of the simulation.

    Args:
        seed: seed of the whole simulation.
        *path: numbers that name the part.

    Returns:
        A generator; draw from it with ``random`` only, which no release has changed.
    """
    # A path of its own, since the list [0] seeds like [0, 0].
    sequence = np.random.SeedSequence(seed, spawn_key=path)
    return np.random.Generator(np.random.Philox(sequence))


def exp(values: Floats) -> Floats:
    """The exponential function, the same to the last bit everywhere.

    Args:
        values: numbers below 709 and above -10,000, any shape; below -745 gives 0.

    Returns:
        Values of the same shape, with a relative error below 1e-15.
    """
    powers = np.rint(values * _INVERSE_LN2)
    rest = (values - powers * _LN2_HIGH) - powers * _LN2_LOW
    result = np.full_like(rest, _COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        result *= rest
        result += coefficient
    scaled: Floats = np.ldexp(result, powers.astype(np.int32))
    return scaled


def sigmoid(values: Floats) -> Floats:
    """``1 / (1 + exp(-x))`` for each value x, of which |x| < 700."""
    result: Floats = 1.0 / (1.0 + exp(-values))
    return result


def normal(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Nearly normal numbers: twelve uniform ones added, less six.

    Mean 0, standard deviation 1, tails that end at 6; ``standard_normal`` would take
    logarithms.

    Args:
        random: where to draw from.
        shape: shape of the result.

    Returns:
        The numbers.
    """
    result = random.random(shape) - 6.0
    for _ in range(11):
        result += random.random(shape)
    return result


def total(values: Floats) -> float:
    """Sum in order of position, whatever the machine."""
    return float(np.cumsum(values)[-1])


def mean(values: Floats) -> float:
    """Arithmetic mean of at least one value."""
    return total(values) / len(values)


def std(values: Floats) -> float:
    """Standard deviation (of the values, not of a population behind them)."""
    return math.sqrt(mean(np.square(values - mean(values))))


def choose(random: np.random.Generator, weights: Floats, count: int) -> Integers:
    """Draws positions with replacement.

    Args:
        random: where to draw from.
        weights: one a position, >= 0, not all 0; they need not add up to 1.
        count: how many draws.

    Returns:
        [count] positions, each with a probability proportional to its weight.
    """
    borders = np.cumsum(weights)
    points = random.random(count) * borders[-1]
    positions = np.searchsorted(borders, points, side="right")
    # Rounding can put a point on the last border.
    last = int(np.flatnonzero(weights)[-1])
    return np.minimum(positions, last).astype(np.int64)
