"""Whether an exported model can be served: replayed in a process of its own."""
