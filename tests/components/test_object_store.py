"""TFX reads and writes S3 through its own calls (``tfx.dsl.io.fileio``)."""

import uuid

import pytest

from tests.object_store import BUCKET, s3_server

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def bucket():
    from components.object_store import register

    with s3_server():
        register()
        yield f"s3://{BUCKET}"


@pytest.fixture
def logs(bucket):
    """A dated log: two days, one of them with a folder more."""
    from tfx.dsl.io import fileio

    base = f"{bucket}/{uuid.uuid4().hex}"
    for name in ("day=1/a.csv", "day=2/a.csv", "day=2/b.csv", "day=2/old/c.csv"):
        with fileio.open(f"{base}/{name}", "w") as file:
            file.write(f"click\n{name}\n")
    return base


def test_text_and_bytes_come_back(logs):
    from tfx.dsl.io import fileio

    with fileio.open(f"{logs}/day=1/a.csv", "r") as file:
        assert file.read() == "click\nday=1/a.csv\n"
    with fileio.open(f"{logs}/day=1/a.csv", "rb") as file:
        assert file.read() == b"click\nday=1/a.csv\n"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("day=2/*", ["day=2/a.csv", "day=2/b.csv", "day=2/old"]),
        ("day=*/a.csv", ["day=1/a.csv", "day=2/a.csv"]),
        ("*/*/*", ["day=2/old/c.csv"]),
        ("day=[13]/?.csv", ["day=1/a.csv"]),
        ("day=1/a.csv", ["day=1/a.csv"]),
        ("day=3/*", []),
        ("day=3/a.csv", []),
    ],
)
def test_a_pattern_stays_within_the_parts_of_a_path(logs, pattern, found):
    from tfx.dsl.io import fileio

    assert fileio.glob(f"{logs}/{pattern}") == [f"{logs}/{name}" for name in found]


def test_what_is_not_there_is_named_by_the_error_that_tfx_expects(logs):
    from tfx.dsl.io import fileio, filesystem

    for call in (fileio.open, fileio.listdir, fileio.remove, fileio.stat):
        with pytest.raises(filesystem.NotFoundError):
            call(f"{logs}/absent")
    with pytest.raises(OSError, match="must not be replaced"):
        fileio.copy(f"{logs}/day=1/a.csv", f"{logs}/day=2/a.csv")


def test_the_driver_takes_the_newest_span_and_a_fingerprint(logs):
    from tfx.components.example_gen import utils
    from tfx.proto import example_gen_pb2, range_config_pb2

    def newest(range_config=None):
        split = example_gen_pb2.Input.Split(name="all", pattern="day={SPAN}/*.csv")
        fingerprint, span, _ = utils.calculate_splits_fingerprint_span_and_version(
            logs, [split], range_config
        )
        return fingerprint, span, split.pattern

    fingerprint, span, pattern = newest()
    assert (span, pattern) == (2, "day=2/*.csv")
    # Two files of two lines: "click" and the name.
    assert "num_files:2,total_bytes:36," in fingerprint
    one = range_config_pb2.RangeConfig()
    one.static_range.start_span_number = one.static_range.end_span_number = 1
    assert newest(one)[1:] == (1, "day=1/*.csv")


def test_a_folder_is_copied_to_the_store_and_back(logs, tmp_path):
    from tfx.utils import io_utils

    io_utils.copy_dir(f"{logs}/day=2", str(tmp_path / "here"))
    assert (tmp_path / "here" / "old" / "c.csv").exists()
    io_utils.copy_dir(str(tmp_path / "here"), f"{logs}/day=3")
    io_utils.copy_dir(f"{logs}/day=3", str(tmp_path / "again"))
    names = sorted(path.name for path in (tmp_path / "again").rglob("*.csv"))
    assert names == ["a.csv", "b.csv", "c.csv"]


def test_a_pushed_version_is_loadable_only_once_it_is_whole(bucket, tmp_path):
    from components.pusher import next_version, publish
    from data import paths
    from data.file_systems.s3 import S3

    model = tmp_path / "model"
    for name in ("saved_model.pb", "variables/variables.data", "zz/last.txt"):
        (model / name).parent.mkdir(parents=True, exist_ok=True)
        (model / name).write_text(name)
    serving = f"{bucket}/serving"
    assert next_version(serving, 7) == 7
    written = []
    real = S3.open_write

    def watched(path):
        written.append(path.removeprefix(f"{serving}/7/"))
        return real(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(S3, "open_write", watched)
        publish(str(model), f"{serving}/7")
    assert written[-1] == "saved_model.pb"
    assert sorted(written) == paths.walk(str(model))
    assert paths.walk(f"{serving}/7") == paths.walk(str(model))
    assert next_version(serving, 7) == 8
