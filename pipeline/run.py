"""One local run: prepares the input, runs the DAG, gathers what came out of it."""

import hashlib
from pathlib import Path
from typing import Any

from components.baseline_columns import check_baseline
from components.object_store import register
from components.reference_model import saved_model_path
from components.row_batches import batch_by_size
from components.withdrawals import withdrawn_models
from data.columns import shard_columns
from data.errors import CtrError, UsageError
from data.simulator.config import SimulatorConfig
from pipeline import local_runner, summary
from pipeline.blessings import follow_withdrawals, latest_blessed
from pipeline.config import PipelineConfig
from pipeline.history import History
from pipeline.observer import Observer
from pipeline.pipeline import Locations, create_pipeline
from pipeline.recovery import recover
from pipeline.root_folder import root_flag
from pipeline.run_lock import run_lock
from pipeline.usage import Usage, measured


def run(
    config: PipelineConfig,
    input_base: str | None,
    root: Path,
    observer: Observer,
    *,
    wait: bool = False,
) -> dict[str, Any]:
    """Runs the pipeline once and writes its summary.

    Args:
        config: the configuration.
        input_base: folder or file of the log; by the configuration when None.
        root: folder of all pipelines.
        observer: hears of each component.
        wait: wait for another run under this root instead of refusing.

    Returns:
        The summary, as ``reports/<run>.json`` holds it.

    Raises:
        UsageError: there is no input, or another run is at work under this root.
        ConfigError: there is no reference model, or no such metric of TFMA.
        CtrError: a component failed; the summary of the failed run is written, if
            there is room.
    """
    if input_base:
        check_exists(input_base)
    if config.evaluate.reference is not None:
        saved_model_path(config.evaluate.reference)
    folders = _folders(config, root)
    with run_lock(folders.base, wait=wait, told=observer.note):
        killed = recover(folders.metadata, folders.artifacts)
        if killed:
            observer.note(
                f"an earlier run was killed in {', '.join(killed)}; cleaned up"
            )
        follow_withdrawals(folders.metadata, withdrawn_models(str(folders.serving)))
        baseline = latest_blessed(folders.metadata)
        if baseline is not None and config.evaluate.baseline:
            # The Evaluator checks that too, but only when the training is paid for.
            columns = {one.name: one.dtype for one in shard_columns(config.data)}
            check_baseline(baseline, columns)
        return _run(config, input_base, root, observer)


def _run(
    config: PipelineConfig,
    input_base: str | None,
    root: Path,
    observer: Observer,
) -> dict[str, Any]:
    """Runs the pipeline in a folder that it has for itself."""
    folders = _folders(config, root)
    base = input_base or config.input or simulated(config, folders.base, observer)
    recorder = Recorder(observer)
    runner = local_runner.MeasuredDagRunner(recorder)
    locations = Locations(
        input_base=base,
        pipeline_root=str(folders.artifacts),
        serving=str(folders.serving),
        metadata=local_runner.sqlite_connection(folders.metadata),
        checkpoints=str(folders.checkpoints),
    )
    register()
    batch_by_size()
    pipeline = create_pipeline(config, locations, local_runner.LOCAL_BEAM_ARGS)
    failure: CtrError | None = None
    try:
        runner.run(pipeline)
    except CtrError as error:
        failure = error
    try:
        result = summary.summarize(
            config, base, runner.run_id, History(folders.metadata), recorder.components
        )
        result["error"] = str(failure) if failure else None
        summary.write(folders.reports, result)
        if failure:
            command = f"ctr report --run {runner.run_id}{root_flag(root)}"
            observer.note(f"summary: {result['file']}; `{command}` makes a page of it")
    except Exception as error:
        # A full disk stops the summary, too; what stopped the run is the news.
        if failure is None:
            raise
        observer.note(f"no summary of this run: {local_runner.reason(error)}")
    if failure:
        raise failure
    return result


def _folders(config: PipelineConfig, root: Path) -> local_runner.Folders:
    """Where the pipeline lives under a root."""
    return local_runner.Folders((root / config.name).resolve())


def check_exists(input_base: str) -> None:
    """Refuses a local path that is not there, before anything runs or is recorded."""
    is_pattern = any(mark in input_base for mark in "*?[{")
    if "://" not in input_base and not is_pattern and not Path(input_base).exists():
        raise UsageError(f"--input {input_base}: no such file or folder")


class Recorder:
    """Passes events on to an observer and keeps what each component cost."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self.components: list[dict[str, Any]] = []

    def started(self, component: str) -> None:
        """A component begins."""
        self._observer.started(component)

    def ended(self, component: str, usage: Usage, failed: bool) -> None:
        """A component ended."""
        self.components.append(
            {
                "component": component,
                "state": "failed" if failed else "complete",
                "wall_seconds": round(usage.wall_seconds, 3),
                "cpu_seconds": round(usage.cpu_seconds, 3),
                "peak_bytes": usage.peak_bytes,
                "rows": None,
            }
        )
        self._observer.ended(component, usage, failed)

    def note(self, text: str) -> None:
        """Passes on what should be known."""
        self._observer.note(text)


def simulated(config: PipelineConfig, base: Path, observer: Observer) -> str:
    """The simulated log of a configuration, made once for each setting of it."""
    if config.simulate is None:
        raise UsageError(
            f"{config.name}: no input; pass --input PATH or set `input:` in the file"
        )
    target = base / "input" / _digest(config.simulate)
    if not target.exists():
        from data.simulator.writing import write_log

        observer.started("simulate")
        with measured() as usage:
            write_log(config.simulate, target, "parquet")
        observer.ended("simulate", usage, failed=False)
    return str(target)


def _digest(config: SimulatorConfig) -> str:
    """Short stable name of the simulator's settings."""
    return hashlib.sha256(config.model_dump_json().encode()).hexdigest()[:12]
