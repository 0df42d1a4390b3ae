"""Who we are to a server, and that nobody else learns it."""

import logging
import ssl
import stat
import sys
import traceback
from pathlib import Path

import pytest

from stockman.adapters.kubernetes.credentials import Credentials, KubernetesEndpoint
from stockman.adapters.kubernetes.transport import HttpKubernetes, endpoint_from_kubeconfig
from stockman.crypto.certificates import CertificateRequest, Purpose, issue_certificate
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.kubeconfig import ExecPlugin, KubeconfigContext
from stockman.kubernetes.objects import CONFIG_MAPS
from stockman.model.errors import Refused, StockmanError
from stockman.model.secret import Secret
from tests.adapters.http_kubernetes.talking import CANARY, QUICK, VERSION, said, talk
from tests.adapters.http_proxmox.scripted import (
    PERIOD,
    Answer,
    Asked,
    ScriptedServer,
    Trouble,
    identity,
)
from tests.kubernetes.scripted import StandingClock

CREDENTIAL = (
    '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",'
    ' "status": {"token": "issued-token"}}'
)


def echo(request: Asked) -> Answer:
    """A server that says everything back, as broken ones and proxies do."""
    return said({"message": " ".join([*request.headers.values(), request.body.decode()])}, 500)


async def made(kubernetes: KubernetesClient) -> None:
    await kubernetes.create(CONFIG_MAPS, {"metadata": {"name": "wool", "namespace": "web"}})


@pytest.mark.parametrize("answer", [echo, lambda _: Trouble.CUT, lambda _: Trouble.HANG])
def test_no_token_turns_up_in_logs_errors_and_traces(
    answer: object, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = ScriptedServer(answer)  # type: ignore[arg-type]  # one of those above

    with pytest.raises(StockmanError) as caught:
        talk(server, made, timeouts=QUICK)

    shown = [caplog.text, str(caught.value.problem), repr(caught.value.__cause__)]
    shown += traceback.format_exception(caught.value)
    assert len(server.asked) > 0
    assert [text for text in shown if CANARY in text] == []


def test_what_holds_a_secret_does_not_show_it() -> None:
    context = KubeconfigContext(
        server="https://127.0.0.1:6443", token=Secret(CANARY), key=Secret(CANARY)
    )
    endpoint = KubernetesEndpoint(context=context)
    kubernetes = HttpKubernetes(endpoint, StandingClock())

    assert CANARY not in f"{context!r} {endpoint!r} {kubernetes!r} {vars(kubernetes)!r}"


def test_a_file_with_a_token_is_read_anew(tmp_path: Path) -> None:
    server = ScriptedServer(lambda _: said(VERSION))
    file = tmp_path / "token"

    async def renewed(kubernetes: KubernetesClient) -> None:
        for text in ("first\n", "second\n"):
            file.write_text(text)
            await kubernetes.server_version()

    talk(server, renewed, context={"token": None, "token_file": "token"}, directory=tmp_path)

    authorizations = [one.headers["authorization"] for one in server.asked]
    assert authorizations == ["Bearer first", "Bearer second"]


class AskingServer(ScriptedServer):
    """A server that lets in whoever its CA knows."""

    def _context(self) -> ssl.SSLContext:
        context = super()._context()
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=self.identity.ca.crt)
        return context


def test_a_client_certificate_is_shown() -> None:
    server = AskingServer(lambda _: said(VERSION))
    leaf = CertificateRequest(period=PERIOD, purposes=(Purpose.CLIENT,), common_name="admin")
    ours = issue_certificate(identity().ca, leaf, lambda count: b"\7" * count)
    context = {"token": None, "crt": ours.crt, "key": ours.key}

    talk(server, lambda one: one.server_version(), context=context)

    assert "authorization" not in server.asked[0].headers


def test_half_of_a_certificate_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        talk(
            ScriptedServer(),
            lambda one: one.server_version(),
            context={"crt": identity().ca.crt},
        )
    assert caught.value.problem.code == "kubernetes.kubeconfig"


