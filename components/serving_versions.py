"""The folder of pushed versions: its order, and the way back to an earlier one.

A model server takes the highest version. So a roll-back adds a version: a copy of an
earlier one under a number above all. Nothing is removed, the server swaps as it does
after any push, and a file beside the versions tells which models were withdrawn.
"""

import contextlib
import posixpath
from dataclasses import dataclass

from components.pusher import LOADABLE_BY, is_version, next_version, push
from components.withdrawals import (
    set_withdrawn,
    tree_digest,
    withdraw,
    withdrawn_models,
)
from data import paths
from data.errors import UsageError, suggest


@dataclass(frozen=True, kw_only=True)
class Version:
    """One pushed version.

    Attributes:
        number: name of its folder.
        digest: SHA-256 over names and bytes of its files: two versions with the same
            one are the same model.
        withdrawn: whether a roll-back went away from this model.
    """

    number: int
    digest: str
    withdrawn: bool


def versions(base: str) -> list[Version]:
    """Reads the versions of a serving folder.

    Args:
        base: the folder.

    Returns:
        Versions, the oldest first; the last is the one that is served.

    Raises:
        UsageError: there are none.
        DataError: the list of withdrawn models cannot be read.
    """
    # In a store the last file of a push is this one: without it a version is none yet.
    numbers = sorted(
        int(name)
        for name in paths.children(base)
        if is_version(name) and paths.exists(f"{base}/{name}/{LOADABLE_BY}")
    )
    if not numbers:
        raise UsageError(
            f"{base}: no pushed versions here; push one, or check the path"
        )
    withdrawn = withdrawn_models(base)
    return [
        Version(number=number, digest=digest, withdrawn=digest in withdrawn)
        for number in numbers
        for digest in [tree_digest(f"{base}/{number}")]
    ]


def roll_back(
    base: str,
    now: int,
    to: int | None = None,
) -> tuple[Version, Version]:
    """Serves an earlier model again.

    The push is the last step, so that a roll-back that was killed can be called again
    and does the same. One that fails withdraws nothing, if the disk takes that.

    Args:
        base: the serving folder.
        now: unix seconds, the new version's number if it is above all others.
        to: version to go back to; the newest one with another model that was never
            withdrawn when None.

    Returns:
        The version whose model was withdrawn, and the new one.

    Raises:
        UsageError: there is no such version, or none to go back to.
        DataError: the list of withdrawn models cannot be read.
        RunError: there is no number above the served version.
        OSError: a file cannot be read or written.
    """
    found = versions(base)
    served = found[-1]
    target = _target(base, found, to)
    next_version(base, now)  # refuses before the list is touched
    before = withdrawn_models(base)
    withdraw(base, served.digest, in_favour_of=target.digest)
    try:
        pushed = push(f"{base}/{target.number}", base, now)
    except BaseException:
        with contextlib.suppress(OSError):  # what made the push fail is the news
            set_withdrawn(base, before)
        raise
    number = int(posixpath.basename(pushed))
    return served, Version(number=number, digest=target.digest, withdrawn=False)


def _target(base: str, found: list[Version], to: int | None) -> Version:
    """The version to go back to."""
    served = found[-1]
    if to is None:
        earlier = [
            one for one in found if one.digest != served.digest and not one.withdrawn
        ]
        if not earlier:
            raise UsageError(
                f"{base}: no earlier model to go back to; name one with --to, or push "
                "another model"
            )
        return earlier[-1]
    by_number = {one.number: one for one in found}
    if to not in by_number:
        names = [str(one.number) for one in found]
        raise UsageError(
            f"--to {to}: no such version in {base}. Known: {', '.join(names)}."
            f"{suggest(str(to), names)}"
        )
    if by_number[to].digest == served.digest:
        raise UsageError(
            f"--to {to}: version {served.number}, which is served, is the same model; "
            "name another"
        )
    return by_number[to]
