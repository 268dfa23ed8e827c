"""Which devices train: the distribution strategy that the configuration names."""

from typing import Any

import tensorflow as tf

from data.errors import RunError, suggest

STRATEGIES = ("default", "mirrored")


def make_strategy(name: str, devices: tuple[str, ...] | None = None) -> Any:
    """Makes the strategy; model and optimizer must be made under its ``scope()``.

    Accelerator memory is taken as needed instead of all at once, so that several
    processes (an evaluation beside a training) can share a device.

    Args:
        name: ``default`` (one device) or ``mirrored`` (all accelerators of this
            machine, or its only device where there is none).
        devices: for ``mirrored``, devices to use instead, such as
            ``("CPU:0", "CPU:1")``.

    Returns:
        A ``tf.distribute.Strategy``.

    Raises:
        RunError: the name is unknown.
    """
    if name not in STRATEGIES:
        raise RunError(
            f"train.strategy: unknown strategy '{name}'. Known: "
            f"{', '.join(STRATEGIES)}.{suggest(name, STRATEGIES)}"
        )
    _grow_memory()
    if name == "default":
        return tf.distribute.get_strategy()
    if devices is None:
        return tf.distribute.MirroredStrategy()
    return tf.distribute.MirroredStrategy(
        devices=list(devices),
        cross_device_ops=tf.distribute.ReductionToOneDevice(),
    )


def _grow_memory() -> None:
    """Lets accelerators take memory step by step, where this can still be set."""
    for device in tf.config.list_physical_devices("GPU"):
        try:
            tf.config.experimental.set_memory_growth(device, True)
        except RuntimeError:
            # The device is already in use by this process; its setting stands.
            return
