"""The first encrypted files of a directory: made once, for an identity that opens them."""

import stat
from pathlib import Path

import pytest

from stockman.app.init.directory import InitOptions, InitResult, init_directory
from stockman.app.secrets.bundle import bundle_path, open_bundle
from stockman.app.secrets.keyring import find_keyring
from stockman.app.secrets.lock import LOCK, read_lock
from stockman.app.secrets.store import find_rules
from stockman.config.language import Dialect
from stockman.config.secret_keys import SECRET_KEYS, secret_key_regex
from tests.app.start_doors import CountingDice, doors, one_bundle
from tests.crypto.keys_at_hand import OTHER, OWNER

RULES = """\
creation_rules:
  - age: {}
"""


def started(directory: Path, dialect: Dialect = "classic", preset: str = "single") -> InitResult:
    return init_directory(InitOptions(directory=directory, preset=preset, dialect=dialect), doors())


def states(run: InitResult) -> dict[str, str]:
    return {file.path: file.state for file in run.files}


def codes(run: InitResult) -> list[str]:
    return [problem.code for problem in run.problems]


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_the_bundle_opens_with_the_key_that_was_made_beside_it(
    tmp_path: Path, dialect: Dialect
) -> None:
    started(tmp_path, dialect)

    assert open_bundle(tmp_path, find_keyring(tmp_path, {})) == one_bundle()
    assert one_bundle().cluster.secret.reveal() not in (tmp_path / bundle_path(dialect)).read_text()


@pytest.mark.parametrize(
    ("name", "selector", "only_encrypted"),
    [
        ("cluster.yaml", secret_key_regex(), True),
        ("nodes.yaml", secret_key_regex(), True),
        ("talos/talsecret.sops.yaml", "_unencrypted", True),
        ("talos/deep/er.sops.yml", "_unencrypted", True),
        ("kubernetes/apps/secret.sops.yaml", "^(data|stringData)$", True),
        ("bootstrap/sops-age.sops.yaml", "^(data|stringData)$", True),
    ],
)
def test_the_rules_encrypt_each_file_as_upstream_does(
    tmp_path: Path, name: str, selector: str, only_encrypted: bool
) -> None:
    started(tmp_path)

    recipe = find_rules(tmp_path, {}).rule_for(name).recipe

    assert (recipe.selector.pattern, recipe.only_encrypted) == (selector, only_encrypted)
    assert recipe.indent == 2
    assert recipe.recipients == (find_keyring(tmp_path, {}).identities[0].recipient,)


def test_the_rule_for_the_configuration_matches_secret_keys_and_no_others() -> None:
    from stockman.config.reference.keys import keys_by_path

    named = set(SECRET_KEYS)

    assert "cloudflare_token" in named
    wrong = [
        path
        for path, key in keys_by_path().items()
        if any(step in named for step in path.split(".")) != key.secret
    ]
    assert wrong == []


def test_a_directory_without_nodes_gets_rules_and_no_bundle(tmp_path: Path) -> None:
    run = started(tmp_path, preset="home")

    assert states(run)[".sops.yaml"] == "written"
    assert not (tmp_path / "talos").exists()
    assert run.complete


def test_an_existing_bundle_is_never_made_anew(tmp_path: Path) -> None:
    started(tmp_path)
    before = (tmp_path / "talos/talsecret.sops.yaml").read_bytes()
    (tmp_path / "cluster.yaml").unlink()

    run = started(tmp_path)

    assert states(run)["talos/talsecret.sops.yaml"] == "kept"
    assert (tmp_path / "talos/talsecret.sops.yaml").read_bytes() == before


@pytest.mark.parametrize("content", [b"mine\n", b"", b"AGE-SECRET-KEY-1QQQ\n", b"\xff\xfe"])
def test_nothing_is_encrypted_without_an_identity_that_can_open_it(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "age.key").write_bytes(content)

    run = started(tmp_path)

    assert codes(run) == ["init.no-identity"]
    assert states(run)[".sops.yaml"] == "refused"
    assert states(run)["talos/talsecret.sops.yaml"] == "refused"
    assert not (tmp_path / ".sops.yaml").exists()
    assert not run.complete


def test_rules_for_other_recipients_get_no_bundle_that_nobody_here_could_open(
    tmp_path: Path,
) -> None:
    (tmp_path / "age.key").write_text(f"{OWNER.text.reveal()}\n")
    (tmp_path / ".sops.yaml").write_text(RULES.format(OTHER.recipient))

    run = started(tmp_path)

    assert codes(run) == ["init.other-recipients"]
    assert states(run)["talos/talsecret.sops.yaml"] == "refused"


@pytest.mark.parametrize("text", ["creation_rules: 3\n", "creation_rules:\n  - path_regex: x$\n"])
def test_rules_that_cannot_be_used_are_kept_and_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / ".sops.yaml").write_text(text)

    run = started(tmp_path)

    assert codes(run) == ["init.no-bundle"]
    assert (tmp_path / ".sops.yaml").read_text() == text
    assert not run.complete


def test_the_bundle_of_the_other_dialect_is_not_doubled(tmp_path: Path) -> None:
    started(tmp_path, "toml")
    (tmp_path / "cluster.toml").unlink()

    run = started(tmp_path, "classic")

    assert codes(run) == ["init.no-bundle"]
    assert "git mv" in next(iter(run.problems)).fix
    assert not (tmp_path / "talos/talsecret.sops.yaml").exists()


def test_a_bundle_that_the_lock_file_does_not_know_is_sealed_by_the_next_run(
    tmp_path: Path,
) -> None:
    started(tmp_path)
    (tmp_path / LOCK).unlink()

    run = started(tmp_path)

    assert states(run)[LOCK] == "written"
    assert list(read_lock(tmp_path).seals) == ["talos/talsecret.sops.yaml"]


def test_encrypted_files_are_for_everyone_and_need_no_dice_when_they_are_there(
    tmp_path: Path,
) -> None:
    started(tmp_path)

    again = init_directory(
        InitOptions(directory=tmp_path, preset="single"), doors(dice=CountingDice(throws=0))
    )

    assert set(states(again).values()) == {"kept"}
    for name in (".sops.yaml", "talos/talsecret.sops.yaml", LOCK):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) & 0o044
