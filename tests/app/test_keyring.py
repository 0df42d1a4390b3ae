"""Identities at hand: where they come from, and what is odd about those places."""

import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from stockman.app.secrets.keyring import Keyring, default_key_file, find_keyring
from stockman.crypto.age.identities import AgeIdentity
from stockman.model.errors import Denied
from stockman.ports.environment import NoAnswer
from tests.crypto.keys_at_hand import OTHER, OWNER, QUANTUM

COMMAND = "keys for stockman"


def line(identity: AgeIdentity) -> str:
    return identity.text.reveal()


def key_file(path: Path, *identities: AgeIdentity, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# a comment\n" + "".join(f"{line(identity)}\n" for identity in identities))
    path.chmod(mode)
    return path


def recipients(keyring: Keyring) -> list[str]:
    return [identity.recipient for identity in keyring.identities]


def codes(keyring: Keyring) -> list[str]:
    return [problem.code for problem in keyring.problems]


class TellingCommand:
    """A command that knows some identities by their recipients, and what it was asked."""

    def __init__(self, known: Mapping[str, str] | None = None, failure: str = "") -> None:
        self._known = known or {}
        self._failure = failure
        self.asked: list[str] = []

    def output(self, command: str, extra: Mapping[str, str]) -> bytes:
        assert command == COMMAND
        self.asked.append(extra["SOPS_AGE_RECIPIENT"])
        if self._failure:
            raise NoAnswer(self._failure)
        return self._known.get(extra["SOPS_AGE_RECIPIENT"], "").encode()


def with_command(directory: Path, command: TellingCommand, **more: str) -> Keyring:
    return find_keyring(directory, {"SOPS_AGE_KEY_CMD": COMMAND, **more}, runner=command)


def test_all_places_are_united(tmp_path: Path) -> None:
    key_file(tmp_path / "age.key", OWNER)
    key_file(tmp_path / "home/.config/sops/age/keys.txt", QUANTUM)
    key_file(tmp_path / "named.txt", OTHER)

    keyring = find_keyring(
        tmp_path, {"SOPS_AGE_KEY_FILE": "named.txt", "HOME": str(tmp_path / "home")}
    )

    assert recipients(keyring) == [OTHER.recipient, OWNER.recipient, QUANTUM.recipient]
    assert [source.name for source in keyring.sources] == [
        "SOPS_AGE_KEY_FILE (named.txt)",
        "age.key",
        str(tmp_path / "home/.config/sops/age/keys.txt"),
    ]
    assert not keyring.problems


def test_no_identity_is_a_state_until_something_has_to_be_opened(tmp_path: Path) -> None:
    keyring = find_keyring(tmp_path, {"HOME": str(tmp_path)})

    assert keyring.identities == ()
    assert not keyring.problems
    with pytest.raises(Denied, match=r"key\.none") as caught:
        keyring.identities_for([OWNER.recipient], "a.sops.yaml")
    assert "age.key" in caught.value.problem.why
    assert "keys.txt" in caught.value.problem.why


def test_the_variable_takes_several_identities_on_one_line(tmp_path: Path) -> None:
    keyring = find_keyring(tmp_path, {"SOPS_AGE_KEY": f"# x\n{line(OWNER)} {line(QUANTUM)}\r\n"})

    assert recipients(keyring) == [OWNER.recipient, QUANTUM.recipient]


def test_a_file_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    key_file(tmp_path / "age.key", OWNER, OWNER)

    keyring = find_keyring(tmp_path, {"SOPS_AGE_KEY_FILE": str(tmp_path / "age.key")})

    assert recipients(keyring) == [OWNER.recipient]
    assert len(keyring.sources) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "there is none in it"),
        ("# only a comment\n", "there is none in it"),
        (f"{line(OWNER)}\nAGE-SECRET-KEY-1CANARY\n", "line 2: "),
        (f"{line(OWNER)} {line(OTHER)}\n", "line 1: "),
        ("AGE-PLUGIN-YUBIKEY-1CANARY\n", "line 1: it is one of a plugin"),
        ("-----BEGIN AGE ENCRYPTED FILE-----\nCANARY\n", "it is encrypted itself"),
        ("\x00\x01CANARY", "line 1: "),
    ],
)
def test_a_broken_place_is_a_warning_that_shows_no_key(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "broken.txt").write_text(text)
    (tmp_path / "broken.txt").chmod(0o600)
    key_file(tmp_path / "age.key", QUANTUM)

    keyring = find_keyring(tmp_path, {"SOPS_AGE_KEY_FILE": "broken.txt"})

    assert recipients(keyring) == [QUANTUM.recipient]
    assert codes(keyring) == ["key.source"]
    [problem] = keyring.problems
    assert why in problem.why
    assert "CANARY" not in str(problem)
    assert not problem.is_error


