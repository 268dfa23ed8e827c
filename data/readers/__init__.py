"""Readers of click logs: any supported format to batches of columns with their places."""
