"""Runnable comparisons. They are measurements, not tests."""
