"""Problems of secret files; messages never contain values."""

from __future__ import annotations

from stockman.model.errors import Conflict, NotFound, Refused, StockmanError
from stockman.model.problem import Problem


def unreadable_file(name: str, why: str) -> StockmanError:
    return StockmanError(
        Problem(
            code="secret.unreadable",
            what=f"{name} cannot be read",
            where=name,
            why=f"the system says: {why}",
            fix="check that it is a file and its permissions",
        )
    )


def unwritable_file(name: str, why: str) -> StockmanError:
    return StockmanError(
        Problem(
            code="secret.unwritable",
            what=f"{name} cannot be written",
            where=name,
            why=f"the system says: {why}",
            fix="free space and check the permissions; nothing was changed",
        )
    )


def missing_file(name: str) -> NotFound:
    return NotFound(
        Problem(
            code="secret.missing",
            what=f"there is no secret file {name}",
            where=name,
            why="this directory has no such file",
            fix="list the names with `stockman secrets status`, or create it with"
            " `stockman secrets edit`",
        )
    )


def no_rules(directory: str) -> NotFound:
    return NotFound(
        Problem(
            code="secret.no-rules",
            what="there is no .sops.yaml",
            where=directory,
            why="without it, the recipients of new files are unknown",
            fix="run `stockman init`, which writes one for the age.key here",
        )
    )


def no_recipient(name: str, where: str) -> Refused:
    return Refused(
        Problem(
            code="secret.no-recipient",
            what=f"the rule for {name} has no recipients",
            where=where,
            why="a file without recipients could never be decrypted",
            fix="write `age:` with the public key of your age.key into the rule",
        )
    )


def file_exists(name: str) -> Conflict:
    return Conflict(
        Problem(
            code="secret.exists",
            what=f"{name} is there already",
            where=name,
            why="it was not changed: its content may be in use and stored nowhere else",
            fix="change it with `stockman secrets edit`; move it away only if nothing needs it",
        )
    )


def edit_conflict(name: str) -> Conflict:
    return Conflict(
        Problem(
            code="secret.changed",
            what=f"{name} changed in the meantime",
            where=name,
            why="it was written after it was read, and that change would be lost",
            fix="run the command again",
        )
    )


def no_editor(why: str) -> StockmanError:
    return StockmanError(
        Problem(
            code="secret.editor",
            what="the editor failed",
            where="",
            why=why,
            fix="set EDITOR to an editor that waits for you to close the file: `code --wait`",
        )
    )


def no_memory(name: str, why: str) -> Refused:
    return Refused(
        Problem(
            code="secret.no-memory",
            what=f"{name} cannot be edited without writing plaintext to a disk",
            where=name,
            why=why,
            fix="change single values with `stockman secrets set`, or use a machine with /dev/shm",
        )
    )


def bundle_elsewhere(existing: str, expected: str) -> Conflict:
    return Conflict(
        Problem(
            code="bundle.elsewhere",
            what=f"the secrets bundle is {existing}, and {expected} is looked for",
            where=existing,
            why="a second bundle would create a new cluster from the same machines",
            fix=f"run `git mv {existing} {expected}`: both dialects keep it in the same form",
        )
    )


def bad_path(path: str, why: str) -> Problem:
    return Problem(
        code="secret.path",
        what=f"{path!r} is not a path to a value",
        why=why,
        fix='write keys with dots between them, `stringData.token`, or `data["tls.crt"]`',
    )


def bad_value(why: str) -> Refused:
    return Refused(
        Problem(
            code="secret.value",
            what="the value cannot be stored",
            why=why,
            fix="use text; with `--json` a number, true, false or a quoted string; store other"
            " bytes in a binary file, without a path",
        )
    )
