"""Which rows each worker and replica trains on: all rows once, the same steps for all.

Collective training stops when one worker has no batch while another has: the second
waits for ever. So every worker gets the same number of elements here, whatever its
shards hold; a part without rows is an empty batch, and adds nothing to the gradient.
"""

from collections.abc import Callable, Sequence

import tensorflow as tf

from components.batch_scaling import part_of

# The batches of an epoch for the replicas of one worker, one element a replica.
WorkerBatches = Callable[[int, tf.distribute.InputContext], tf.data.Dataset]


def by_rows(read: Callable[[int], tf.data.Dataset]) -> WorkerBatches:
    """Each worker reads everything and keeps its replicas' parts of every batch.

    Batches, and so the training, do not depend on the number of workers.

    Args:
        read: batches of the number of an epoch; global ones.

    Returns:
        What the training loop reads.
    """

    def batches(epoch: int, context: tf.distribute.InputContext) -> tf.data.Dataset:
        return _parts(read(epoch), context.num_replicas_in_sync, _replicas(context))

    return batches


def by_files(
    files: Sequence[tuple[str, int]],
    batch_size: int,
    read: Callable[[int, list[str], int], tf.data.Dataset],
) -> WorkerBatches:
    """Each worker reads shards of its own.

    The cost of reading does not grow with the number of workers. The shards are dealt
    out so that workers have about equally many rows; one that runs out before the
    others goes on with empty batches.

    Args:
        files: each shard with its number of rows.
        batch_size: rows of a global batch.
        read: batches of an epoch from some shards, of some size; called only with
            shards that hold rows.

    Returns:
        What the training loop reads.
    """

    def batches(epoch: int, context: tf.distribute.InputContext) -> tf.data.Dataset:
        workers, total = context.num_input_pipelines, context.num_replicas_in_sync
        dealt = deal(files, workers)
        sizes = [_rows_of_worker(batch_size, one, workers) for one in range(workers)]
        steps = max(
            -(-sum(rows for _, rows in own) // size)
            for own, size in zip(dealt, sizes, strict=True)
        )
        worker = context.input_pipeline_id
        size = sizes[worker]
        own = [path for path, _ in dealt[worker]]
        # A worker without shards still needs the form of a batch.
        source = read(epoch, own or [files[0][0]], size)
        whole = source if own else source.take(0)
        local = total // workers
        return _parts(_lengthened(whole, steps), local, range(local))

    return batches


def deal(files: Sequence[tuple[str, int]], workers: int) -> list[list[tuple[str, int]]]:
    """Deals out shards, the largest first, each to the worker with fewest rows so far.

    Args:
        files: each shard with its number of rows.
        workers: how many.

    Returns:
        For each worker its shards with rows, in the order of their names. The largest
        total is at most 4/3 of the best possible one (Graham 1969).
    """
    dealt: list[list[tuple[str, int]]] = [[] for _ in range(workers)]
    for path, rows in sorted(files, key=lambda one: (-one[1], one[0])):
        if rows:
            min(dealt, key=lambda own: sum(one[1] for one in own)).append((path, rows))
    return [sorted(own) for own in dealt]


def _rows_of_worker(batch_size: int, worker: int, workers: int) -> int:
    """Rows of a worker's part of a global batch, at least one."""
    first, last = part_of(batch_size, worker, workers)
    return max(1, last - first)


def _replicas(context: tf.distribute.InputContext) -> range:
    """Numbers of the replicas of a worker."""
    local = context.num_replicas_in_sync // context.num_input_pipelines
    first = context.input_pipeline_id * local
    return range(first, first + local)


def _parts(batches: tf.data.Dataset, replicas: int, own: range) -> tf.data.Dataset:
    """The parts of some replicas of each batch, one element each."""
    if replicas == 1:
        return batches

    def part(replica: tf.Tensor, batch: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, ...]:
        rows = tf.shape(tf.nest.flatten(batch)[0], tf.int64)[0]
        first, last = part_of(rows, replica, replicas)
        return tf.nest.map_structure(lambda values: values[first:last], batch)

    def of_batch(*batch: tf.Tensor) -> tf.data.Dataset:
        return tf.data.Dataset.range(own.start, own.stop).map(
            lambda replica: part(replica, batch)
        )

    return batches.flat_map(of_batch).prefetch(2 * len(own))


def _lengthened(batches: tf.data.Dataset, steps: int) -> tf.data.Dataset:
    """The batches, then empty ones up to a number of steps."""
    empty = tf.nest.map_structure(
        lambda spec: tf.zeros([0, *spec.shape[1:]], spec.dtype), batches.element_spec
    )
    return batches.concatenate(tf.data.Dataset.from_tensors(empty).repeat()).take(steps)
