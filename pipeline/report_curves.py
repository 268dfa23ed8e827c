"""Training curves, read from TensorBoard's event files."""

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util

# More points than a chart has pixels only make the page heavy.
MOST_POINTS = 500


def read_curves(folder: str) -> dict[str, dict[str, list[float]]]:
    """Reads every scalar under a folder.

    Args:
        folder: the Trainer's ``model_run`` artifact; event files may lie in folders
            below, whose path then leads the tag.

    Returns:
        Tag -> ``steps`` and ``values``, thinned evenly to at most ``MOST_POINTS`` + 1
        points, the last one kept.
    """
    curves = {}
    base = Path(folder)
    for place in sorted({path.parent for path in base.rglob("events.out.tfevents*")}):
        # 0 keeps every value; the default keeps ten tensors a tag.
        events = EventAccumulator(str(place), size_guidance={"tensors": 0})
        events.Reload()
        for tag in events.Tags()["tensors"]:
            found = events.Tensors(tag)
            kept = found[:: -(-len(found) // MOST_POINTS)]
            if kept[-1] is not found[-1]:
                kept.append(found[-1])
            values = [tensor_util.make_ndarray(event.tensor_proto) for event in kept]
            if all(value.size == 1 for value in values):
                name = (place.relative_to(base) / tag).as_posix()
                curves[name] = {
                    "steps": [float(event.step) for event in kept],
                    "values": [float(value) for value in values],
                }
    return curves
