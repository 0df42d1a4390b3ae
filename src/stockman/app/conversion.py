"""Converting files into a dialect: read, convert, and write where nothing is overwritten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from stockman.adapters.new_files import create_file, exists
from stockman.adapters.replaced_files import replace_file
from stockman.app import conversion_problems as trouble
from stockman.app.workspace import read_directory
from stockman.config.convert.dialects import classic_to_toml, toml_to_classic
from stockman.config.convert.forms import TALCONFIG, TOPF, Form, form_of
from stockman.config.convert.result import Converted
from stockman.config.convert.terraform import terraform_to
from stockman.config.convert.vm_file import vm_file_to
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, FILES, NODES_YAML, load
from stockman.config.redact import redactor
from stockman.config.source.text import MAX_BYTES, Unreadable, decoded
from stockman.model.errors import Conflict, NotFound, StockmanError, WrongUsage
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.entropy import Entropy

Dialect = Literal["classic", "toml"]
State = Literal["written", "replaced", "up to date", "not written"]

_FILES_OF: dict[Dialect, tuple[str, ...]] = {
    "classic": (CLUSTER_YAML, NODES_YAML),
    "toml": (CLUSTER_TOML,),
}
_NAME_OF: dict[Form, str] = {"classic": CLUSTER_YAML, "toml": CLUSTER_TOML}
_TAG_BYTES = 4


@record
class ConvertedFile:
    """One file of the result, and what became of it."""

    name: str
    state: State


@record
class Conversion:
    """A source in another form, not yet written anywhere."""

    source: Path
    form: Form
    to: Dialect
    result: Converted
    texts: dict[str, str]
    """Texts of the source that may be shown beside problems."""
    redact: Callable[[str], str]
    """What may be shown of a line."""


def tool_of(source: Path) -> Form | None:
    """The tool for Talos whose directory or file a source is. None: it is something else."""
    if source.is_file():
        return {TALCONFIG: "talhelper", TOPF: "topf"}.get(source.name)  # type: ignore[return-value]
    if any(exists(source / name) for name in FILES):
        return None
    if exists(source / TALCONFIG):
        return "talhelper"
    return "topf" if exists(source / TOPF) else None


def convert(source: Path, *, to: Dialect | None = None, form: Form | None = None) -> Conversion:
    """Convert a directory or a file; `to` and `form` are found out where they are None."""
    contents = _contents(source, form)
    form = form or _form(source, contents)
    target = to or ("toml" if form == "classic" else "classic")
    if target == form:
        raise WrongUsage(trouble.same_dialect(source, target))
    if form in _NAME_OF:
        contents = _named(contents, _NAME_OF[form])
    return Conversion(
        source=source,
        form=form,
        to=target,
        result=_converted(form, target, contents),
        texts=_texts(contents) if form != "terraform" else {},
        redact=redactor(_secrets(contents)),
    )


def write(
    conversion: Conversion, out: Path, entropy: Entropy, *, force: bool = False
) -> tuple[ConvertedFile, ...]:
    """Write the result into a directory, which is made if needed.

    A file that exists is replaced only with `force`; without it nothing at all is written then.
    """
    try:
        states = {name: _state(out / name, text) for name, text in conversion.result.files.items()}
        standing = [name for name, state in states.items() if state == "replaced"]
        if standing and not force:
            raise Conflict(trouble.exists(out / standing[0]))
        for name, state in states.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            tag = entropy.random_bytes(_TAG_BYTES).hex()
            content = conversion.result.files[name].encode()
            if state == "replaced":
                replace_file(out / name, content, tag=tag)
            elif state == "written" and not create_file(
                out / name, content, private=False, tag=tag
            ):
                raise Conflict(trouble.exists(out / name))
    except OSError as error:
        raise StockmanError(trouble.unwritable(out, error)) from None
    return tuple(ConvertedFile(name=name, state=state) for name, state in states.items())


def unwritten(conversion: Conversion) -> tuple[ConvertedFile, ...]:
    """The files of a result that stays where it is."""
    return tuple(ConvertedFile(name=name, state="not written") for name in conversion.result.files)


def left_beside(conversion: Conversion, out: Path) -> tuple[str, ...]:
    """Files of the other dialect in a directory, which would describe the cluster a second time."""
    other: Dialect = "toml" if conversion.to == "classic" else "classic"
    return tuple(name for name in _FILES_OF[other] if exists(out / name))


def _state(path: Path, text: str) -> State:
    if not exists(path):
        return "written"
    same = path.is_file() and path.read_bytes() == text.encode()
    return "up to date" if same else "replaced"


def _contents(source: Path, form: Form | None) -> dict[str, bytes]:
    """The files that a source consists of, by name."""
    if source.is_dir():
        found = read_directory(source)
        if form in ("vm", "terraform") or not found:
            raise NotFound(trouble.no_source(source))
        return (
            found
            if form is None
            else {
                name: content
                for name, content in found.items()
                if name in _FILES_OF[_dialect(form)]
            }
        )
    if source.name in _FILES_OF["classic"] and form in (None, "classic"):
        found = read_directory(source.parent)
        return {name: found[name] for name in _FILES_OF["classic"] if name in found}
    return {source.name: _read(source)}


def _dialect(form: Form) -> Dialect:
    return "toml" if form == "toml" else "classic"


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise StockmanError(trouble.unreadable(path, error)) from None


def _form(source: Path, contents: dict[str, bytes]) -> Form:
    if source.is_dir():
        if CLUSTER_TOML in contents and len(contents) > 1:
            raise WrongUsage(trouble.two_dialects(source))
        return "toml" if CLUSTER_TOML in contents else "classic"
    name, content = next(iter(contents.items()))
    form = form_of(name, content)
    if form is None:
        raise WrongUsage(trouble.unknown_form(source))
    return form


def _converted(form: Form, to: Dialect, contents: dict[str, bytes]) -> Converted:
    to_toml = to == "toml"
    match form:
        case "classic":
            return classic_to_toml(contents)
        case "toml":
            return toml_to_classic(contents)
        case "vm":
            return vm_file_to(*_only(contents), to_toml=to_toml)
        case "terraform":
            return terraform_to(*_only(contents), to_toml=to_toml)
        case "talhelper" | "topf":
            raise ValueError("directories of other tools are taken over by `app.adoption`")


def _named(contents: dict[str, bytes], name: str) -> dict[str, bytes]:
    """Contents under the names that the dialect knows; another name stands for one of them."""
    if any(known in contents for known in FILES):
        return contents
    return {name: _only(contents)[1]}


def _only(contents: dict[str, bytes]) -> tuple[str, bytes]:
    return next(iter(contents.items()))


def _texts(contents: dict[str, bytes]) -> dict[str, str]:
    texts = {}
    for name, content in contents.items():
        try:
            texts[name] = decoded(name, content)
        except Unreadable:
            continue
    return texts


def _secrets(contents: dict[str, bytes]) -> tuple[Secret, ...]:
    return load({name: content for name, content in contents.items() if name in FILES}).secrets
