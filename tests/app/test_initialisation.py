"""Starting a directory: what is made, what is kept, and what happens when something is odd."""

import stat
import subprocess
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from stockman.adapters.git.probe import LocalGitProbe
from stockman.adapters.system import SystemClock, SystemEntropy
from stockman.app.init.directory import (
    InitContext,
    InitOptions,
    InitResult,
    init_directory,
    invalid_option,
)
from stockman.app.rendering.validation import validate
from stockman.config.presets import PRESETS, Answers
from stockman.model.errors import Conflict, StockmanError, WrongUsage
from stockman.ports.environment import GitFileState
from tests.app.start_doors import CountingDice, doors
from tests.crypto.keys_at_hand import OWNER

CLASSIC_SECRETS = [
    "age.key",
    "github-deploy.key",
    "github-deploy.key.pub",
    "github-push-token.txt",
]
TOML_SECRETS = ["age.key", "deploy.key", "deploy.key.pub", "flux-webhook-token.txt"]
FILES = {
    ".gitignore",
    ".sops.yaml",
    ".stockman/secrets.lock",
    "talos/talsecret.sops.yaml",
    "cluster.yaml",
    "nodes.yaml",
    ".schemas/cluster.schema.json",
    ".schemas/nodes.schema.json",
    *CLASSIC_SECRETS,
}


def wish(directory: Path, **more: Any) -> InitOptions:
    return InitOptions(directory=directory, **({"preset": "single"} | more))


def states(started: InitResult) -> dict[str, str]:
    return {file.path: file.state for file in started.files}


def codes(started: InitResult) -> list[str]:
    return [problem.code for problem in started.problems]


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def in_git(directory: Path, *arguments: str) -> str:
    command = ["git", "-C", str(directory), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_everything_is_made_in_a_new_directory(tmp_path: Path) -> None:
    started = init_directory(wish(tmp_path / "new" / "cluster"), doors())

    assert states(started) == dict.fromkeys(FILES, "written")
    assert set(contents(tmp_path / "new" / "cluster")) == FILES
    assert started.complete
    assert not started.problems


@pytest.mark.parametrize("dialect", [None, "toml"])
@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_made_is_valid(tmp_path: Path, preset: str, dialect: str | None) -> None:
    network = IPv4Network("127.66.0.0/16")

    init_directory(wish(tmp_path, preset=preset, dialect=dialect, network=network), doors())

    assert [str(problem) for problem in validate(tmp_path).problems] == []


def test_secrets_are_for_their_owner_alone_and_the_directory_stays_as_it_was(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o750)

    init_directory(wish(tmp_path), doors())

    for name in CLASSIC_SECRETS:
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750


def test_the_toml_dialect_has_its_own_names(tmp_path: Path) -> None:
    started = init_directory(wish(tmp_path, dialect="toml"), doors())

    assert [file.path for file in started.files if file.secret] == TOML_SECRETS
    assert (tmp_path / "cluster.toml").is_file()
    assert (tmp_path / ".schemas" / "cluster.toml.schema.json").is_file()
    assert not (tmp_path / "cluster.yaml").exists()


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    init_directory(wish(tmp_path), doors())
    before = contents(tmp_path)

    again = init_directory(wish(tmp_path), doors(dice=CountingDice(throws=0)))

    assert contents(tmp_path) == before
    assert states(again) == dict.fromkeys(FILES, "kept")
    assert again.complete
    assert again.texts == {}


def test_a_second_run_in_a_toml_directory_stays_with_toml(tmp_path: Path) -> None:
    init_directory(wish(tmp_path, dialect="toml"), doors())
    before = contents(tmp_path)

    again = init_directory(wish(tmp_path), doors())

    assert again.dialect == "toml"
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", sorted(FILES - {".gitignore"}))
def test_a_file_that_exists_is_never_overwritten(tmp_path: Path, name: str) -> None:
    init_directory(wish(tmp_path / "whole"), doors())
    mine = b"nodes: []\n" if name.endswith(".yaml") else b"mine\n"
    path = tmp_path / "here" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(mine)
    path.chmod(0o640)

    started = init_directory(wish(tmp_path / "here"), doors())

    assert path.read_bytes() == mine
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert states(started)[name] == "kept"


def test_lines_of_the_users_gitignore_stay(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"*.tmp\n!keep.tmp")

    started = init_directory(wish(tmp_path), doors())

    text = (tmp_path / ".gitignore").read_text()
    assert text.startswith("*.tmp\n!keep.tmp\n\n# ")
    assert "\n/age.key\n" in text
    assert states(started)[".gitignore"] == "extended"


@pytest.mark.parametrize("throws", range(35))
def test_an_interrupted_run_is_finished_by_the_next(tmp_path: Path, throws: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        init_directory(wish(tmp_path), doors(dice=CountingDice(throws=throws)))
    half = contents(tmp_path)
    assert b"/age.key\n" in half.get(".gitignore", b"/age.key\n")

    started = init_directory(wish(tmp_path), doors())

    whole = contents(tmp_path)
    assert set(whole) == FILES
    assert started.complete
    assert {name: whole[name] for name in half} == half


def test_an_interruption_leaves_no_secret_that_git_does_not_ignore(tmp_path: Path) -> None:
    for throws in range(35):
        path = tmp_path / str(throws)
        with pytest.raises(KeyboardInterrupt):
            init_directory(wish(path), doors(dice=CountingDice(throws=throws)))

        secrets = [name for name in contents(path) if name in CLASSIC_SECRETS]
        assert not secrets or (path / ".gitignore").is_file()


def test_what_a_killed_run_left_half_written_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".schemas").mkdir()
    (tmp_path / ".age.key.00aa.stockman-new").write_bytes(b"half")
    (tmp_path / ".schemas" / ".nodes.schema.json.00aa.stockman-new").write_bytes(b"half")

    init_directory(wish(tmp_path), doors())

    assert set(contents(tmp_path)) == FILES


def test_a_public_key_that_is_missing_is_made_from_the_private_one(tmp_path: Path) -> None:
    init_directory(wish(tmp_path), doors())
    public = (tmp_path / "github-deploy.key.pub").read_bytes()
    (tmp_path / "github-deploy.key.pub").unlink()

    init_directory(wish(tmp_path), doors())

    assert (tmp_path / "github-deploy.key.pub").read_bytes() == public


def test_a_public_key_alone_gets_no_other_private_key(tmp_path: Path) -> None:
    (tmp_path / "github-deploy.key.pub").write_bytes(b"ssh-ed25519 mine\n")

    started = init_directory(wish(tmp_path), doors())

    assert codes(started) == ["init.half-key"]
    assert states(started)["github-deploy.key"] == "refused"
    assert not (tmp_path / "github-deploy.key").exists()
    assert not started.complete


def test_a_private_key_of_another_kind_gets_no_public_key(tmp_path: Path) -> None:
    (tmp_path / "github-deploy.key").write_bytes(b"-----BEGIN RSA PRIVATE KEY-----\n")

    started = init_directory(wish(tmp_path), doors())

    assert codes(started) == ["init.unknown-key"]
    assert states(started)["github-deploy.key.pub"] == "refused"


@pytest.mark.parametrize("name", CLASSIC_SECRETS)
def test_a_link_in_the_place_of_a_secret_is_not_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / name).symlink_to(tmp_path / "elsewhere")

    started = init_directory(wish(tmp_path / "here"), doors())

    assert not (tmp_path / "elsewhere").exists()
    assert (tmp_path / "here" / name).is_symlink()
    assert "init.not-a-file" in codes(started)


