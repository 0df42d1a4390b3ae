"""The secrets bundle of a directory: made, taken from a running cluster, and opened."""

import base64
from pathlib import Path

import pytest

from stockman.app.secrets.bundle import bundle_path, open_bundle
from stockman.app.secrets.bundle_creation import BundleCreation, create_bundle
from stockman.app.secrets.store import SecretStore
from stockman.model.errors import Conflict, Denied, NotFound, Refused, StockmanError
from stockman.talos.secrets.bundle import SecretsBundle, bundle_text
from tests.app.secret_workspace import NOBODY, contents, keyring, store_in
from tests.app.start_doors import CountingDice, StandingClock, one_bundle, same_bundle
from tests.crypto.keys_at_hand import OTHER

NAME = "talos/talsecret.sops.yaml"
MAKING = BundleCreation(clock=StandingClock(), entropy=CountingDice(), make_bundle=same_bundle)


def plain() -> str:
    return bundle_text(one_bundle()).reveal()


def machine_config(bundle: SecretsBundle, kind: str = "controlplane") -> str:
    certs = bundle.certs

    def pair(crt: str, key: str) -> str:
        return f"{{crt: {encoded(crt)}, key: {encoded(key)}}}"

    secretbox = bundle.secrets.secretboxencryptionsecret
    assert secretbox is not None
    return f"""\
version: v1alpha1
machine:
  type: {kind}
  token: {bundle.trustdinfo.token.reveal()}
  ca: {pair(certs.os.crt, certs.os.key.reveal())}
cluster:
  id: {bundle.cluster.id}
  secret: {bundle.cluster.secret.reveal()}
  token: {bundle.secrets.bootstraptoken.reveal()}
  secretboxEncryptionSecret: {secretbox.reveal()}
  ca: {pair(certs.k8s.crt, certs.k8s.key.reveal())}
  aggregatorCA: {pair(certs.k8saggregator.crt, certs.k8saggregator.key.reveal())}
  serviceAccount: {{key: {encoded(certs.k8sserviceaccount.reveal())}}}
  etcd: {{ca: {pair(certs.etcd.crt, certs.etcd.key.reveal())}}}
"""


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture
def store(tmp_path: Path) -> SecretStore:
    return store_in(tmp_path / "in")


def test_a_new_bundle_is_encrypted_and_opens(store: SecretStore) -> None:
    assert create_bundle(store, MAKING) == NAME

    assert open_bundle(store.directory, store.keyring) == one_bundle()
    text = (store.directory / NAME).read_text()
    assert one_bundle().cluster.secret.reveal() not in text
    assert one_bundle().cluster.id not in text


def test_its_place_follows_the_dialect(store: SecretStore) -> None:
    (store.directory / "cluster.toml").write_text("")

    assert create_bundle(store, MAKING) == bundle_path("toml") == "talos/secrets.sops.yaml"


def test_an_existing_bundle_is_never_overwritten(store: SecretStore, tmp_path: Path) -> None:
    create_bundle(store, MAKING)
    (tmp_path / "secrets.yaml").write_text(plain())
    before = contents(store.directory)

    for source in (None, tmp_path / "secrets.yaml"):
        with pytest.raises(Conflict, match=r"secret\.exists"):
            create_bundle(store, MAKING, source=source)

    assert contents(store.directory) == before


def test_the_bundle_of_the_other_dialect_counts_as_existing(store: SecretStore) -> None:
    create_bundle(store, MAKING)
    (store.directory / "cluster.toml").write_text("")

    with pytest.raises(Conflict, match=r"bundle\.elsewhere"):
        create_bundle(store, MAKING)


def test_the_secrets_of_a_running_cluster_are_taken(store: SecretStore, tmp_path: Path) -> None:
    (tmp_path / "cp.yaml").write_text(machine_config(one_bundle()))

    create_bundle(store, MAKING, source=tmp_path / "cp.yaml")

    assert open_bundle(store.directory, store.keyring) == one_bundle()


def test_a_bundle_is_taken_plain_and_encrypted(store: SecretStore, tmp_path: Path) -> None:
    (tmp_path / "secrets.yaml").write_text(plain())
    create_bundle(store, MAKING, source=tmp_path / "secrets.yaml")
    (tmp_path / "talsecret.sops.yaml").write_bytes((store.directory / NAME).read_bytes())
    secret_store = store_in(tmp_path / "other")

    create_bundle(secret_store, MAKING, source=tmp_path / "talsecret.sops.yaml")

    assert open_bundle(secret_store.directory, secret_store.keyring) == one_bundle()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (machine_config(one_bundle(), "worker"), "bundle.worker"),
        (machine_config(one_bundle()).replace("  etcd:", "  notcd:"), "bundle.missing"),
        (plain().replace("trustdinfo:", "trusted:"), "bundle.missing"),
        ("", "bundle.missing"),
        ("a: [", "yaml.syntax"),
        ("\ud800", "config.not-a-mapping"),
    ],
)
def test_what_holds_no_whole_bundle_is_refused_and_nothing_is_made(
    store: SecretStore, tmp_path: Path, text: str, code: str
) -> None:
    (tmp_path / "from.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))

    with pytest.raises(StockmanError) as caught:
        create_bundle(store, MAKING, source=tmp_path / "from.yaml")

    assert caught.value.problem.code == code
    assert one_bundle().cluster.secret.reveal() not in str(caught.value.problem)
    assert not (store.directory / "talos").exists()


def test_a_missing_bundle_names_the_command_that_makes_it(store: SecretStore) -> None:
    with pytest.raises(NotFound, match=r"bundle\.absent") as caught:
        open_bundle(store.directory, store.keyring)

    assert "stockman secrets create" in caught.value.problem.fix


def test_a_bundle_in_the_clear_is_refused(store: SecretStore) -> None:
    (store.directory / "talos").mkdir()
    (store.directory / NAME).write_text(plain())

    with pytest.raises(NotFound, match=r"sops\.not-encrypted"):
        open_bundle(store.directory, store.keyring)


@pytest.mark.parametrize(
    ("keys", "code"), [(NOBODY, r"key\.none"), (keyring(OTHER), r"sops\.wrong-identity")]
)
def test_a_bundle_needs_an_identity_that_fits(store: SecretStore, keys: object, code: str) -> None:
    create_bundle(store, MAKING)

    with pytest.raises(Denied, match=code):
        open_bundle(store.directory, keys)  # type: ignore[arg-type]  # a keyring


def test_a_bundle_with_a_missing_part_names_it(store: SecretStore) -> None:
    store.create(NAME, plain().replace("k8saggregator:", "k8sother:").encode())

    with pytest.raises(Refused, match=r"bundle\.missing") as caught:
        open_bundle(store.directory, store.keyring)

    assert "certs.k8saggregator" in caught.value.problem.what
