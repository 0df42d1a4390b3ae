"""Places of secrets: read, and written encrypted or for their owner alone."""

import asyncio
from pathlib import Path

import pytest

from stockman.app.runs.secrets import StepSecrets
from stockman.app.secrets.proxmox_tokens import FILE, with_stored_tokens
from stockman.app.secrets.references import ReferenceContext
from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.resolve import resolve
from stockman.model.desired import Desired
from stockman.model.errors import NotFound, Refused
from stockman.model.secret import Secret, SecretForm
from stockman.steps.secret_ref import SecretRef
from tests.app.secret_workspace import SeededDice, keyring, store_in

CANARY = "canary-1c5d2f60"
TOKEN = SecretRef(place="token:pve/stockman@pve!stockman")


def desired(text: str = "") -> Desired:
    texts = render_preset("three-node")
    texts["cluster.yaml"] = texts["cluster.yaml"] + text
    return resolve(load({name: one.encode() for name, one in texts.items()}))


def places(directory: Path, **environment: str) -> StepSecrets:
    reference_context = surroundings(directory, **environment)
    return StepSecrets(reference_context, desired(), store_in(directory), SeededDice())


def surroundings(directory: Path, **environment: str) -> ReferenceContext:
    return ReferenceContext(directory=directory, keyring=keyring(), environment=environment)


def write(secrets: StepSecrets, secret_ref: SecretRef, text: str = CANARY) -> None:
    asyncio.run(secrets.write(secret_ref, Secret(text, resolved=True)))


def read(secrets: StepSecrets, secret_ref: SecretRef) -> str:
    return asyncio.run(secrets.read(secret_ref)).reveal()


def test_a_token_is_kept_encrypted(tmp_path: Path) -> None:
    found = places(tmp_path)

    write(found, TOKEN)

    assert read(found, TOKEN) == CANARY
    assert CANARY not in (tmp_path / FILE).read_text()


def test_the_same_token_changes_nothing(tmp_path: Path) -> None:
    found = places(tmp_path)
    write(found, TOKEN)
    before = (tmp_path / FILE).read_bytes()

    write(found, TOKEN)

    assert (tmp_path / FILE).read_bytes() == before


def test_a_token_that_was_emptied_is_not_there(tmp_path: Path) -> None:
    found = places(tmp_path)
    write(found, TOKEN)
    write(found, TOKEN, "")

    with pytest.raises(NotFound):
        read(found, TOKEN)
    cluster = with_stored_tokens(desired(), surroundings(tmp_path)).proxmox[0]
    assert cluster.token_secret is None


def test_a_kept_token_counts_where_the_configuration_gives_none(tmp_path: Path) -> None:
    write(places(tmp_path), TOKEN)

    cluster = with_stored_tokens(desired(), surroundings(tmp_path)).proxmox[0]

    assert cluster.token_secret is not None
    assert cluster.token_secret.form is SecretForm.SOPS


def test_a_variable_that_is_set_counts_first(tmp_path: Path) -> None:
    write(places(tmp_path), TOKEN)

    reference_context = surroundings(tmp_path, PROXMOX_TOKEN_SECRET="another")
    cluster = with_stored_tokens(desired(), reference_context).proxmox[0]

    assert cluster.token_secret is not None
    assert cluster.token_secret.form is SecretForm.ENVIRONMENT


def test_a_component_reads_the_token_that_was_made_for_it(tmp_path: Path) -> None:
    write(places(tmp_path), SecretRef(place="token:pve/stockman-ccm@pve!ccm"))
    wished = desired("components: {proxmox-ccm: {enabled: true}}\n")

    component = with_stored_tokens(wished, surroundings(tmp_path)).components["proxmox-ccm"]

    assert component.secrets["token-pve"].form is SecretForm.SOPS


def test_a_private_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    found = places(tmp_path)
    secret_ref = SecretRef(place="private:kubeconfig")

    write(found, secret_ref)

    assert read(found, secret_ref) == CANARY
    assert (tmp_path / "kubeconfig").stat().st_mode & 0o777 == 0o600


def test_what_is_not_there_is_told_without_its_content(tmp_path: Path) -> None:
    for text in ("private:kubeconfig", "${NOWHERE}", "file:nothing", "sops:no.yaml#a", "just so"):
        with pytest.raises(NotFound) as caught:
            read(places(tmp_path), SecretRef(place=text))
        assert caught.value.problem.code == "secret.nothing-there"


def test_a_variable_is_no_place_to_write_to(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        write(places(tmp_path), SecretRef(place="${PROXMOX_TOKEN_SECRET}"))

    assert caught.value.problem.code == "secret.unwritable-place"
    assert CANARY not in str(caught.value)
