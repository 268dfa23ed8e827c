"""Presets read the public data sets that they are made for."""

import pytest

from components.gates import judge
from components.metrics.names import CHANGES, METRICS
from components.metrics.results import Counts, Estimate, SliceResult
from pipeline.config import load

# Preset, folder, rows read, layout.
SETS = [
    ("movielens", "recbole_ml100k", 100_000, "recbole"),
    ("criteo", "deepctr_criteo_sample", 200, "csv"),
    ("avazu", "deepctr_avazu_sample", 100, "sample"),
    ("taobao", "fuxictr_tiny_csv", 200, "flat"),
    ("taobao_encoded", "fuxictr_tiny_parquet", 200, "fuxictr"),
    ("open_bandit", "obd_random_women", 10_000, "campaign"),
    ("chicago_taxi", "tfx_chicago_taxi", 15_002, "csv"),
]


@pytest.mark.engine
@pytest.mark.parametrize(("preset", "folder", "rows", "layout"), SETS)
def test_preset_reads_its_set(preset, folder, rows, layout, shared_dir, tmp_path):
    from components.example_gen.run import ingest

    manifest = ingest(
        [str(shared_dir / "data" / folder)], load(preset=preset).data, str(tmp_path)
    )
    assert (manifest.rows_read, manifest.rows_written) == (rows, rows)
    assert manifest.layout == layout


def demo_slice(key, rows, clicks, gauc, pcop, delta=None):
    """A slice of the demo, with the standard error that so many clicks leave."""
    values = {"gauc": Estimate(gauc)} | {
        "pcop": Estimate(pcop, None, None, clicks**-0.5, 1_000)
    }
    return SliceResult(
        slice=key,
        counts=Counts(rows=rows, clicks=clicks),
        metrics=dict.fromkeys(METRICS, Estimate(None, reason="not given")) | values,
        baseline=None if delta is None else dict.fromkeys(METRICS, Estimate(0.7)),
        delta=delta,
    )


@pytest.mark.parametrize(
    "delta", [None, dict.fromkeys(CHANGES, Estimate(0.0, None, None, 0.0, 0.0))]
)
def test_the_demo_is_blessed_on_a_first_and_on_an_equal_second_run(delta):
    # Figures of README.md; clicks are rows times the click rate of 5.37 %.
    slices = [
        demo_slice({}, 40_000, 2_148, 0.7000, 1.0461, delta),
        demo_slice({"device": "desktop"}, 11_264, 605, 0.7307, 1.0104, delta),
        demo_slice({"device": "phone"}, 23_855, 1_281, 0.6931, 1.0611, delta),
        demo_slice({"device": "tablet"}, 4_881, 262, 0.6993, 1.0515, delta),
    ]
    verdict = judge(slices, load(preset="demo").evaluate.gates)
    assert verdict.blessed, verdict.reason
    assert {check.status for check in verdict.checks} <= {"pass", "skipped"}


def test_the_demo_is_not_blessed_when_a_device_is_off_beyond_doubt():
    slices = [
        demo_slice({}, 40_000, 2_148, 0.7, 1.0),
        # log(1.5 / 1.25) is 2.95 of its standard errors, 262 ** -0.5, so the two-sided
        # p is 0.003, below the 0.05 / 3 of the smallest of three.
        demo_slice({"device": "tablet"}, 4_881, 262, 0.7, 1.5),
        demo_slice({"device": "phone"}, 23_855, 1_281, 0.7, 1.0),
        demo_slice({"device": "desktop"}, 11_264, 605, 0.7, 1.0),
    ]
    verdict = judge(slices, load(preset="demo").evaluate.gates)
    assert not verdict.blessed
    (failed,) = (check for check in verdict.checks if check.status == "fail")
    assert (failed.slice, failed.kind) == ({"device": "tablet"}, "max")


FLAGS = "|".join(["0"] * 5 + ["1"] + ["0"] * 13)


@pytest.mark.engine
def test_official_movielens_files(tmp_path):
    from components.example_gen.run import ingest

    rows = "".join(f"{i % 9}\t{i % 7}\t{i % 5 + 1}\t{i}\n" for i in range(100))
    (tmp_path / "u.data").write_text(rows)
    users = "".join(f"{i}|24|M|writer|85711\n" for i in range(9))
    (tmp_path / "u.user").write_text(users)
    films = "".join(f"{i}|Café ({i})|01-Jan-1995||url|{FLAGS}\n" for i in range(7))
    (tmp_path / "u.item").write_bytes(films.encode("latin-1"))
    manifest = ingest(
        [str(tmp_path)], load(preset="movielens").data, str(tmp_path / "out")
    )
    assert manifest.layout == "official"
    assert manifest.splits["eval"].rows == 20
    assert manifest.splits["train"].clicks + manifest.splits["eval"].clicks == 40


@pytest.mark.engine
def test_official_taobao_files(tmp_path):
    from components.example_gen.run import ingest

    day = 86_400
    rows = "".join(
        f"{i % 20},{1494000000 + i * day // 40},{i % 9},430548_1007,{1 - i % 2},{i % 2}\n"
        for i in range(100)
    )
    (tmp_path / "raw_sample.csv").write_text(
        "user,time_stamp,adgroup_id,pid,nonclk,clk\n" + rows
    )
    (tmp_path / "ad_feature.csv").write_text(
        "adgroup_id,cate_id,campaign_id,customer,brand,price\n"
        + "".join(f"{i},1,2,3,NULL,9.5\n" for i in range(8))
    )
    (tmp_path / "user_profile.csv").write_text(
        "userid,cms_segid,cms_group_id,final_gender_code,age_level,pvalue_level,"
        "shopping_level,occupation,new_user_class_level \n"
        + "".join(f"{i},0,1,2,3,,1,0,\n" for i in range(20))
    )
    manifest = ingest(
        [str(tmp_path)], load(preset="taobao").data, str(tmp_path / "out")
    )
    assert (manifest.layout, manifest.rows_written) == ("official", 100)


@pytest.mark.engine
@pytest.mark.parametrize("preset", ["criteo", "avazu"])
def test_official_files_without_header_or_over_days(preset, tmp_path):
    from components.example_gen.run import ingest

    if preset == "criteo":
        row = "\t".join(["{label}", *["3"] * 13, *["68fd1e64"] * 24, "{i:x}", ""])
        text = "".join(row.format(label=i % 2, i=i) + "\n" for i in range(100))
        (tmp_path / "train.txt").write_text(text)
    else:
        header = (
            "id,click,hour,C1,banner_pos,site_id,site_domain,site_category,app_id,"
            "app_domain,app_category,device_id,device_ip,device_model,device_type,"
            "device_conn_type,C14,C15,C16,C17,C18,C19,C20,C21"
        )
        tail = ",".join(["a"] * 9 + ["ip", *["b"] * 11])
        text = "".join(
            f"1000016934911786371{i},{i % 2},1410{21 + i % 3}00,{tail}\n"
            for i in range(99)
        )
        (tmp_path / "train").write_text(f"{header}\n{text}")
    manifest = ingest([str(tmp_path)], load(preset=preset).data, str(tmp_path / "out"))
    assert manifest.layout == "official"
    if preset == "avazu":
        assert manifest.splits["eval"].rows == 33  # the last of three days
