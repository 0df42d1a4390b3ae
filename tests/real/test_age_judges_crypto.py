"""The real `age` opens what we close, and we open what it closes."""

import subprocess
from pathlib import Path

import pytest

from stockman.crypto.age.files import CHUNK_BYTES, decrypt, encrypt
from stockman.crypto.age.identities import AgeIdentity, parse_identities, parse_recipient
from stockman.model.errors import StockmanError
from tests.crypto.generated import Dice
from tests.crypto.keys_at_hand import OTHER, OWNER, QUANTUM
from tools.pytest_plugin import RealTool

SIZES = (0, 1, 48, CHUNK_BYTES, CHUNK_BYTES + 1, 300_000)


def run(program: Path, *arguments: str | Path, given: bytes = b"") -> bytes | None:
    """What the program prints; None: it refused."""
    done = subprocess.run([program, *arguments], input=given, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    file = tmp_path / "keys.txt"
    lines = ["# all of them", *(one.text.reveal() for one in (OTHER, OWNER, QUANTUM)), ""]
    file.write_text("\n".join(lines))
    return file


@pytest.mark.parametrize("armor", [False, True])
@pytest.mark.parametrize("identity", [OWNER, QUANTUM], ids=["classic", "post-quantum"])
def test_files_are_opened_both_ways(
    identity: AgeIdentity, armor: bool, keys: Path, real_tool: RealTool
) -> None:
    age = real_tool("age")
    dice = Dice("sizes")
    for size in SIZES:
        plain = dice.bytes(size)
        ours = encrypt(plain, [parse_recipient(identity.recipient)], dice.bytes, armor=armor)
        theirs = run(age, *(["-a"] if armor else []), "-r", identity.recipient, given=plain)

        assert run(age, "-d", "-i", keys, given=ours) == plain
        assert theirs is not None
        assert decrypt(theirs, [OTHER, identity]) == plain


def test_files_for_several_recipients_are_opened_both_ways(keys: Path, real_tool: RealTool) -> None:
    age = real_tool("age")
    recipients = [OWNER.recipient, OTHER.recipient]

    ours = encrypt(
        b"sheep", [parse_recipient(recipient) for recipient in recipients], Dice("r").bytes
    )
    theirs = run(age, "-r", recipients[0], "-r", recipients[1], given=b"sheep")

    assert run(age, "-d", "-i", keys, given=ours) == b"sheep"
    assert theirs is not None
    assert decrypt(theirs, [OTHER]) == decrypt(theirs, [OWNER]) == b"sheep"


@pytest.mark.parametrize("option", [[], ["-pq"]])
def test_key_files_of_age_keygen_are_read(
    option: list[str], tmp_path: Path, real_tool: RealTool
) -> None:
    keygen = real_tool("age-keygen")
    file = tmp_path / "age.key"
    run(keygen, *option, "-o", file)

    (identity,) = parse_identities(file.read_text())

    assert run(keygen, "-y", file) == f"{identity.recipient}\n".encode()
    assert identity.text.reveal() in file.read_text()


@pytest.mark.parametrize("identity", [OWNER, QUANTUM], ids=["classic", "post-quantum"])
def test_tampering_gets_the_same_verdict(
    identity: AgeIdentity, keys: Path, real_tool: RealTool
) -> None:
    age = real_tool("age")
    dice = Dice(f"tampering {identity.is_post_quantum}")
    content = encrypt(b"sheep" * 20, [parse_recipient(identity.recipient)], dice.bytes)
    for _ in range(40):
        changed = bytearray(content)
        if dice.chance(25):
            changed = changed[: dice.below(len(content))]
        else:
            changed[dice.below(len(changed))] ^= 1 << dice.below(8)

        theirs = run(age, "-d", "-i", keys, given=bytes(changed))

        assert theirs is None
        with pytest.raises(StockmanError):
            decrypt(bytes(changed), [OTHER, OWNER, QUANTUM])
