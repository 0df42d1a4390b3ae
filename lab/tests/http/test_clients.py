"""Clients that people use, as judges of the server."""

import http.client
import shutil
import subprocess
from pathlib import Path

import httpx2
import pytest
from stockman_lab.http.messages import JSON, Request, Response
from stockman_lab.http.rules import ServerRules

from lab.tests.http.serving import ADDRESS, authority, encrypted, running, trusting
from lab.tests.http.test_uploading import is_upload, kept

LONG = b'{"data":"' + b"x" * 5000 + b'"}'


def api(request: Request) -> Response:
    if request.method == "GET":
        return Response(headers=JSON, body=LONG)
    if request.method == "DELETE":
        return Response(500, "storage 'x' does not exist\nmore", JSON, b'{"data":null}')
    return Response(headers=JSON, body=request.body)


@pytest.fixture
def ca(tmp_path: Path) -> Path:
    path = tmp_path / "pve-root-ca.pem"
    path.write_text(authority().certificate.pem)
    return path


def test_http_client_keeps_its_connection_until_an_error() -> None:
    with running(api, context=encrypted()) as lab:
        client = http.client.HTTPSConnection(ADDRESS, lab.port, context=trusting(), timeout=20)
        client.request("GET", "/")
        first = client.getresponse().read()
        sock = client.sock
        client.request("POST", "/", body=b"a=1")
        second = client.getresponse().read()
        assert client.sock is sock
        client.request("DELETE", "/")
        third = client.getresponse()

        assert (first, second) == (LONG, b"a=1")
        assert (third.status, third.reason) == (500, "storage 'x' does not exist")
        assert third.will_close
        client.close()


def test_httpx_reads_compressed_answers_and_reasons() -> None:
    with (
        running(api, context=encrypted()) as lab,
        httpx2.Client(base_url=f"https://{ADDRESS}:{lab.port}", verify=trusting()) as client,
    ):
        long, refused = client.get("/"), client.delete("/")

    assert long.headers["content-encoding"] == "gzip"
    assert long.content == LONG
    assert (refused.status_code, refused.reason_phrase) == (500, "storage 'x' does not exist")


def test_httpx_uploads_a_file(tmp_path: Path) -> None:
    with (
        running(kept, ServerRules(is_upload=is_upload, spool=tmp_path), encrypted()) as lab,
        httpx2.Client(base_url=f"https://{ADDRESS}:{lab.port}", verify=trusting()) as client,
    ):
        answer = client.post(
            "/upload", data={"content": "iso"}, files={"filename": ("a.iso", b"ISO9" * 300_000)}
        )

    assert answer.text == "{'content': 'iso'} a.iso 1200000 1200000 b'ISO9'"


def test_requests_uploads_a_file_and_follows_to_the_encrypted_door(ca: Path) -> None:
    requests = pytest.importorskip("requests")

    with running(kept, ServerRules(is_upload=is_upload), encrypted()) as lab:
        answer = requests.post(
            f"http://{ADDRESS}:{lab.port}/upload",
            data={"content": "iso"},
            files={"filename": ("a.iso", b"ISO9")},
            verify=str(ca),
            timeout=20,
        )

    assert [step.status_code for step in answer.history] == [308]
    assert answer.text == "{'content': 'iso'} a.iso 4 4 b'ISO9'"


def test_curl_is_served_over_both_versions_of_tls(ca: Path) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("curl is not there")

    with running(api, context=encrypted()) as lab:
        url = f"https://{ADDRESS}:{lab.port}/"
        common = [curl, "--silent", "--show-error", "--max-time", "20", "--cacert", str(ca)]
        long = subprocess.run(
            [*common, "--tls-max", "1.2", "--compressed", url], capture_output=True, check=True
        )
        refused = subprocess.run(
            [*common, "--tlsv1.3", "--include", "-X", "DELETE", url, "--next", *common[1:], url],
            capture_output=True,
            check=True,
        )

    assert long.stdout == LONG
    assert refused.stdout.startswith(b"HTTP/1.1 500 storage 'x' does not exist\r\n")
    assert refused.stdout.endswith(LONG)
