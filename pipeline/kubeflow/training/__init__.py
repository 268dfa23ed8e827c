"""A training as a job of several pods, which the Trainer step starts and waits for."""