def test_a_link_to_a_secret_that_exists_is_kept(tmp_path: Path) -> None:
    (tmp_path / "keys.txt").write_text(f"{OWNER.text.reveal()}\n")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "age.key").symlink_to(tmp_path / "keys.txt")

    started = init_directory(wish(tmp_path / "here"), doors())

    assert (tmp_path / "keys.txt").read_text() == f"{OWNER.text.reveal()}\n"
    assert states(started)["age.key"] == "kept"
    assert not started.problems


def test_a_gitignore_that_is_a_link_stops_everything(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(Conflict, match=r"init\.gitignore-link"):
        init_directory(wish(tmp_path), doors())

    assert names(tmp_path) == [".gitignore"]


def test_a_directory_in_the_place_of_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "age.key").mkdir()

    started = init_directory(wish(tmp_path), doors())

    assert codes(started) == ["init.no-identity", "init.not-a-file"]
    assert (tmp_path / "age.key").is_dir()


def test_a_directory_in_the_place_of_the_configuration_is_reported(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").mkdir()

    assert codes(init_directory(wish(tmp_path), doors())) == ["init.not-a-file"]


def test_a_dry_run_writes_nothing_and_tells_the_same(tmp_path: Path) -> None:
    init_result = init_directory(
        wish(tmp_path / "new"), doors(dice=CountingDice(throws=0)), dry_run=True
    )

    assert not (tmp_path / "new").exists()
    assert states(init_result) == dict.fromkeys(FILES, "written")
    assert set(init_result.texts) == {"cluster.yaml", "nodes.yaml"}


def test_a_dry_run_leaves_existing_files_alone(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"*.tmp\n")
    (tmp_path / "age.key").write_bytes(b"mine\n")
    before = contents(tmp_path)

    init_result = init_directory(wish(tmp_path), doors(), dry_run=True)

    assert contents(tmp_path) == before
    assert states(init_result)[".gitignore"] == "extended"
    assert states(init_result)["age.key"] == "kept"


@pytest.mark.parametrize("text", ["cluster.yaml", "nodes.yaml"])
def test_toml_is_not_written_beside_classic_files(tmp_path: Path, text: str) -> None:
    (tmp_path / text).write_bytes(b"")

    with pytest.raises(Conflict, match=r"init\.other-dialect"):
        init_directory(wish(tmp_path, dialect="toml"), doors())

    assert names(tmp_path) == [text]


def test_classic_files_are_not_written_beside_toml(tmp_path: Path) -> None:
    (tmp_path / "cluster.toml").write_bytes(b"")

    with pytest.raises(Conflict, match=r"init\.other-dialect"):
        init_directory(wish(tmp_path, dialect="classic"), doors())


def test_a_kept_file_that_does_not_fit_the_new_one_is_reported(tmp_path: Path) -> None:
    init_directory(wish(tmp_path, preset="three-node"), doors())
    (tmp_path / "nodes.yaml").unlink()

    started = init_directory(wish(tmp_path, preset="fifteen-node"), doors())

    assert codes(started) == ["init.not-together"]
    assert states(started)["cluster.yaml"] == "kept"
    assert states(started)["nodes.yaml"] == "written"


def test_answers_that_do_not_fit_are_all_told_and_nothing_is_written(tmp_path: Path) -> None:
    answers = Answers(cluster_name="No Name", talos_version="1.2.3", domain="nowhere")

    started = init_directory(wish(tmp_path / "new", answers=answers), doors())

    assert started.has_invalid_options
    assert not started.complete
    assert started.files == ()
    assert len(started.problems.errors) >= 3
    assert not (tmp_path / "new").exists()


def test_a_network_that_is_too_small_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match=r"network\.too-small"):
        init_directory(wish(tmp_path, network=IPv4Network("127.66.0.0/29")), doors())


