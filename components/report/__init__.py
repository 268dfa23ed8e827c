"""The review of a trained model, as one HTML page and as a model card."""
