"""Check whether Talos would accept a machine configuration."""

from __future__ import annotations

from stockman.model.origin import Position
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.talos.patches.schema import MINORS
from stockman.talos.validation.report import RuntimeMode
from stockman.talos.validation.validate import load_configuration, validate

MAX_BYTES = 16 * 1024 * 1024
"""More than Talos can store."""
NEWEST = MINORS[-1]


@record
class MachineCheck:
    """The outcome of one check."""

    file: str
    talos: str
    mode: RuntimeMode
    documents: tuple[str, ...]
    """Kinds and names of the documents. Empty: they could not be read."""
    problems: Problems

    @property
    def valid(self) -> bool:
        return not self.problems.errors


def check_machine(
    file: str,
    content: bytes,
    *,
    talos: str = NEWEST,
    mode: RuntimeMode = RuntimeMode.METAL,
    strict: bool = False,
) -> MachineCheck:
    """Check a configuration as a Talos release would, offline."""
    problems = Problems()
    labels: tuple[str, ...] = ()
    text = _text(file, content, problems)
    documents = None if text is None else load_configuration(file, text, talos, problems)
    if documents is not None:
        labels = tuple(document.label for document in documents)
        problems.extend(validate(documents, talos, mode, strict=strict))
    return MachineCheck(file=file, talos=talos, mode=mode, documents=labels, problems=problems)


def _text(file: str, content: bytes, problems: Problems) -> str | None:
    why = ""
    try:
        if len(content) <= MAX_BYTES:
            return content.decode("utf-8-sig")
        why = f"it has more than {MAX_BYTES // 1024**2} MiB"
    except UnicodeDecodeError as error:
        why = f"byte {error.start} does not belong to a text in UTF-8"
    problems.add(
        Problem(
            code="machine.unreadable",
            what="this is no machine configuration",
            where=Position(file, 1, 1),
            why=why,
            fix="give the YAML file that the machine gets",
        )
    )
    return None
