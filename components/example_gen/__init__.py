"""Click logs to verified shards: the Beam pipeline and its TFX component."""
