"""What a kubeconfig says, and what it may not say."""

import base64

import pytest

from stockman.config.writers.yaml_writer import render_yaml
from stockman.crypto.pem import CertificateAndKey
from stockman.kubernetes.kubeconfig import ExecPlugin, read_context
from stockman.model.errors import Refused
from stockman.model.secret import Secret
from stockman.talos.credentials.kubeconfig import render_kubeconfig


def written(cluster: dict[str, object], user: dict[str, object]) -> Secret:
    server = {"server": "https://10.42.0.10:6443", **cluster}
    return Secret(
        render_yaml(
            {
                "clusters": [{"name": "meadow", "cluster": server}],
                "users": [{"name": "one", "user": user}],
                "contexts": [
                    {"name": "main", "context": {"cluster": "meadow", "user": "one"}},
                    {"name": "lost", "context": {"cluster": "meadow", "user": "nobody"}},
                ],
                "current-context": "main",
            }
        )
    )


def test_one_of_ours_is_read_again() -> None:
    client = CertificateAndKey(crt="certificate", key=Secret("key"))

    text = render_kubeconfig("meadow", "https://10.42.0.10:6443", "authority", client)
    kubeconfig_context = read_context("kubeconfig", text)

    assert (kubeconfig_context.server, kubeconfig_context.ca, kubeconfig_context.crt) == (
        "https://10.42.0.10:6443",
        "authority",
        "certificate",
    )
    assert kubeconfig_context.key == Secret("key")
    assert kubeconfig_context.name == "admin@meadow"
    assert kubeconfig_context.plugin is None


def test_files_tokens_and_programs_are_read() -> None:
    program = {
        "command": "cloud-login",
        "args": ["token", "--quiet"],
        "env": [{"name": "REGION", "value": "meadow"}],
        "apiVersion": "client.authentication.k8s.io/v1beta1",
    }
    user: dict[str, object] = {"token": "0012", "tokenFile": "token", "exec": program}
    cluster: dict[str, object] = {"certificate-authority": "ca.crt", "tls-server-name": "kube"}
    kubeconfig_context = read_context("kubeconfig", written(cluster, user))

    assert kubeconfig_context.token == Secret("0012")
    assert (
        kubeconfig_context.token_file,
        kubeconfig_context.ca_file,
        kubeconfig_context.server_name,
    ) == ("token", "ca.crt", "kube")
    assert kubeconfig_context.plugin == ExecPlugin(
        command="cloud-login",
        arguments=("token", "--quiet"),
        variables={"REGION": "meadow"},
        api_version="client.authentication.k8s.io/v1beta1",
    )


def test_a_token_of_digits_stays_as_it_is_written() -> None:
    text = written({}, {"token": "x"}).reveal().replace("token: x", "token: 0012")

    assert read_context("kubeconfig", Secret(text, resolved=True)).token == Secret("0012")


@pytest.mark.parametrize(
    ("cluster", "user", "why"),
    [
        ({"insecure-skip-tls-verify": True}, {}, "disables the check of the server certificate"),
        ({"proxy-url": "http://10.42.0.1"}, {}, "proxy-url of its cluster is not supported"),
        ({}, {"username": "a"}, "username of its user is not supported"),
        ({}, {"as": "a"}, "as of its user is not supported"),
        ({"certificate-authority-data": "%"}, {}, "is not valid base64"),
    ],
)
def test_what_is_not_done_is_refused(
    cluster: dict[str, object], user: dict[str, object], why: str
) -> None:
    with pytest.raises(Refused) as caught:
        read_context("kubeconfig", written(cluster, user))
    assert why in caught.value.problem.why


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("a: [", "", ""),
        ("{}", "", "it has no current context"),
        (written({}, {}).reveal(), "another", "it has no context 'another'"),
        (written({}, {}).reveal(), "lost", "it has no user 'nobody'"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, name: str, why: str) -> None:
    with pytest.raises(Refused) as caught:
        read_context("kubeconfig", Secret(text, resolved=True), name)
    assert caught.value.problem.code == "kubernetes.kubeconfig"
    assert why in caught.value.problem.why


def test_a_check_that_is_left_on_is_no_reason_to_refuse() -> None:
    encoded = base64.b64encode(b"authority").decode()
    cluster: dict[str, object] = {
        "insecure-skip-tls-verify": False,
        "certificate-authority-data": encoded,
    }

    assert read_context("kubeconfig", written(cluster, {})).ca == "authority"
