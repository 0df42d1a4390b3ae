"""Convert files into a dialect and write them without overwriting anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Literal

from stockman.adapters.files import create_file, path_exists, replace_file
from stockman.app.workspace.directory import read_directory, unreadable_file
from stockman.config.classic import CLASSIC_KEYS, repository_address
from stockman.config.convert.dialects import classic_to_toml, toml_to_classic
from stockman.config.convert.output import (
    TALCONFIG,
    TOPF,
    ConversionResult,
    SourceFormat,
    detect_format,
)
from stockman.config.convert.terraform import convert_terraform, convert_vm_file
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, CONFIG_FILES, NODES_YAML, load
from stockman.config.redact import build_redactor
from stockman.config.source.tree import MAX_BYTES, Unreadable, decode_text
from stockman.model.errors import Conflict, NotFound, StockmanError, WrongUsage
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.system import Entropy
from stockman.talos.imports.adoption import Platform, adopt_cluster
from stockman.talos.imports.foreign import ForeignCluster, ReadFile
from stockman.talos.imports.talhelper.node_keys import Variables
from stockman.talos.imports.talhelper.nodes import read_talhelper_directory
from stockman.talos.imports.topf import read_topf_directory


def same_dialect(source: Path, dialect: str) -> Problem:
    return Problem(
        code="convert.same-dialect",
        what=f"{source} is in the {dialect} dialect already",
        where=str(source),
        why="a conversion needs two different forms",
        fix=f"give `--to {'toml' if dialect == 'classic' else 'classic'}`, or leave `--to` out",
    )


def two_dialects(source: Path) -> Problem:
    return Problem(
        code="config.two-dialects",
        what="cluster.toml exists next to cluster.yaml or nodes.yaml",
        where=str(source),
        why="both describe the cluster and may differ",
        fix="choose one with `--from classic` or `--from toml`",
    )


def no_source(source: Path) -> Problem:
    return Problem(
        code="config.no-files",
        what="there is nothing here to convert",
        where=str(source),
        why="a directory is converted if cluster.yaml, nodes.yaml or cluster.toml is in it",
        fix="name a directory with one of them, or a file such as vm.yml or variables.tf",
    )


def unknown_form(source: Path) -> Problem:
    return Problem(
        code="convert.unknown-form",
        what=f"the format of {source.name} is unknown",
        where=str(source),
        why="neither its name nor its content matches a supported format",
        fix="say it with `--from classic`, `toml`, `vm` or `terraform`",
    )


def file_exists(path: Path) -> Problem:
    return Problem(
        code="convert.exists",
        what=f"{path.name} exists already",
        where=str(path),
        why="it differs from the result and would be lost",
        fix="choose another directory with `--out`, or replace it with `--force`",
    )


def unwritable(out: Path, error: OSError) -> Problem:
    return Problem(
        code="convert.unwritable",
        what="the result cannot be written",
        where=str(error.filename or out),
        why=f"the system says: {error.strerror or type(error).__name__}",
        fix="give a directory that may be written with `--out`",
    )


def no_tool(directory: Path, name: str) -> Problem:
    return Problem(
        code="import.missing-file",
        what=f"{name} does not exist",
        where=str(directory),
        why="it is the main file of the tool",
        fix="pass the directory that contains it",
    )


def no_such_key(key: str) -> Problem:
    return Problem(
        code="cli.usage",
        what=f"there is no key {key} to set",
        where="--set",
        why="a key is given by its path, or by its name in cluster.yaml",
        fix="write for example --set cluster_gateway_addr=127.66.0.11, or see `stockman explain`",
    )


Dialect = Literal["classic", "toml"]
FileState = Literal["written", "replaced", "up to date", "not written"]

_FILES_OF: dict[Dialect, tuple[str, ...]] = {
    "classic": (CLUSTER_YAML, NODES_YAML),
    "toml": (CLUSTER_TOML,),
}
_NAME_OF: dict[SourceFormat, str] = {"classic": CLUSTER_YAML, "toml": CLUSTER_TOML}
_TAG_BYTES = 4


@record
class ConvertedFile:
    """One file of the result and what happened to it."""

    name: str
    state: FileState


@record
class Conversion:
    """A converted source that is not written yet."""

    source: Path
    form: SourceFormat
    to: Dialect
    result: ConversionResult
    texts: dict[str, str]
    """Texts of the source that may be shown with problems."""
    redact: Callable[[str], str]
    """Masks the secrets of a line."""


def tool_of(source: Path) -> SourceFormat | None:
    """Return the Talos tool whose directory or file a source is. None: it is something else."""
    if source.is_file():
        return {TALCONFIG: "talhelper", TOPF: "topf"}.get(source.name)  # type: ignore[return-value]
    if any(path_exists(source / name) for name in CONFIG_FILES):
        return None
    if path_exists(source / TALCONFIG):
        return "talhelper"
    return "topf" if path_exists(source / TOPF) else None


def convert_files(
    source: Path, *, to: Dialect | None = None, form: SourceFormat | None = None
) -> Conversion:
    """Convert a directory or a file; detect `to` and `form` if they are None."""
    contents = _contents(source, form)
    form = form or _form(source, contents)
    target = to or ("toml" if form == "classic" else "classic")
    if target == form:
        raise WrongUsage(same_dialect(source, target))
    if form in _NAME_OF:
        contents = _name_contents(contents, _NAME_OF[form])
    return Conversion(
        source=source,
        form=form,
        to=target,
        result=_convert(form, target, contents),
        texts=_texts(contents) if form != "terraform" else {},
        redact=build_redactor(_secrets(contents)),
    )


def write_conversion(
    conversion: Conversion, out: Path, entropy: Entropy, *, force: bool = False
) -> tuple[ConvertedFile, ...]:
    """Write the result into a directory, which is created if needed.

    Existing files are replaced only with `force`; without it nothing is written if one exists.
    """
    try:
        states = {name: _state(out / name, text) for name, text in conversion.result.files.items()}
        standing = [name for name, state in states.items() if state == "replaced"]
        if standing and not force:
            raise Conflict(file_exists(out / standing[0]))
        for name, state in states.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            tag = entropy.random_bytes(_TAG_BYTES).hex()
            content = conversion.result.files[name].encode()
            if state == "replaced":
                replace_file(out / name, content, tag=tag)
            elif state == "written" and not create_file(
                out / name, content, private=False, tag=tag
            ):
                raise Conflict(file_exists(out / name))
    except OSError as error:
        raise StockmanError(unwritable(out, error)) from None
    return tuple(ConvertedFile(name=name, state=state) for name, state in states.items())


def unwritten_files(conversion: Conversion) -> tuple[ConvertedFile, ...]:
    """Return the files of a result that was not written."""
    return tuple(ConvertedFile(name=name, state="not written") for name in conversion.result.files)


def leftover_files(conversion: Conversion, out: Path) -> tuple[str, ...]:
    """Return files of the other dialect in a directory, which would describe the cluster twice."""
    dialect: Dialect = "toml" if conversion.to == "classic" else "classic"
    return tuple(name for name in _FILES_OF[dialect] if path_exists(out / name))


def _state(path: Path, text: str) -> FileState:
    if not path_exists(path):
        return "written"
    same = path.is_file() and path.read_bytes() == text.encode()
    return "up to date" if same else "replaced"


def _contents(source: Path, form: SourceFormat | None) -> dict[str, bytes]:
    """Return the files of a source by name."""
    if source.is_dir():
        contents = read_directory(source)
        if form in ("vm", "terraform") or not contents:
            raise NotFound(no_source(source))
        return (
            contents
            if form is None
            else {
                name: content
                for name, content in contents.items()
                if name in _FILES_OF[_dialect(form)]
            }
        )
    if source.name in _FILES_OF["classic"] and form in (None, "classic"):
        contents = read_directory(source.parent)
        return {name: contents[name] for name in _FILES_OF["classic"] if name in contents}
    return {source.name: _read(source)}


def _dialect(form: SourceFormat) -> Dialect:
    return "toml" if form == "toml" else "classic"


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise unreadable_file(path, error) from None


def _form(source: Path, contents: dict[str, bytes]) -> SourceFormat:
    if source.is_dir():
        if CLUSTER_TOML in contents and len(contents) > 1:
            raise WrongUsage(two_dialects(source))
        return "toml" if CLUSTER_TOML in contents else "classic"
    name, content = next(iter(contents.items()))
    form = detect_format(name, content)
    if form is None:
        raise WrongUsage(unknown_form(source))
    return form


def _convert(form: SourceFormat, to: Dialect, contents: dict[str, bytes]) -> ConversionResult:
    to_toml = to == "toml"
    match form:
        case "classic":
            return classic_to_toml(contents)
        case "toml":
            return toml_to_classic(contents)
        case "vm":
            return convert_vm_file(*_only(contents), to_toml=to_toml)
        case "terraform":
            return convert_terraform(*_only(contents), to_toml=to_toml)
        case "talhelper" | "topf":
            raise ValueError("directories of other tools are taken over by `app.adoption`")


def _name_contents(contents: dict[str, bytes], name: str) -> dict[str, bytes]:
    """Return contents under the names of the dialect; a single file may have any name."""
    if any(known in contents for known in CONFIG_FILES):
        return contents
    return {name: _only(contents)[1]}


def _only(contents: dict[str, bytes]) -> tuple[str, bytes]:
    return next(iter(contents.items()))


def _texts(contents: dict[str, bytes]) -> dict[str, str]:
    texts = {}
    for name, content in contents.items():
        try:
            texts[name] = decode_text(name, content)
        except Unreadable:
            continue
    return texts


def _secrets(contents: dict[str, bytes]) -> tuple[Secret, ...]:
    return load(
        {name: content for name, content in contents.items() if name in CONFIG_FILES}
    ).secrets


@record
class TakeoverOptions:
    """Options of the user besides the directory."""

    keys: dict[str, str] = field(default_factory=dict)
    """Values of keys that the other tool does not have, by path or by classic name."""
    variables: dict[str, str] = field(default_factory=dict)
    """Values of variables in the directory's files."""
    platform: Platform = "nocloud"


