"""Single-device Keras networks and the layers, losses and optimizers that they use."""
