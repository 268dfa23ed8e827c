"""Whether a graph is compiled for a device that must know all shapes beforehand."""

import tensorflow as tf


def needs_static_shapes() -> bool:
    """True under a ``TPUStrategy``: XLA compiles neither ``tf.where`` nor ``tf.unique``.

    Tables are read with their padding there, and updated as a whole.
    """
    return isinstance(tf.distribute.get_strategy(), tf.distribute.TPUStrategy)
