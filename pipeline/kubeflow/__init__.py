"""The pipeline on a cluster: compiling it, checking specs, and what containers run."""
