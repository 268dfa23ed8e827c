"""Who hears of components as they start and end."""

from typing import Protocol

from pipeline.usage import Usage


class Observer(Protocol):
    """Hears of each component of a run."""

    def started(self, component: str) -> None:
        """A component begins."""

    def ended(self, component: str, usage: Usage, failed: bool) -> None:
        """A component ended, well or not."""

    def note(self, text: str) -> None:
        """Something that whoever waits should know."""


class Silent:
    """An observer that does nothing."""

    def started(self, component: str) -> None:
        """Does nothing."""

    def ended(self, component: str, usage: Usage, failed: bool) -> None:
        """Does nothing."""

    def note(self, text: str) -> None:
        """Does nothing."""
