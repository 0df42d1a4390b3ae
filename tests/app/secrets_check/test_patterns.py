"""What looks like a secret, known or not."""

import pytest

from stockman.app.secrets_check.scanner import find_suspicious
from stockman.crypto.age.identities import age_key_pair
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.credentials.certificates import ClientIssuer
from stockman.talos.credentials.kubeconfig import render_kubeconfig
from stockman.talos.credentials.roles import TalosRole
from stockman.talos.credentials.talosconfig import Talosconfig, client_context, talosconfig_text
from stockman.talos.secrets.bundle import bundle_text
from tests.talos.made import NOW, bundle, dice

ENCRYPTION = "an encryption secret of a Talos cluster"


def issuer() -> ClientIssuer:
    return ClientIssuer(bundle=bundle(), talos=Version(1, 14), now=NOW, random_bytes=dice())


def talosconfig() -> Secret:
    client = issuer().talos_client([TalosRole.ADMIN])
    context = client_context(bundle().certs.os.crt, client)
    return talosconfig_text(Talosconfig(context="meadow", contexts={"meadow": context}))


def admin() -> Secret:
    client = issuer().kubernetes_admin()
    return render_kubeconfig("meadow", "https://127.0.0.1:6443", bundle().certs.k8s.crt, client)


def kinds(text: str) -> set[str]:
    return {name for name, _ in find_suspicious(text.encode())}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (age_key_pair(bytes(32)).identity, "an age identity"),
        (age_key_pair(bytes(32), post_quantum=True).identity, "an age identity"),
        (bundle().certs.os.key, "a private key"),
        (bundle().certs.k8s.key, "a private key"),
        (admin(), "a client key of a kubeconfig"),
        (talosconfig(), "a private key of a talosconfig, a bundle or a machine configuration"),
        (
            bundle_text(bundle()),
            "a private key of a talosconfig, a bundle or a machine configuration",
        ),
    ],
)
def test_what_nobody_may_see_is_suspicious(text: Secret, kind: str) -> None:
    assert kind in kinds(f"some\nlines: before\n{text.reveal()}")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("  bootstraptoken: {}.{}", "a bootstrap token of a cluster"),
        ('"token": "{}.{}"', "a bootstrap token of a cluster"),
        ("  secretboxencryptionsecret: " + "A" * 43 + "=", ENCRYPTION),
        ("aescbcEncryptionSecret: '" + "b" * 43 + "='", ENCRYPTION),
    ],
)
def test_parts_of_a_bundle_are_suspicious(text: str, kind: str) -> None:
    assert kinds(text.format("ab12cd", "0123456789abcdef")) == {kind}


@pytest.mark.parametrize(
    "text",
    [
        "see AGE-SECRET-KEY-1... in age.key",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        bundle().certs.os.crt,
        "token: ENC[AES256_GCM,data:abc,iv:def,tag:ghi,type:str]",
        "secretboxencryptionsecret: ENC[AES256_GCM,data:abc=,type:str]",
        "client-key-data: ENC[AES256_GCM,data:abc=,type:str]",
        "token: file:token.txt",
        "talos_version: 1.13.9",
    ],
)
def test_talk_about_secrets_is_not(text: str) -> None:
    assert kinds(text) == set()


def test_places_are_inside_of_what_was_found() -> None:
    text = f"one\ntwo\n{bundle().certs.os.key.reveal()}"

    ((_, at),) = find_suspicious(text.encode())

    assert text[:at].count("\n") == 3
