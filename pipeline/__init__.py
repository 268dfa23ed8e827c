"""The whole pipeline: its configuration, its runners, its history and its CLI."""
