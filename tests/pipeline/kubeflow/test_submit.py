"""``ctr submit`` against an HTTP server that answers as the API of Kubeflow Pipelines.

kfp's own client talks to it; pytest-httpserver holds the answers and what was asked.
"""

import json
import socket
from types import SimpleNamespace

import pytest
import urllib3
import yaml
from click.testing import CliRunner
from werkzeug import Request, Response

from data.errors import ConfigError, RunError, UsageError
from pipeline.cli.main import cli
from pipeline.kubeflow.document import Document
from pipeline.preset_files import PRESETS

pytestmark = pytest.mark.engine

API = "/apis/v2beta1"


@pytest.fixture
def asked(httpserver, monkeypatch, tmp_path):
    """A server with one experiment and one recurring run; bodies of what it was sent."""
    # kfp keeps the last used settings in the home of the user.
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KF_PIPELINES_ENDPOINT", httpserver.url_for(""))
    bodies: dict[str, dict] = {}

    def keep(answer):
        def handler(request: Request) -> Response:
            path = f"{request.method} {request.path.removeprefix(API)}"
            bodies[path] = request.get_json(silent=True) or {}
            bodies[path]["token"] = request.headers.get("Authorization")
            return Response(json.dumps(answer), content_type="application/json")

        return handler

    def answer(path, method, content):
        httpserver.expect_request(f"{API}/{path}", method=method).respond_with_handler(
            keep(content)
        )

    experiment = {"experiment_id": "e1", "display_name": "demo"}
    answer("healthz", "GET", {"multi_user": False})
    answer("experiments", "GET", {"experiments": [experiment]})
    answer("experiments/e1", "GET", experiment)
    answer("runs", "POST", {"run_id": "r1"})
    recurring = {"recurring_run_id": "old", "display_name": "demo"}
    answer("recurringruns", "GET", {"recurringRuns": [recurring]})
    answer("recurringruns", "POST", {"recurring_run_id": "new"})
    answer("recurringruns/old", "DELETE", {})
    return bodies


@pytest.fixture
def config(tmp_path):
    """The demo with a cluster."""
    content = yaml.safe_load((PRESETS / "demo.yaml").read_text())
    content["kubeflow"] = {
        "image": "registry.local/ctr:1",
        "service_account": "runner",
        "queue": "ctr",
        "schedule": {"cron": "0 0 4 * * *", "max_concurrency": 2},
    }
    path = tmp_path / "demo.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def submit(*arguments):
    """The command's JSON, or its error."""
    # Verbose, since else it turns off the log of this process for good.
    done = CliRunner().invoke(
        cli, ["submit", "--json", "--verbose", *map(str, arguments)]
    )
    if done.exception:
        raise done.exception
    return json.loads(done.stdout)


def test_a_run_starts_with_the_spec_its_parameters_and_its_account(asked, config):
    done = submit("--config", config, "--parameter", "epochs=5", "--run-name", "a run")
    assert done["run"] == "r1"
    assert done["page"].endswith("/#/runs/details/r1")
    sent = asked["POST /runs"]
    assert sent["display_name"] == "a run"
    assert sent["experiment_id"] == "e1"
    assert sent["service_account"] == "runner"
    assert sent["runtime_config"]["parameters"] == {"epochs": 5}
    spec = Document(sent["pipeline_spec"]["pipeline_spec"])
    assert spec.pipeline["pipelineInfo"]["name"] == "demo"
    assert "Trainer" in spec.pipeline["root"]["dag"]["tasks"]
    assert "ctr" in json.dumps(sent["pipeline_spec"]["platform_spec"])


def test_the_token_comes_from_the_environment(asked, config, monkeypatch):
    # A mounted secret mostly ends with a line end.
    monkeypatch.setenv("KFP_TOKEN", "secret\n")
    done = submit("--config", config)
    assert asked["GET /healthz"]["token"] == "Bearer secret"
    assert asked["POST /runs"]["token"] == "Bearer secret"
    assert "secret" not in json.dumps(done)


def test_a_schedule_of_the_same_name_is_replaced_only_when_asked(asked, config):
    with pytest.raises(UsageError, match="recurring run 'demo'; pass --replace"):
        submit("--config", config, "--schedule")
    assert "POST /recurringruns" not in asked
    done = submit("--config", config, "--schedule", "--replace")
    assert done["recurring_run"] == "new"
    assert done["replaced"] == 1
    sent = asked["POST /recurringruns"]
    assert sent["trigger"]["cron_schedule"]["cron"] == "0 0 4 * * *"
    assert sent["max_concurrency"] == "2" or sent["max_concurrency"] == 2
    assert "DELETE /recurringruns/old" in asked


def test_another_name_stands_beside_the_schedule_that_is_there(asked, config):
    done = submit("--config", config, "--schedule", "--run-name", "nightly")
    assert done["replaced"] == 0
    assert "DELETE /recurringruns/old" not in asked


@pytest.mark.parametrize(
    ("states", "expected"),
    [(["PENDING", "RUNNING", "SUCCEEDED"], None), (["RUNNING", "FAILED"], "failed")],
)
def test_waiting_tells_each_state_and_fails_with_the_run(
    asked, httpserver, states, expected
):
    from pipeline.kubeflow.server import Server
    from pipeline.kubeflow.submit import wait

    left = iter(states)
    httpserver.expect_request(f"{API}/runs/r1").respond_with_handler(
        lambda _: Response(
            json.dumps({"run_id": "r1", "state": next(left)}),
            content_type="application/json",
        )
    )
    told: list[str] = []
    server = Server(None)
    if expected is None:
        assert wait(server, "r1", 60, told.append, pause=0.0) == "succeeded"
    else:
        with pytest.raises(RunError, match=f"run r1: {expected}; see http.*/runs/"):
            wait(server, "r1", 60, told.append, pause=0.0)
    assert told == [state.lower() for state in states]


