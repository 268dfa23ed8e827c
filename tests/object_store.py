"""A server that speaks S3 (moto's), on loopback, for tests."""

import contextlib
import urllib.request
from collections.abc import Iterator

import pytest

BUCKET = "bucket"


@contextlib.contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """Runs the server with one empty bucket.

    Yields:
        Environment variables that lead S3 clients to it.
    """
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    environment = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            boto3.client(
                "s3", endpoint_url=environment["AWS_ENDPOINT_URL"]
            ).create_bucket(Bucket=BUCKET)
            yield environment
    finally:
        # Else moto's objects complain when Python ends.
        urllib.request.urlopen(
            urllib.request.Request(
                f"http://{host}:{port}/moto-api/reset", method="POST"
            )
        ).close()
        server.stop()
