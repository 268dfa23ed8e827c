"""Checks of the rows before a model learns from them, and the gate they make."""
