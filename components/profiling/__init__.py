"""Where the time of a training goes on this machine, and what would change it."""
