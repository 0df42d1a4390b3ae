"""Every problem of age and SOPS, made by broken input: what their pages are compared with.

Input that a page shows is read from the page, so that both stay together.
"""

import base64
from collections.abc import Callable

import pytest

from stockman.crypto.age import files as age
from stockman.crypto.age.identities import AgeIdentity, parse_identities, parse_recipient
from stockman.crypto.sops.files import decrypt, encrypt, open_file
from stockman.crypto.sops.selectors import EncryptionSettings, read_sops_config
from stockman.crypto.sops.update import value_at
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from tests.crypto.generated import Dice
from tests.crypto.keys_at_hand import OTHER, OWNER, QUANTUM, fresh
from tests.model.page_files import shown

AGE_FILE = "flock.age"
SECRET = "secret.sops.yaml"
RECIPE = EncryptionSettings(recipients=(OWNER.recipient,))


def told(call: Callable[[], object]) -> Problem:
    """The problem that a call ends with."""
    with pytest.raises(StockmanError) as caught:
        call()
    return caught.value.problem


def age_file(*identities: AgeIdentity, armor: bool = False) -> bytes:
    """A small age file for these identities."""
    recipients = [parse_recipient(identity.recipient) for identity in identities]
    return age.encrypt(b"sheep", recipients, Dice("problems").bytes, armor=armor)


def age_opened(content: bytes, identity: AgeIdentity = OWNER) -> Problem:
    return told(lambda: age.decrypt(content, [identity], AGE_FILE))


def flipped(content: bytes) -> bytes:
    """The same bytes but for the last one."""
    return content[:-1] + bytes([content[-1] ^ 1])


def with_stanza_twice() -> bytes:
    """An age file whose one recipient somebody wrote down twice."""
    content = age_file(OWNER)
    first, last = content.index(b"-> "), content.index(b"--- ")
    return content[:last] + content[first:last] + content[last:]


def with_zero_share() -> bytes:
    """An age file whose recipient has nothing but zeros for its public number."""
    content = age_file(OWNER)
    start = content.index(b"X25519 ") + len(b"X25519 ")
    zero = base64.b64encode(bytes(32)).rstrip(b"=")
    return content[:start] + zero + content[start + len(zero) :]


def sops_file(plain: str) -> str:
    return encrypt(plain.encode(), SECRET, RECIPE, fresh()).decode()


def not_sealed(code: str, file: str = SECRET) -> Problem:
    """The problem of encrypting what a page shows."""
    return told(lambda: encrypt(shown(code).encode(), file, RECIPE, fresh()))


def not_opened(content: bytes, identity: AgeIdentity = OWNER) -> Problem:
    return told(lambda: decrypt(content, SECRET, [identity]))


def with_values_swapped() -> bytes:
    """A file of SOPS in which two encrypted values changed places."""
    user, password, *rest = sops_file("user: Dolly\npassword: wool\n").splitlines(keepends=True)
    first, second = user.partition(": ")[2], password.partition(": ")[2]
    return "".join([f"user: {second}", f"password: {first}", *rest]).encode()


def ruled(code: str) -> Problem:
    """The problem of the creation rules that a page shows."""
    return told(lambda: read_sops_config(shown(code).encode()).rule_for("a.sops.yaml"))


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "age.armor": lambda: age_opened(age_file(OWNER, armor=True).replace(b"\n", b"\n\n", 2)),
    "age.header": lambda: age_opened(age_file(OWNER).replace(b"\n", b"\r\n", 1)),
    "age.header-mac": lambda: age_opened(with_stanza_twice()),
    "age.identity": lambda: told(lambda: parse_identities("age1meadow\n", "age.key")),
    "age.mixed-recipients": lambda: told(lambda: age_file(OWNER, QUANTUM)),
    "age.payload": lambda: age_opened(flipped(age_file(OWNER))),
    "age.recipient": lambda: ruled("age.recipient"),
    "age.stanza": lambda: age_opened(with_zero_share()),
    "age.truncated": lambda: age_opened(age_file(OWNER)[:100]),
    "age.wrong-identity": lambda: age_opened(age_file(OWNER), OTHER),
    "sops.already-encrypted": lambda: not_sealed("sops.already-encrypted"),
    "sops.comment-place": lambda: not_sealed("sops.comment-place"),
    "sops.duplicate-key": lambda: not_sealed("sops.duplicate-key"),
    "sops.form": lambda: told(lambda: encrypt(b"USER=Dolly\n", "secret.sops.env", RECIPE, fresh())),
    "sops.key-group": lambda: ruled("sops.key-group"),
    "sops.kms": lambda: ruled("sops.kms"),
    "sops.layout": lambda: not_sealed("sops.layout"),
    "sops.mac": lambda: not_opened(
        sops_file("user_unencrypted: Dolly\n").replace("Dolly", "Shaun").encode()
    ),
    "sops.metadata": lambda: not_opened(shown("sops.metadata").encode()),
    "sops.no-rule": lambda: told(
        lambda: read_sops_config(shown("sops.no-rule").encode()).rule_for("flock/secret.sops.yaml")
    ),
    "sops.no-value": lambda: told(
        lambda: value_at(
            open_file(sops_file("stringData:\n  user: Dolly\n").encode(), SECRET, [OWNER]),
            ("stringData", "name"),
        )
    ),
    "sops.not-encrypted": lambda: not_opened(shown("sops.not-encrypted").encode()),
    "sops.pgp": lambda: ruled("sops.pgp"),
    "sops.regex": lambda: ruled("sops.regex"),
    "sops.rules": lambda: ruled("sops.rules"),
    "sops.selectors": lambda: ruled("sops.selectors"),
    "sops.syntax": lambda: not_sealed("sops.syntax", "secret.sops.json"),
    "sops.unsupported": lambda: not_sealed("sops.unsupported"),
    "sops.value": lambda: not_opened(with_values_swapped()),
    "sops.wrong-identity": lambda: not_opened(sops_file("user: Dolly\n").encode(), OTHER),
}
