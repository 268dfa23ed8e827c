"""Click metrics: pure numpy accumulators, and their wrapper for TFMA."""
