"""Problems of SOPS files; their texts never contain a secret."""

from __future__ import annotations

from stockman.model.errors import Conflict, Denied, NotFound, Refused
from stockman.model.origin import Position
from stockman.model.problem import Problem

Location = Position | str

_RESTORE = "restore the file from git, or encrypt its content anew"


def refusal(*, code: str, summary: str, where: Location, why: str, fix: str) -> Refused:
    return Refused(Problem(code=code, what=summary, where=where, why=why, fix=fix))


def bad_syntax(where: Location, why: str) -> Refused:
    return refusal(
        code="sops.syntax",
        summary="the file cannot be read",
        where=where,
        why=why,
        fix="correct the text at this place; an encrypted file is best restored from git",
    )


def duplicate_key(where: Location, key: str) -> Refused:
    return refusal(
        code="sops.duplicate-key",
        summary=f"the key {key!r} stands twice in one mapping",
        where=where,
        why="one of the two values would be lost",
        fix="remove one of them, or restore the file from git",
    )


def unsupported(where: Location, construct: str, fix: str) -> Refused:
    return refusal(
        code="sops.unsupported",
        summary=f"{construct} cannot be kept in an encrypted file",
        where=where,
        why="SOPS holds mappings with text keys, lists, texts, numbers, times, true, false, null",
        fix=fix,
    )


def unsupported_comment(where: Location) -> Refused:
    return refusal(
        code="sops.comment-place",
        summary="the comment stands where it cannot be encrypted",
        where=where,
        why="SOPS keeps comments of lists as items, and there is no room for an item here",
        fix="write the comment on a line of its own above the item, or remove it",
    )


def bad_layout(where: Location) -> Refused:
    return refusal(
        code="sops.layout",
        summary="the layout of the text cannot be kept when it is encrypted",
        where=where,
        why="with encrypted values and comments in it, it would read as something else",
        fix="move comments to lines of their own above keys, in the same column as the keys",
    )


def not_encrypted(where: Location) -> NotFound:
    return NotFound(
        Problem(
            code="sops.not-encrypted",
            what="the file is not encrypted",
            where=where,
            why="it has no `sops` entry at its top",
            fix="encrypt it with `stockman secrets edit`, or correct the name of the file",
        )
    )


def already_encrypted(where: Location) -> Conflict:
    return Conflict(
        Problem(
            code="sops.already-encrypted",
            what="the text to encrypt has a `sops` entry of its own",
            where=where,
            why="SOPS keeps its keys under that name; the text is perhaps encrypted already",
            fix="edit the encrypted file with `stockman secrets edit`, or rename the entry",
        )
    )


def bad_metadata(where: Location, why: str) -> Refused:
    return refusal(
        code="sops.metadata",
        summary="the `sops` entry of the file is damaged",
        where=where,
        why=why,
        fix=_RESTORE,
    )


def bad_value(where: Location, why: str) -> Refused:
    return refusal(
        code="sops.value",
        summary="an encrypted value was changed, moved or damaged",
        where=where,
        why=why,
        fix=_RESTORE,
    )


def bad_mac(where: Location, why: str) -> Refused:
    return refusal(
        code="sops.mac",
        summary="the file was changed without SOPS",
        where=where,
        why=why,
        fix="restore the file from git and change it with `stockman secrets edit`",
    )


def no_matching_identity(where: Location, recipients: int, identities: int) -> Denied:
    return Denied(
        Problem(
            code="sops.wrong-identity",
            what="no identity at hand opens the file",
            where=where,
            why=_identity_mismatch(recipients, identities),
            fix="use the age.key that belongs to one of the recipients, or ask one of their"
            " holders to add yours to .sops.yaml and to run `stockman secrets rekey`",
        )
    )


def foreign_key(where: Location, kind: str) -> Refused:
    return refusal(
        code="sops.pgp" if kind == "pgp" else "sops.kms",
        summary=f"the keys of kind {kind!r} are not supported",
        where=where,
        why="only age recipients are opened and written in process",
        fix="give the file age recipients: `sops rotate` adds them, `.sops.yaml` names them",
    )


def key_groups(where: Location) -> Refused:
    return refusal(
        code="sops.key-group",
        summary="key groups are not supported",
        where=where,
        why="with several groups the data key is split among them (Shamir), and only lists of age"
        " recipients that each open the whole file are written in process",
        fix="list the recipients under `age:` without `key_groups:`",
    )


def foreign_format(where: Location, kind: str) -> Refused:
    return refusal(
        code="sops.form",
        summary=f"files of the form {kind} are not supported",
        where=where,
        why="YAML, JSON and binary files are encrypted in process",
        fix="keep the values in a YAML file, for example `secret.sops.yaml`",
    )


def bad_regex(where: Location, name: str, why: str) -> Refused:
    return refusal(
        code="sops.regex",
        summary=f"{name} is no regular expression that SOPS knows",
        where=where,
        why=f"{why}; SOPS itself would take it as matching nothing",
        fix="write it in the syntax of Go (RE2): no look-around, no back references",
    )


def several_selectors(where: Location, names: list[str]) -> Refused:
    return refusal(
        code="sops.selectors",
        summary=f"{' and '.join(names)} stand together",
        where=where,
        why="only one of them can say what is encrypted",
        fix="keep one of them",
    )


def _identity_mismatch(recipients: int, identities: int) -> str:
    made_for = "1 recipient" if recipients == 1 else f"{recipients} recipients"
    to_whom = "to it" if recipients == 1 else "to one of them"
    if identities > 1:
        keys = f"none of the {identities} identities at hand belongs {to_whom}"
    elif identities:
        keys = f"the one identity at hand does not belong {to_whom}"
    else:
        keys = "no identity is at hand"
    return f"it was encrypted for {made_for}, and {keys}"
