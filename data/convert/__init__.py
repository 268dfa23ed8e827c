"""Columns as a log holds them to the typed columns of the shards."""