def take_over(
    source: Path, form: SourceFormat, to: Dialect, options: TakeoverOptions
) -> Conversion:
    """Convert a directory of another tool into one of our dialects, without writing it."""
    directory = source.parent if source.is_file() else source
    name = TALCONFIG if form == "talhelper" else TOPF
    if not (directory / name).is_file():
        raise NotFound(no_tool(directory, name))
    result = adopt_cluster(
        _read_foreign(directory, form, options),
        to_toml=to == "toml",
        values={_path(key): _value(key, value) for key, value in options.keys.items()},
        platform=options.platform,
    )
    # Problems show no lines of the source, because every file may contain secrets.
    return Conversion(
        source=source, form=form, to=to, result=result, texts={}, redact=lambda line: line
    )


def _read_foreign(directory: Path, form: SourceFormat, options: TakeoverOptions) -> ForeignCluster:
    read = _reader(directory)
    if form == "talhelper":
        return read_talhelper_directory(read, Variables(values=options.variables))
    return read_topf_directory(read, lambda under: _list_files(directory, under))


def _path(key: str) -> str:
    path = CLASSIC_KEYS.get(key, key)
    if "." not in path or "[" in path:
        raise WrongUsage(no_such_key(key))
    return path


def _value(key: str, value: str) -> str:
    """Return the value of a classic key; the short name of a repository becomes its URL."""
    if key == "repository_name":
        return repository_address(value, private=False) or value
    if key == "cloudflare_enabled":
        return "none" if value == "false" else "cloudflare"
    return value


def _reader(directory: Path) -> ReadFile:
    def read(name: str) -> bytes | None:
        path = directory / name
        try:
            with path.open("rb") as file:
                return file.read(MAX_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unreadable_file(path, error) from None

    return read


def _list_files(directory: Path, under: str) -> list[str]:
    """List files below a directory in the order in which Go walks them."""
    names: list[str] = []
    try:
        entries = sorted((directory / under).iterdir(), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unreadable_file(directory / under, error) from None
    for entry in entries:
        name = f"{under}/{entry.name}"
        names += _list_files(directory, name) if entry.is_dir() else [name]
    return names
