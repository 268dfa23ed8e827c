"""Three ways to reach files: the local disk, TensorFlow, and S3 through Arrow."""
