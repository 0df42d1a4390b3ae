"""What the real `sops` says of a document, and whether two plaintexts mean the same."""

import json
import os
import subprocess
from pathlib import Path

from stockman.crypto.age.identities import AgeIdentity
from stockman.crypto.sops.files import decrypt, encrypt
from stockman.crypto.sops.forms import file_format, parse_plaintext
from stockman.crypto.sops.scalars import CommentText, value_bytes, value_type
from stockman.crypto.sops.selectors import EncryptionSettings, Selector
from stockman.crypto.sops.values import walk_slots
from stockman.model.errors import StockmanError
from tests.crypto.generated import Made
from tests.crypto.keys_at_hand import OWNER, QUANTUM, fresh

Meaning = list[tuple[str, str, bytes]]
HOLDERS: tuple[AgeIdentity, ...] = (OWNER, QUANTUM)


class SopsJudge:
    """The program in a directory of its own, with the identities of the tests."""

    def __init__(self, sops: Path, directory: Path) -> None:
        self._sops = sops
        self.directory = directory
        keys = directory / "keys.txt"
        keys.write_text("".join(f"{holder.text.reveal()}\n" for holder in HOLDERS))
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(directory),
            "SOPS_AGE_KEY_FILE": str(keys),
        }

    def run(self, *arguments: str) -> bytes | None:
        """What the program prints; None: it refused."""
        done = subprocess.run(
            [self._sops, *arguments],
            cwd=self.directory,
            env=self._environment,
            capture_output=True,
            check=False,
        )
        return done.stdout if done.returncode == 0 else None

    def encrypted(self, made: Made) -> bytes | None:
        self.follow(made.recipe)
        (self.directory / made.name).write_bytes(made.plain)
        return self.run("encrypt", made.name)

    def decrypted(self, content: bytes, name: str) -> bytes | None:
        (self.directory / name).write_bytes(content)
        return self.run("decrypt", name)

    def changed(self, content: bytes, name: str, *arguments: str) -> bytes:
        """The file after the program, which is given its name too, has changed it in place."""
        file = self.directory / name
        file.write_bytes(content)
        assert self.run(*arguments) is not None
        return file.read_bytes()

    def follow(self, recipe: EncryptionSettings) -> None:
        """Write the creation rule that says the same as a recipe."""
        rule: dict[str, object] = {"age": ",".join(recipe.recipients)}
        if recipe.selector.name:
            rule[recipe.selector.name] = recipe.selector.pattern
        if recipe.only_encrypted:
            rule["mac_only_encrypted"] = True
        config = {"creation_rules": [rule], "stores": {"yaml": {"indent": recipe.indent}}}
        (self.directory / ".sops.yaml").write_text(json.dumps(config))


def meaning(plain: bytes, name: str) -> Meaning:
    """Paths, kinds and values in order; whole numbers and others are one kind to JSON."""
    sheet = parse_plaintext(plain, file_format(name), name)
    return [
        (slot.bound_path, _kind(value_type(slot.value)), value_bytes(slot.value))
        for slot in walk_slots(sheet.documents, Selector().compile())
        if not isinstance(slot.value, CommentText)
    ]


def remarks(plain: bytes, name: str) -> list[str]:
    sheet = parse_plaintext(plain, file_format(name), name)
    slots = walk_slots(sheet.documents, Selector().compile())
    return sorted(slot.value.text for slot in slots if isinstance(slot.value, CommentText))


def ours_opens(content: bytes, name: str) -> bytes | None:
    """What we read; None: we refused."""
    try:
        return decrypt(content, name, HOLDERS)
    except StockmanError:
        return None


def judge_both_ways(made: Made, judge: SopsJudge) -> None:
    """Both refuse or both encrypt; each reads what the other wrote, and it means the same."""
    theirs = judge.encrypted(made)
    ours = _encrypted(made)
    assert (ours is None) == (theirs is None)
    if ours is None or theirs is None:
        return
    expected = meaning(made.plain, made.name)

    read_by_sops = judge.decrypted(ours, made.name)
    assert read_by_sops is not None
    assert meaning(read_by_sops, made.name) == expected
    assert b"ENC[AES256_GCM" not in read_by_sops

    own = judge.decrypted(theirs, made.name)
    read_by_us = ours_opens(theirs, made.name)
    # SOPS moves comments when it writes, and with selectors on comments it may not read its own.
    assert (read_by_us is None) == (own is None)
    if read_by_us is not None:
        assert meaning(read_by_us, made.name) == expected
        assert set(remarks(read_by_us, made.name)) <= set(remarks(made.plain, made.name))


def _encrypted(made: Made) -> bytes | None:
    try:
        return encrypt(made.plain, made.name, made.recipe, fresh(made.plain.hex()))
    except StockmanError:
        return None


def _kind(kind: str) -> str:
    return "number" if kind in ("int", "float") else kind