def test_a_complaint_tells_what_is_wrong_and_what_would_do(tmp_path: Path) -> None:
    overlap = wish(tmp_path, network=IPv4Network("10.42.0.0/16"))
    small = wish(tmp_path, network=IPv4Network("127.66.0.0/30"))

    assert "overlaps" in invalid_option(overlap)
    assert "or larger" in invalid_option(small)
    assert "write for example" in invalid_option(
        wish(tmp_path, answers=Answers(cluster_name="A B"))
    )
    assert invalid_option(wish(tmp_path)) == ""


def test_a_place_that_cannot_be_written_is_one_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(StockmanError, match=r"init\.unwritable"):
        init_directory(wish(tmp_path / "file" / "below"), doors())


@pytest.mark.parametrize("name", ["age.key", "github-deploy.key", "github-push-token.txt"])
def test_a_secret_that_git_tracks_is_not_made(tmp_path: Path, name: str) -> None:
    standings: dict[str, GitFileState] = {name: "tracked"}

    started = init_directory(wish(tmp_path), doors(standings=standings))

    assert "init.tracked-secret" in codes(started)
    assert states(started)[name] == "refused"
    assert not (tmp_path / name).exists()
    assert not started.complete


def test_a_secret_that_git_tracks_and_that_exists_is_kept_and_reported(tmp_path: Path) -> None:
    (tmp_path / "age.key").write_text(f"{OWNER.text.reveal()}\n")

    started = init_directory(wish(tmp_path), doors(standings={"age.key": "tracked"}))

    assert codes(started) == ["init.tracked-secret"]
    assert states(started)["age.key"] == "kept"


def test_a_configuration_that_git_ignores_is_reported(tmp_path: Path) -> None:
    started = init_directory(wish(tmp_path), doors(standings={"cluster.yaml": "ignored"}))

    assert codes(started) == ["init.ignored"]
    assert started.complete


def test_the_real_git_agrees_with_a_fresh_directory(tmp_path: Path) -> None:
    in_git(tmp_path, "init", "-q")
    real = InitContext(clock=SystemClock(), entropy=SystemEntropy(), repo=LocalGitProbe(tmp_path))

    started = init_directory(wish(tmp_path), real)
    in_git(tmp_path, "add", "--all")

    assert not started.problems
    assert set(in_git(tmp_path, "ls-files").split()) == FILES - set(CLASSIC_SECRETS)


def test_the_real_git_tells_of_a_line_that_takes_a_secret_back_in(tmp_path: Path) -> None:
    in_git(tmp_path, "init", "-q")
    init_directory(wish(tmp_path), doors())
    with (tmp_path / ".gitignore").open("a") as file:
        file.write("!age.key\n")
    (tmp_path / "age.key").unlink()
    real = InitContext(clock=SystemClock(), entropy=SystemEntropy(), repo=LocalGitProbe(tmp_path))

    assert codes(init_directory(wish(tmp_path), real)) == ["init.not-ignored"]


def test_two_directories_never_share_a_secret(tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        path = tmp_path / name
        real = InitContext(clock=SystemClock(), entropy=SystemEntropy(), repo=LocalGitProbe(path))
        init_directory(wish(path), real)
        made.append(contents(path))

    for name in CLASSIC_SECRETS:
        assert made[0][name] != made[1][name]


def test_what_a_start_returns_holds_no_secret(tmp_path: Path) -> None:
    started = init_directory(wish(tmp_path), doors())

    shown = f"{started!r}"
    for name in CLASSIC_SECRETS:
        for line in (tmp_path / name).read_text().splitlines():
            assert line not in shown or line.startswith("-----")
