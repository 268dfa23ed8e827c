"""What lets ``ctr submit`` in, judged before the server is asked."""

import pytest

from data.errors import UsageError
from pipeline.kubeflow.server import access

URL = "http://localhost:8080"


@pytest.mark.parametrize(
    ("text", "token"),
    [("hush\n", "hush"), ("  hush \r\n", "hush"), ("", None), ("\n", None)],
)
def test_white_space_around_the_token_is_no_part_of_it(monkeypatch, text, token):
    monkeypatch.setenv("KFP_TOKEN", text)
    assert access(URL, None) == (URL, token)


@pytest.mark.parametrize(
    "text", ["hu\nsh", "hu\x07sh", "hu sh", "hush\u00e9", "hu\tsh"]
)
def test_a_token_that_no_header_holds_is_refused_and_not_shown(monkeypatch, text):
    monkeypatch.setenv("KFP_TOKEN", text)
    with pytest.raises(UsageError, match="KFP_TOKEN: must be ASCII") as caught:
        access(URL, None)
    assert "hu" not in str(caught.value)


@pytest.mark.parametrize("namespace", ["", "a.b", "A", "a" * 64, "a\n"])
def test_a_namespace_that_kubernetes_refuses_is_no_namespace(namespace):
    with pytest.raises(UsageError, match=r"--namespace .*: must be 1 to 63"):
        access(URL, namespace)
