"""What TFX calls: example generation, transform, training, evaluation and pushing."""
