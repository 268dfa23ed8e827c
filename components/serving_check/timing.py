"""Latency of a signature, one request after the other on one thread of a client."""

import itertools
import time
from collections.abc import Sequence

import numpy as np

from components.serving_check.signature import Signature

BATCH_SIZES = (1, 64)
WARM_UP = 20
# Enough for a 99th percentile that is more than the slowest call.
CALLS = 300
# A slow model is measured by fewer calls.
MAX_SECONDS = 10.0
# Different rows, so that no cache holds one answer.
_BATCHES = 50


def latency(
    signature: Signature, rows: Sequence[bytes], batch_size: int
) -> dict[str, float]:
    """Measures calls with tensors that are ready, as a server has them.

    Args:
        signature: the signature.
        rows: serialized tf.Examples; repeated where they are too few.
        batch_size: rows of a request.

    Returns:
        ``p50_ms``, ``p95_ms``, ``p99_ms``, ``examples_per_second`` and ``calls``.
    """
    endless = itertools.cycle(rows)
    feeds = [
        signature.feed(list(itertools.islice(endless, batch_size)))
        for _ in range(_BATCHES)
    ]
    for feed in feeds[:WARM_UP]:
        signature.call(feed)
    seconds: list[float] = []
    for feed in itertools.islice(itertools.cycle(feeds), CALLS):
        start = time.perf_counter()
        signature.call(feed)
        seconds.append(time.perf_counter() - start)
        if sum(seconds) > MAX_SECONDS:
            break
    p50, p95, p99 = np.percentile(seconds, [50, 95, 99]) * 1000
    return {
        "p50_ms": float(p50),
        "p95_ms": float(p95),
        "p99_ms": float(p99),
        "examples_per_second": batch_size * len(seconds) / sum(seconds),
        "calls": len(seconds),
    }
