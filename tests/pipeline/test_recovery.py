"""What a killed run left is cleaned up before the next one."""

from pathlib import Path

import pytest

from data.errors import DataError

pytestmark = pytest.mark.engine


def history(database: Path, states: list[str]) -> list[int]:
    """A database with one execution of node ``Trainer`` for each state."""
    from ml_metadata.proto import metadata_store_pb2 as pb

    from pipeline.metadata_store import open_store

    store = open_store(database)
    kind = store.put_execution_type(pb.ExecutionType(name="tfx.Trainer"))
    node = store.put_context_type(pb.ContextType(name="node"))
    (context,) = store.put_contexts([pb.Context(type_id=node, name="small.Trainer")])
    executions = store.put_executions(
        [
            pb.Execution(type_id=kind, last_known_state=pb.Execution.State.Value(state))
            for state in states
        ]
    )
    store.put_attributions_and_associations(
        [], [pb.Association(context_id=context, execution_id=id) for id in executions]
    )
    return list(executions)


def output(artifacts: Path, below: str) -> Path:
    folder = artifacts / "Trainer" / below
    folder.mkdir(parents=True)
    (folder / "part").write_bytes(b"half")
    return folder


def states(database: Path) -> list[str]:
    from ml_metadata.proto import metadata_store_pb2 as pb

    from pipeline.metadata_store import open_store

    return [
        pb.Execution.State.Name(one.last_known_state)
        for one in sorted(open_store(database).get_executions(), key=lambda e: e.id)
    ]


def test_only_what_the_killed_execution_wrote_is_removed(tmp_path: Path) -> None:
    from pipeline.recovery import recover

    database, artifacts = tmp_path / "metadata.db", tmp_path / "artifacts"
    done, killed = history(database, ["COMPLETE", "RUNNING"])
    kept = output(artifacts, f"model/{done}")
    gone = [
        output(artifacts, f"model/{killed}"),
        output(artifacts, f"model_run/{killed}"),
        output(artifacts, f".system/executor_execution/{killed}"),
    ]
    assert recover(database, artifacts) == ["Trainer"]
    assert states(database) == ["COMPLETE", "FAILED"]
    assert (kept / "part").exists()
    assert not any(folder.exists() for folder in gone)


def test_recovering_twice_finds_nothing_the_second_time(tmp_path: Path) -> None:
    from pipeline.recovery import recover

    database = tmp_path / "metadata.db"
    history(database, ["NEW", "RUNNING", "FAILED"])
    assert len(recover(database, tmp_path / "artifacts")) == 2
    assert recover(database, tmp_path / "artifacts") == []
    assert states(database) == ["FAILED"] * 3


def test_a_first_run_has_nothing_to_recover(tmp_path: Path) -> None:
    from pipeline.recovery import recover

    assert recover(tmp_path / "metadata.db", tmp_path / "artifacts") == []
    assert list(tmp_path.iterdir()) == []


def damaged(database: Path) -> bytes:
    """A database whose pages after the first are overwritten."""
    history(database, ["COMPLETE"])
    content = bytearray(database.read_bytes())
    content[4096 : 4096 * 12] = b"\x5a" * (4096 * 11)
    database.write_bytes(content)
    return bytes(content)


@pytest.mark.parametrize("kind", ["pages", "text", "cut"])
def test_a_damaged_database_is_named_and_not_touched(tmp_path: Path, kind: str) -> None:
    from pipeline.recovery import recover

    database = tmp_path / "metadata.db"
    content = damaged(database)
    if kind != "pages":
        content = b"no database at all\n" * 300 if kind == "text" else content[:9000]
        database.write_bytes(content)
    with pytest.raises(DataError, match="cannot be read") as raised:
        recover(database, tmp_path / "artifacts")
    assert "\n" not in str(raised.value)
    assert "restore it from a backup" in str(raised.value)
    assert database.read_bytes() == content


def test_an_empty_database_beside_artifacts_is_a_fault(tmp_path: Path) -> None:
    from pipeline.recovery import recover

    database, artifacts = tmp_path / "metadata.db", tmp_path / "artifacts"
    database.touch()
    # A run that was killed at its very start leaves just that.
    assert recover(database, artifacts) == []
    output(artifacts, "model/1")
    with pytest.raises(DataError, match=r"empty, though .* holds artifacts"):
        recover(database, artifacts)
    assert database.stat().st_size == 0
