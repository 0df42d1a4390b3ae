"""The real `age-keygen` and `ssh-keygen` read the keys that `init` made."""

import shutil
import subprocess
from pathlib import Path

import pytest

from stockman.adapters.git.probe import LocalGitProbe
from stockman.adapters.system import SystemClock, SystemEntropy
from stockman.app.init.directory import InitContext, InitOptions, init_directory
from stockman.config.language import Dialect
from tools.pytest_plugin import RealTool


def started_in(directory: Path, dialect: Dialect) -> Path:
    init_context = InitContext(
        clock=SystemClock(), entropy=SystemEntropy(), repo=LocalGitProbe(directory)
    )
    init_directory(InitOptions(directory=directory, preset="single", dialect=dialect), init_context)
    return directory


@pytest.fixture
def started(tmp_path: Path) -> Path:
    return started_in(tmp_path, "classic")


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_age_keygen_finds_the_recipient_that_the_file_names(
    started: Path, real_tool: RealTool
) -> None:
    recipient = output(real_tool("age-keygen"), "-y", started / "age.key")

    _, named, _ = (started / "age.key").read_text().splitlines()
    assert named == f"# public key: {recipient.strip()}"


def test_the_file_has_the_form_of_age_keygens_own(started: Path, real_tool: RealTool) -> None:
    theirs = output(real_tool("age-keygen")).splitlines()
    ours = (started / "age.key").read_text().splitlines()

    assert [_form(line) for line in ours] == [_form(line) for line in theirs]
    assert ours[0].startswith("# created: ")


def test_age_opens_with_the_identity_what_was_made_for_the_recipient(
    started: Path, real_tool: RealTool
) -> None:
    age = real_tool("age")
    recipient = (started / "age.key").read_text().splitlines()[1].removeprefix("# public key: ")
    (started / "plain").write_text("sheep\n")

    output(age, "-r", recipient, "-o", started / "closed", started / "plain")

    assert output(age, "-d", "-i", started / "age.key", started / "closed") == "sheep\n"


def test_the_toml_dialect_has_a_post_quantum_key_that_age_takes(
    tmp_path: Path, real_tool: RealTool
) -> None:
    key = started_in(tmp_path, "toml") / "age.key"
    recipient = output(real_tool("age-keygen"), "-y", key).strip()
    theirs = output(real_tool("age-keygen"), "-pq").splitlines()
    (tmp_path / "plain").write_text("sheep\n")

    output(real_tool("age"), "-r", recipient, "-o", tmp_path / "closed", tmp_path / "plain")

    assert recipient.startswith("age1pq1")
    assert key.read_text().splitlines()[1] == f"# public key: {recipient}"
    assert [_form(line) for line in key.read_text().splitlines()] == [
        _form(their) for their in theirs
    ]
    assert output(real_tool("age"), "-d", "-i", key, tmp_path / "closed") == "sheep\n"


def test_ssh_keygen_finds_the_public_key_of_the_private_one(started: Path) -> None:
    program = shutil.which("ssh-keygen")
    if program is None:
        pytest.skip("there is no ssh-keygen on this machine")

    public = output(program, "-y", "-f", started / "github-deploy.key")

    assert public == (started / "github-deploy.key.pub").read_text()
    fingerprint = output(program, "-l", "-f", started / "github-deploy.key.pub")
    assert "256 SHA256:" in fingerprint
    assert "(ED25519)" in fingerprint


def test_the_public_key_of_a_key_with_a_passphrase_is_found_too(started: Path) -> None:
    program = shutil.which("ssh-keygen")
    if program is None:
        pytest.skip("there is no ssh-keygen on this machine")
    private = started / "github-deploy.key"
    public = private.with_suffix(".key.pub")
    before = public.read_text()
    output(program, "-q", "-p", "-P", "", "-N", "a passphrase", "-f", private)
    public.unlink()

    init_context = InitContext(
        clock=SystemClock(), entropy=SystemEntropy(), repo=LocalGitProbe(started)
    )
    init_directory(InitOptions(directory=started, preset="single"), init_context)

    assert public.read_text() == before


def _form(line: str) -> tuple[str, int]:
    """The words of a line and its length, apart from the time and the key."""
    word = line.partition("1")[0] if "1" in line and not line.startswith("# created") else line[:11]
    return word, 0 if line.startswith("# created") else len(line)
