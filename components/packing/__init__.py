"""Packing: the saved transform applied to the shards, written as packed blocks."""
