"""Settings of packing."""

from typing import Literal

import pydantic

from data.settings import Settings


class PackingConfig(Settings):
    """How the transformed rows are stored for training."""

    # Disk and network are mostly scarcer than the processor: a packed row is small in
    # either form, but there are many.
    compression: Literal["gzip", "none"] = pydantic.Field(
        "gzip",
        description=(
            "Of the packed shards; without it they are larger by half and more, and "
            "reading them costs about a third."
        ),
    )