@pytest.mark.parametrize("field", ["ca", "crt"])
def test_certificates_that_cannot_be_read_are_refused(field: str) -> None:
    context: dict[str, object] = {field: "no certificate"}
    if field == "crt":
        context["key"] = Secret("no key")
    with pytest.raises(Refused) as caught:
        talk(ScriptedServer(), lambda one: one.server_version(), context=context)
    assert caught.value.problem.code == "kubernetes.kubeconfig"


def test_a_server_that_nobody_vouches_for_is_told_nothing() -> None:
    server = ScriptedServer(lambda _: said(VERSION))

    with pytest.raises(Refused) as caught:
        talk(server, lambda one: one.server_version(), context={"ca": identity(3).ca.crt})

    assert caught.value.problem.code == "kubernetes.certificate"
    assert server.asked == []


@pytest.mark.parametrize("server", ["http://10.42.0.10:6443", "https://", "https://a@b", "ftp:"])
def test_an_address_that_is_none_is_refused(server: str) -> None:
    with pytest.raises(Refused) as caught:
        HttpKubernetes(
            KubernetesEndpoint(context=KubeconfigContext(server=server)), StandingClock()
        )
    assert caught.value.problem.code == "kubernetes.kubeconfig"


def plugin(*lines: str) -> ExecPlugin:
    return ExecPlugin(command=sys.executable, arguments=("-c", "\n".join(lines)))


def test_a_program_is_not_run_unless_it_is_allowed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    context = KubeconfigContext(
        server="https://10.42.0.10:6443", plugin=plugin(f"open({str(mark)!r}, 'w').close()")
    )

    with pytest.raises(Refused) as caught:
        Credentials(KubernetesEndpoint(context=context), StandingClock())

    assert caught.value.problem.code == "kubernetes.plugin"
    assert not mark.exists()


def test_a_program_that_is_allowed_gives_the_token_once() -> None:
    server = ScriptedServer(lambda _: said(VERSION))

    async def twice(kubernetes: KubernetesClient) -> None:
        await kubernetes.server_version()
        await kubernetes.server_version()

    exec_plugin = plugin(
        "import json, os",
        "assert json.loads(os.environ['KUBERNETES_EXEC_INFO'])['kind'] == 'ExecCredential'",
        f"print({CREDENTIAL!r})",
    )
    talk(server, twice, context={"plugin": exec_plugin}, allows_plugins=True)

    assert {one.headers["authorization"] for one in server.asked} == {"Bearer issued-token"}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["print('canary')"], "its output is not JSON"),
        (["print('{}')"], "its output is not an ExecCredential"),
        (["raise SystemExit(3)"], "exited with status 3"),
        (
            ['print(\'{"kind": "ExecCredential"}\')'],
            "its output has neither a token nor a certificate",
        ),
    ],
)
def test_a_program_that_gives_nothing_is_told(lines: list[str], why: str) -> None:
    with pytest.raises(Refused) as caught:
        talk(
            ScriptedServer(),
            lambda one: one.server_version(),
            context={"plugin": plugin(*lines)},
            allows_plugins=True,
        )
    assert caught.value.problem.code == "kubernetes.plugin"
    assert why in caught.value.problem.why
    assert "canary" not in str(caught.value.problem)


def test_a_program_beside_the_kubeconfig_is_found(tmp_path: Path) -> None:
    program = tmp_path / "give"
    program.write_text(f"#!/bin/sh\necho '{CREDENTIAL}'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    server = ScriptedServer(lambda _: said(VERSION))
    context = {"plugin": ExecPlugin(command="./give")}

    talk(
        server,
        lambda one: one.server_version(),
        context=context,
        directory=tmp_path,
        allows_plugins=True,
    )

    assert server.asked[0].headers["authorization"] == "Bearer issued-token"


def test_a_kubeconfig_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        endpoint_from_kubeconfig(tmp_path / "none")
    assert caught.value.problem.code == "kubernetes.kubeconfig"
