"""Problems of age files and keys; their texts never contain a key."""

from __future__ import annotations

from stockman.model.errors import Denied, Refused
from stockman.model.problem import Problem


def bad_header(where: str, why: str) -> Refused:
    return _refusal(
        code="age.header",
        summary="the file does not begin as an age file",
        where=where,
        why=why,
        fix="take the file from where it was made, as binary data; or encrypt its content anew",
    )


def bad_armor(where: str, why: str) -> Refused:
    return _refusal(
        code="age.armor",
        summary="the armored age file is damaged",
        where=where,
        why=why,
        fix="copy it whole, from its BEGIN line to its END line",
    )


def unexpected_end(where: str, why: str) -> Refused:
    return _refusal(
        code="age.truncated",
        summary="the age file ends too early",
        where=where,
        why=why,
        fix="copy the whole file once more from where it was made",
    )


def bad_payload(where: str, why: str) -> Refused:
    return _refusal(
        code="age.payload",
        summary="the content of the age file was changed after it was encrypted",
        where=where,
        why=why,
        fix="restore the file from git or from a backup",
    )


def bad_header_mac(where: str) -> Refused:
    return _refusal(
        code="age.header-mac",
        summary="the header of the age file was changed after it was encrypted",
        where=where,
        why="its check sum does not fit to its recipients",
        fix="restore the file from git or from a backup",
    )


def bad_stanza(where: str, why: str) -> Refused:
    return _refusal(
        code="age.stanza",
        summary="a recipient in the header of the age file is damaged",
        where=where,
        why=why,
        fix="restore the file from git or from a backup",
    )


def no_matching_identity(where: str, kinds: list[str], tried: int) -> Denied:
    made_for = ", ".join(kinds)
    keys = "1 identity was" if tried == 1 else f"{tried} identities were"
    return Denied(
        Problem(
            code="age.wrong-identity",
            what="no identity at hand opens the file",
            where=where,
            why=f"{keys} tried on recipients of kind {made_for}",
            fix="use the age.key that belongs to one of the recipients, or ask one of their"
            " holders to add yours",
        )
    )


def bad_identity(where: str, why: str) -> Refused:
    return _refusal(
        code="age.identity",
        summary="a line of the key file is no age identity",
        where=where,
        why=why,
        fix="keep only lines that `age-keygen` wrote, comments with `#`, and empty lines",
    )


def bad_recipient(where: str, shown: str, why: str) -> Refused:
    return _refusal(
        code="age.recipient",
        summary=f"{shown} is no age recipient",
        where=where,
        why=why,
        fix="write the public key that stands in the `# public key:` line of the key file",
    )


def incompatible_recipients(where: str) -> Refused:
    return _refusal(
        code="age.mixed-recipients",
        summary="one age file cannot have post-quantum and classic recipients together",
        where=where,
        why="whoever breaks the classic key would read what the other one protects",
        fix="give recipients of one kind: all `age1pq1...`, or none",
    )


def _refusal(*, code: str, summary: str, where: str, why: str, fix: str) -> Refused:
    return Refused(Problem(code=code, what=summary, where=where, why=why, fix=fix))