@pytest.mark.parametrize("name", ["missing.txt", "", "."])
def test_a_file_that_is_named_and_cannot_be_read_is_reported(tmp_path: Path, name: str) -> None:
    keyring = find_keyring(tmp_path, {"SOPS_AGE_KEY_FILE": name})

    assert codes(keyring) == ["key.source"]
    with pytest.raises(Denied) as caught:
        keyring.identities_for([OWNER.recipient], "a.sops.yaml")
    assert "SOPS_AGE_KEY_FILE" in caught.value.problem.why


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660, 0o777])
def test_a_key_that_others_can_open_is_reported_and_used(tmp_path: Path, mode: int) -> None:
    key_file(tmp_path / "age.key", OWNER, mode=mode)

    keyring = find_keyring(tmp_path, {})

    assert recipients(keyring) == [OWNER.recipient]
    assert codes(keyring) == ["key.mode"]
    assert f"{mode:04o}" in keyring.problems[0].why
    assert "--fix" in keyring.problems[0].fix


def test_fixing_makes_key_files_private(tmp_path: Path) -> None:
    path = key_file(tmp_path / "age.key", OWNER, mode=0o644)

    keyring = find_keyring(tmp_path, {}, fix=True)

    assert not keyring.problems
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_command_is_asked_for_each_recipient_until_one_fits(tmp_path: Path) -> None:
    command = TellingCommand({OWNER.recipient: f"{line(OWNER)}\n", OTHER.recipient: line(QUANTUM)})
    keyring = with_command(tmp_path, command)

    recipients = [OTHER.recipient, OWNER.recipient, QUANTUM.recipient]
    first = keyring.identities_for(recipients, "a.sops.yaml")
    second = keyring.identities_for(recipients, "b.sops.yaml")

    assert OWNER.recipient in [one.recipient for one in first]
    assert first == second
    assert command.asked == [OTHER.recipient, OWNER.recipient]


def test_the_command_is_not_run_while_another_identity_fits(tmp_path: Path) -> None:
    command = TellingCommand()
    keyring = with_command(tmp_path, command, SOPS_AGE_KEY=line(OWNER))

    keyring.identities_for([OWNER.recipient], "a.sops.yaml")

    assert command.asked == []


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (TellingCommand(failure="it ended with status 3"), "it ended with status 3"),
        (TellingCommand({OWNER.recipient: "CANARY"}), "output of SOPS_AGE_KEY_CMD:1"),
        (TellingCommand({OWNER.recipient: "CANÄRY"}), "no text"),
    ],
)
def test_a_command_that_fails_is_reported_without_its_words(
    tmp_path: Path, command: TellingCommand, why: str
) -> None:
    keyring = with_command(tmp_path, command)

    with pytest.raises(Denied, match=r"key\.none"):
        keyring.identities_for([OWNER.recipient], "a.sops.yaml")

    assert codes(keyring) == ["key.command"]
    assert why in keyring.problems[0].why
    assert "CAN" not in str(keyring.problems[0])


@pytest.mark.parametrize(
    ("environment", "directory"),
    [
        ({"HOME": "/home/x"}, Path("/home/x/.config/sops/age/keys.txt")),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/cfg"}, Path("/cfg/sops/age/keys.txt")),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, None),
        ({}, None),
    ],
)
def test_the_usual_place_is_that_of_sops(
    environment: dict[str, str], directory: Path | None
) -> None:
    assert default_key_file(environment) == directory
