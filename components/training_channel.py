"""Where a training says how it stands, a line at a time; imports nothing slow."""

import logging


class _Channel(logging.Logger):
    """A logger that ``logging.disable`` leaves alone, by which commands mute libraries."""

    def isEnabledFor(self, level: int) -> bool:
        """Whether this level passes: by this logger's own level only."""
        return level >= self.getEffectiveLevel()


# A command that shows the lines sets its level and adds a handler.
CHANNEL = _Channel("ctr.training")
CHANNEL.parent = logging.getLogger("ctr")
