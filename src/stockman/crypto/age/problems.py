"""Problems of age files and keys; their texts never contain a key."""

from __future__ import annotations

from collections.abc import Callable

from stockman.model.errors import Denied, Refused
from stockman.model.problem import Problem

_RESTORE = "restore the file from git or from a backup"


def _refusal(code: str, what: str, fix: str) -> Callable[[str, str], Refused]:
    """Return a function that creates the error from a location and a reason."""

    def create(where: str, why: str) -> Refused:
        return Refused(Problem(code=code, what=what, where=where, why=why, fix=fix))

    return create


bad_header = _refusal(
    "age.header",
    "the file does not start like an age file",
    "copy the original file as binary data, or encrypt its content again",
)
bad_armor = _refusal(
    "age.armor",
    "the armored age file is damaged",
    "copy the whole text, from its BEGIN line to its END line",
)
unexpected_end = _refusal(
    "age.truncated", "the age file is truncated", "copy the whole original file again"
)
bad_payload = _refusal(
    "age.payload", "the content of the age file was changed after encryption", _RESTORE
)
bad_stanza = _refusal(
    "age.stanza", "a recipient in the header of the age file is damaged", _RESTORE
)
bad_identity = _refusal(
    "age.identity",
    "a line of the key file is not an age identity",
    "keep only lines that `age-keygen` wrote, comments with `#`, and empty lines",
)


def bad_header_mac(where: str) -> Refused:
    what = "the header of the age file was changed after encryption"
    why = "its checksum does not match its recipients"
    return _refusal("age.header-mac", what, _RESTORE)(where, why)


def bad_recipient(where: str, shown: str, why: str) -> Refused:
    fix = "use the public key in the `# public key:` line of the key file"
    return _refusal("age.recipient", f"{shown} is not an age recipient", fix)(where, why)


def incompatible_recipients(where: str) -> Refused:
    what = "an age file cannot have both post-quantum and classic recipients"
    why = "whoever breaks the classic key could read what the other key protects"
    fix = "use recipients of one kind: all `age1pq1...`, or none"
    return _refusal("age.mixed-recipients", what, fix)(where, why)


def no_matching_identity(where: str, kinds: list[str], tried: int) -> Denied:
    keys = "1 identity was" if tried == 1 else f"{tried} identities were"
    return Denied(
        Problem(
            code="age.wrong-identity",
            what="no available identity can decrypt the file",
            where=where,
            why=f"{keys} tried on recipients of kind {', '.join(kinds)}",
            fix="use the age.key of one of the recipients, or ask a holder of one to add yours",
        )
    )
