"""Declared features, click logs and sharded records; knows nothing of TFX or Beam."""
