"""What of a machine configuration is masked."""

from __future__ import annotations

import pytest

from stockman.model.secret import MASK, Secret
from stockman.talos.machine.assembly import ConfigurationAssembler, trees_text
from stockman.talos.machine.masking import SecretMask, list_secrets
from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.patches.apply import apply_patches, load_documents
from stockman.talos.patches.patch import Patch
from tests.talos.machine.clusters import TALOS, bundle, desired, node_named

CONFIDENTIAL = """\
machine:
  token: canary-token
  ca: {crt: aGFsbG8=, key: Y2FuYXJ5}
  registries:
    config:
      docker.io: {auth: {username: shown, password: canary-password, auth: canary-auth}}
  systemDiskEncryption:
    state: {provider: luks2, keys: [{slot: 0, static: {passphrase: canary-passphrase}}]}
cluster:
  secret: canary-secret
  aescbcEncryptionSecret: canary-aes
  secretboxEncryptionSecret: canary-box
  serviceAccount: {key: Y2FuYXJ5}
  extraManifestHeaders: {Authorization: canary-header}
---
apiVersion: v1alpha1
kind: WireguardConfig
name: wg0
privateKey: canary-private
peers: [{publicKey: shown, presharedKey: canary-shared}]
---
apiVersion: v1alpha1
kind: SideroLinkConfig
apiUrl: https://127.0.0.1/?jointoken=canary-join
uniqueToken: canary-unique
---
apiVersion: v1alpha1
kind: HCloudVIPConfig
name: 127.0.0.1
link: eth0
apiToken: canary-api
"""


def masked(text: str, masking: SecretMask, minor: str = "1.13") -> str:
    documents = load_documents("config.yaml", text, minor)
    return trees_text(masking.mask(document.canonical()) for document in documents)


def test_fields_that_talos_masks_are_masked() -> None:
    shown = masked(CONFIDENTIAL, SecretMask(()))

    assert "canary" not in shown
    assert "Y2FuYXJ5" not in shown
    assert shown.count("shown") == 2
    assert "crt: aGFsbG8=" in shown


def test_a_known_secret_is_masked_wherever_it_stands() -> None:
    text = "machine: {files: [{path: /a, content: 'before grazing-cow after', op: create}]}\n"

    shown = masked(text, SecretMask([Secret("grazing-cow")]))

    assert f"before {MASK} after" in shown


def test_a_short_secret_is_masked_only_where_it_stands_alone() -> None:
    text = "machine: {sysctls: {a: cow, b: cowboy}}\n"

    shown = masked(text, SecretMask([Secret("cow")]))

    assert "b: cowboy" in shown
    assert "a: cow\n" not in shown


def test_everything_of_an_encrypted_file_is_masked() -> None:
    documents = load_documents("config.yaml", "machine: {sysctls: {a: b}}\n", "1.13")
    secret = Patch(label="s.sops.yaml", file="s.sops.yaml", text="machine: {sysctls: {c: d}}\n")
    (patched,) = apply_patches(documents, [secret], "1.13")

    shown = trees_text([SecretMask((), ["s.sops.yaml"]).mask(patched.canonical())])

    assert "a: b" in shown
    assert "c: '***'" in shown


@pytest.mark.parametrize("line", list(TALOS))
def test_no_part_of_the_bundle_but_certificates_is_shown(line: str) -> None:
    state = desired(line)
    secrets = [secret.reveal() for secret in list_secrets(state, bundle())]
    assembled = ConfigurationAssembler(state, bundle(), PatchSet()).of(node_named(state, "cp-1"))
    masking = SecretMask(list_secrets(state, bundle()))

    shown = trees_text(masking.mask(tree) for tree in assembled.canonical())

    assert [secret for secret in secrets if secret in shown] == []
    assert "grazing" not in shown
    assert ("BEGIN CERTIFICATE" if line == "1.14" else "LS0tLS1CRUdJTi") in shown
    assert "PRIVATE KEY" not in shown
