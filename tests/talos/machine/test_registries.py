"""Registry mirrors and credentials in the words of each contract."""

from __future__ import annotations

import pytest

from stockman.model.errors import Refused
from tests.talos.machine.clusters import bundle, desired, documents, section

CA = bundle().certs.etcd.crt
FILES = {"ca.pem": CA, "client.pem": CA}
MIRROR = """\
talos:
  extensions: [siderolabs/nfsd]
  registries:
    docker.io:
      endpoints: ['https://127.66.0.5:5000/hub']
      override_path: true
      skip_fallback: true
      username: u
      password: grazing
      ca_file: ca.pem
      client_cert_file: client.pem
      client_key: wool
    ghcr.io: {username: v, password: browsing}
"""


def test_credentials_belong_to_the_host_that_is_asked() -> None:
    old = section(
        documents(desired("1.11", MIRROR), "work-1", FILES), "v1alpha1", "machine", "registries"
    )

    assert list(old["mirrors"]) == ["docker.io"]
    assert list(old["config"]) == ["127.66.0.5:5000", "ghcr.io"]
    assert old["mirrors"]["docker.io"]["overridePath"] is True
    assert old["config"]["127.66.0.5:5000"]["tls"]["ca"] != CA


@pytest.mark.parametrize("line", ["1.12", "1.13", "1.14"])
def test_later_contracts_have_documents_by_host(line: str) -> None:
    config = documents(desired(line, MIRROR), "work-1", FILES)

    mirror = config["RegistryMirrorConfig docker.io"]
    assert mirror["endpoints"] == [{"url": "https://127.66.0.5:5000/hub", "overridePath": True}]
    assert config["RegistryAuthConfig 127.66.0.5:5000"]["username"] == "u"
    assert config["RegistryAuthConfig ghcr.io"]["username"] == "v"
    tls = config["RegistryTLSConfig 127.66.0.5:5000"]
    assert tls["ca"] == CA
    assert section(tls, "clientIdentity", "cert") == CA
    assert "RegistryMirrorConfig ghcr.io" not in config


@pytest.mark.parametrize("line", ["1.11", "1.14"])
def test_keys_and_passwords_stay_secrets(line: str) -> None:
    shown = repr(documents(desired(line, MIRROR), "work-1", FILES))

    assert not [word for word in ("grazing", "browsing", "wool") if word in shown]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "the file does not exist"),
        ({"ca.pem": "not a certificate"}, "PEM"),
        ({"ca.pem": "ca: ENC[AES256_GCM,data:eA==,type:str]"}, "encrypted"),
    ],
)
def test_a_file_that_is_no_certificate_is_refused(files: dict[str, str], reason: str) -> None:
    state = desired("1.13", MIRROR)

    with pytest.raises(Refused) as caught:
        documents(state, "work-1", files)

    assert caught.value.problem.code == "talos.file"
    assert reason in caught.value.problem.why
