"""Others get an object storage in their tests with one word."""

from __future__ import annotations

import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import HTTPError

import pytest
from stockman_lab.testing.storage import S3Lab

import stockman
from lab.tests.objects.signing import Ask, Signer

pytest_plugins = ["pytester"]

TEST = """
    import pytest

    @pytest.mark.s3_lab(bucket="mine")
    def test_storage(s3_lab):
        import obstore
        from obstore.store import S3Store
        store = S3Store(
            s3_lab.bucket,
            endpoint=s3_lab.endpoint,
            region=s3_lab.region,
            access_key_id=s3_lab.access_key,
            secret_access_key=s3_lab.secret_key,
            client_options={"allow_http": True},
        )
        obstore.put(store, "a", b"wool")
        assert obstore.get(store, "a").bytes() == b"wool"
        assert "a" in s3_lab.world.state.objects.buckets["mine"].objects
"""


@pytest.fixture
def pytester_with_storage(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", str(Path(stockman.__file__).parents[1]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest("pytest_plugins = ['stockman_lab.testing.plugin']")
    return pytester


def status(lab: S3Lab, method: str, path: str, body: bytes = b"") -> int:
    host = lab.endpoint.removeprefix("http://")
    ask = Ask(method, path, {}, {}, body)
    now = datetime.now(UTC)  # noqa: TID251  # what the storage goes by
    headers = Signer(lab.access_key, lab.secret_key, host, lab.region).headers(ask, now)
    request = urllib.request.Request(
        f"{lab.endpoint}{path}", data=body or None, headers=headers, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return int(reply.status)
    except HTTPError as error:
        with error:
            return error.code


def test_a_test_of_somebody_else_uses_it(pytester_with_storage: pytest.Pytester) -> None:
    pytester_with_storage.makepyfile(TEST)
    pytester_with_storage.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_wrong_word_in_the_mark_is_told(pytester_with_storage: pytest.Pytester) -> None:
    pytester_with_storage.makepyfile(TEST.replace("bucket=", "name="))
    result = pytester_with_storage.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the mark s3_lab takes no name*"])


def test_faults_are_at_hand(s3_lab: S3Lab) -> None:
    number = s3_lab.fault("fail", times=None, operation="put")
    assert status(s3_lab, "PUT", "/lab/a", b"wool") == 503
    assert status(s3_lab, "GET", "/lab") == 200
    s3_lab.take_back(number)
    assert status(s3_lab, "PUT", "/lab/a", b"wool") == 200
    assert s3_lab.run(lambda: list(s3_lab.world.state.objects.buckets["lab"].objects)) == ["a"]