def test_without_an_endpoint_it_says_which_option_is_missing(config, monkeypatch):
    monkeypatch.delenv("KF_PIPELINES_ENDPOINT", raising=False)
    with pytest.raises(UsageError, match=r"--endpoint: needed.*KF_PIPELINES_ENDPOINT"):
        submit("--config", config)


def test_an_endpoint_where_nothing_answers_is_named(config):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(RunError, match=f"{url}: no Kubeflow Pipelines API answers"):
        submit("--config", config, "--endpoint", url)


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(401, "KFP_TOKEN"), (403, "rights"), (404, "path of the URL")],
)
def test_a_refusal_comes_with_its_remedy(httpserver, config, status, remedy):
    httpserver.expect_request(f"{API}/healthz").respond_with_data(status=status)
    with pytest.raises(RunError, match=f"HTTP {status}: .*{remedy}"):
        submit("--config", config, "--endpoint", httpserver.url_for(""))


def test_a_run_that_the_server_refuses_is_told_in_its_words(asked, httpserver, config):
    httpserver.clear()
    httpserver.expect_request(f"{API}/healthz").respond_with_json({})
    httpserver.expect_request(f"{API}/experiments", method="GET").respond_with_json(
        {"experiments": [{"experiment_id": "e1", "display_name": "demo"}]}
    )
    httpserver.expect_request(f"{API}/runs", method="POST").respond_with_json(
        {"error_message": "quota exceeded\nstack trace", "code": 8}, status=429
    )
    with pytest.raises(RunError, match="HTTP 429: quota exceeded; ") as caught:
        submit("--config", config)
    assert "stack trace" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "options"),
    [("runs", []), ("recurringruns", ["--schedule", "--replace"])],
)
def test_an_answer_without_a_run_is_no_success(
    asked, httpserver, config, path, options
):
    httpserver.expect_oneshot_request(f"{API}/{path}", method="POST").respond_with_json(
        {}
    )
    with pytest.raises(RunError, match="answered without a run; is this the API"):
        submit("--config", config, *options)
    # An earlier schedule goes only when the new one is there.
    assert "DELETE /recurringruns/old" not in asked


def test_a_server_that_does_not_answer_for_a_moment_is_asked_again(asked, httpserver):
    from pipeline.kubeflow.server import Server
    from pipeline.kubeflow.submit import wait

    server = Server(None)
    answers = iter(["RUNNING", None, "SUCCEEDED"])

    def answer(run):
        state = next(answers)
        if state is None:
            raise urllib3.exceptions.ProtocolError("reset")
        return SimpleNamespace(state=state)

    server.client.get_run = answer
    told: list[str] = []
    assert wait(server, "r1", 60, told.append, pause=0.0) == "succeeded"
    assert told == ["running", "no answer", "succeeded"]


def test_a_redirect_to_another_host_does_not_get_the_token(
    httpserver, config, monkeypatch
):
    monkeypatch.setenv("KFP_TOKEN", "secret")
    seen = []

    def login(request: Request) -> Response:
        seen.append(request.headers.get("Authorization"))
        return Response("<html>log in</html>", content_type="text/html")

    httpserver.expect_request("/login").respond_with_handler(login)
    url = httpserver.url_for("/login").replace("localhost", "127.0.0.1")
    httpserver.expect_request(f"{API}/healthz").respond_with_data(
        status=302, headers={"Location": url}
    )
    with pytest.raises(RunError, match="a login page perhaps; set KFP_TOKEN"):
        submit("--config", config, "--endpoint", httpserver.url_for(""))
    assert seen == [None]


@pytest.mark.parametrize(
    "endpoint",
    [
        "localhost:8080",
        "http://host:abc",
        "http://a b",
        "http://[::1",
        "ftp://h",
        "http://host?token=hush",
        "http://",
    ],
)
def test_an_endpoint_that_is_no_url_is_refused(config, endpoint):
    with pytest.raises(UsageError, match="--endpoint: must be a URL"):
        submit("--config", config, "--endpoint", endpoint)


def test_credentials_in_the_endpoint_are_refused_and_not_shown(config):
    with pytest.raises(UsageError, match="holds credentials") as caught:
        submit("--config", config, "--endpoint", "https://me:hush@host")
    assert "hush" not in str(caught.value)


def test_a_wrong_value_is_told_before_the_server_is_asked(asked, config):
    with pytest.raises(ConfigError, match="--parameter epochs: must be"):
        submit("--config", config, "--parameter", "epochs=0")
    assert asked == {}


def test_a_server_that_repeats_the_token_does_not_bring_it_into_the_error(
    asked, httpserver, config, monkeypatch
):
    monkeypatch.setenv("KFP_TOKEN", "hush")
    httpserver.clear()
    httpserver.expect_request(f"{API}/healthz").respond_with_json({})
    httpserver.expect_request(f"{API}/experiments").respond_with_json(
        {"error_message": "no rights: Authorization: Bearer hush"}, status=403
    )
    with pytest.raises(RunError, match=r"Bearer \[token\]") as caught:
        submit("--config", config)
    assert "hush" not in str(caught.value)
