"""Problems of SOPS files; their texts never contain a secret."""

from __future__ import annotations

from collections.abc import Callable

from stockman.model.errors import Conflict, Denied, NotFound, Refused
from stockman.model.origin import Position
from stockman.model.problem import Problem

Location = Position | str

_RESTORE = "restore the file from git, or encrypt its content again"


def _refusal(code: str, what: str, fix: str) -> Callable[[Location, str], Refused]:
    """Return a function that creates the error from a location and a reason."""

    def create(where: Location, why: str) -> Refused:
        return Refused(Problem(code=code, what=what, where=where, why=why, fix=fix))

    return create


bad_syntax = _refusal(
    "sops.syntax",
    "the file cannot be read",
    "correct the text at this position; restore an encrypted file from git",
)
bad_metadata = _refusal("sops.metadata", "the `sops` entry of the file is damaged", _RESTORE)
bad_value = _refusal("sops.value", "an encrypted value was changed, moved or damaged", _RESTORE)
bad_mac = _refusal(
    "sops.mac",
    "the file was changed without SOPS",
    "restore the file from git and change it with `stockman secrets edit`",
)
bad_rules = _refusal(
    "sops.rules",
    "the creation rules are invalid",
    "write `creation_rules:` as a list of `path_regex`, `age` and one selector each",
)


def duplicate_key(where: Location, key: str) -> Refused:
    what = f"the key {key!r} occurs twice in one mapping"
    fix = "remove one of them, or restore the file from git"
    return _refusal("sops.duplicate-key", what, fix)(where, "one of the two values would be lost")


def unsupported(where: Location, construct: str, fix: str) -> Refused:
    what = f"an encrypted file cannot contain {construct}"
    why = "SOPS holds mappings with text keys, lists, texts, numbers, times, true, false, null"
    return _refusal("sops.unsupported", what, fix)(where, why)


def unsupported_comment(where: Location) -> Refused:
    why = "SOPS stores comments of lists as items, and an item cannot be added here"
    fix = "write the comment on a line of its own above the item, or remove it"
    what = "a comment at this position cannot be encrypted"
    return _refusal("sops.comment-place", what, fix)(where, why)


def bad_layout(where: Location) -> Refused:
    what = "the text cannot keep its layout when it is encrypted"
    why = "with encrypted values and comments in it, it would parse differently"
    fix = "move comments to lines of their own above keys, in the same column as the keys"
    return _refusal("sops.layout", what, fix)(where, why)


def not_encrypted(where: Location) -> NotFound:
    return NotFound(
        Problem(
            code="sops.not-encrypted",
            what="the file is not encrypted",
            where=where,
            why="it has no `sops` entry at its top level",
            fix="encrypt it with `stockman secrets edit`, or correct the name of the file",
        )
    )


def already_encrypted(where: Location) -> Conflict:
    return Conflict(
        Problem(
            code="sops.already-encrypted",
            what="the text to encrypt already has a `sops` entry",
            where=where,
            why="SOPS stores its metadata under that name; the text may be encrypted already",
            fix="edit the encrypted file with `stockman secrets edit`, or rename the entry",
        )
    )


def no_matching_identity(where: Location, recipients: int, identities: int) -> Denied:
    count = "1 recipient" if recipients == 1 else f"{recipients} recipients"
    keys = f"none of the {identities} available identities matches"
    if identities < 2:
        keys = "the available identity does not match" if identities else "no identity is available"
    return Denied(
        Problem(
            code="sops.wrong-identity",
            what="no available identity can decrypt the file",
            where=where,
            why=f"it is encrypted for {count}, and {keys}",
            fix="use the age.key of one of the recipients, or ask a holder of one to add yours to"
            " .sops.yaml and to run `stockman secrets rekey`",
        )
    )


def foreign_key(where: Location, kind: str) -> Refused:
    code = "sops.pgp" if kind == "pgp" else "sops.kms"
    why = "only age recipients are supported without other programs"
    fix = "add age recipients to the file: `sops rotate` adds those of `.sops.yaml`"
    return _refusal(code, f"keys of kind {kind!r} are not supported", fix)(where, why)


def key_groups(where: Location) -> Refused:
    why = "several groups split the data key among them (Shamir); only lists of age recipients"
    why = f"{why} that can each decrypt the whole file are supported"
    fix = "list the recipients under `age:` without `key_groups:`"
    return _refusal("sops.key-group", "key groups are not supported", fix)(where, why)


def foreign_format(where: Location, kind: str) -> Refused:
    why = "only YAML, JSON and binary files are supported"
    fix = "store the values in a YAML file, for example `secret.sops.yaml`"
    return _refusal("sops.form", f"{kind} files are not supported", fix)(where, why)


def bad_regex(where: Location, name: str, why: str) -> Refused:
    what = f"{name} is not a regular expression that SOPS supports"
    fix = "write it in the syntax of Go (RE2): no look-around, no back references"
    return _refusal("sops.regex", what, fix)(where, f"{why}; in SOPS it would match nothing")


def several_selectors(where: Location, names: list[str]) -> Refused:
    what = f"{' and '.join(names)} exclude each other"
    why = "only one of them can select what is encrypted"
    return _refusal("sops.selectors", what, "keep one of them")(where, why)
