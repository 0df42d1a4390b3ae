"""Patches of machine configurations: from keys, template directories and references."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.config.load import LoadedConfig
from stockman.config.resolve import resolve
from stockman.config.source.tree import MAX_BYTES, ScalarNode, Unreadable, decode_text
from stockman.model.desired import Desired
from stockman.model.errors import Refused, StockmanError
from stockman.model.origin import Origin, Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem, Problems, Severity
from stockman.talos.machine.inputs import list_machine_files
from stockman.talos.machine.patch_sets import (
    PatchLocations,
    PatchScopeName,
    PatchSet,
    build_patch_set,
)
from stockman.talos.patches.patch import Patch

if TYPE_CHECKING:
    from stockman.rendering.templates.render import RenderResult


def no_such_node(path: str, name: str, known: Iterable[str]) -> Problem:
    from stockman.config.nearest import nearest_name

    near = nearest_name(name, sorted(known))
    return Problem(
        code="patch.no-node",
        what=f"{path} is a patch of no node",
        where=path,
        why=f"there is no node {name}, so that it changes nothing",
        fix=f"rename its directory to {near}" if near else "remove it, or rename its directory",
        severity=Severity.WARNING,
    )


def outside_workspace(name: str, origin: Origin) -> Problem:
    return Problem(
        code="patch.file",
        what=f"{origin.name} names a file outside of this directory",
        where=origin.at,
        why=f"@{name} would not be in the repository, and so not on another machine",
        fix="copy the file to below this directory, and name it from here: @./patches/NAME.yaml",
    )


def unreadable_patch(name: str, error: OSError, origin: Origin | None) -> Problem:
    return Problem(
        code="patch.file",
        what=f"the patch {name} cannot be read",
        where=name if origin is None else origin.at,
        why=error.strerror or type(error).__name__,
        fix="check the path, which starts at the directory of the configuration",
    )


def template_in_patch(name: str, at: Position) -> Problem:
    return Problem(
        code="patch.template",
        what=f"the patch {name} is a template",
        where=at,
        why="here talhelper or topf would fill something in, and stockman does not",
        fix="write the value itself, or move the patch to `talos.patches`, which stays as it is",
    )


def configuration_in_git(path: Path) -> Problem:
    return Problem(
        code="config.exposed-output",
        what=f"{path} would be kept by git",
        where=str(path),
        why="a machine configuration holds the keys of the cluster, and history keeps them",
        fix="choose a directory outside of the repository, or one that .gitignore names",
    )


def unwritable_configuration(path: Path, error: OSError) -> Problem:
    return Problem(
        code="config.unwritable",
        what=f"{path} cannot be written",
        where=str(path),
        why=error.strerror or type(error).__name__,
        fix="choose a directory that you may write to",
    )


def no_cluster() -> Problem:
    return Problem(
        code="config.no-such-node",
        what="there are no nodes",
        why="the configuration describes guests and hosts only",
        fix="add nodes, or run the command where the nodes are",
    )


def no_such_machine(name: str, known: Iterable[str]) -> Problem:
    from stockman.config.nearest import nearest_name

    names = list(known)
    near = nearest_name(name, names)
    return Problem(
        code="config.no-such-node",
        what=f"there is no node {name}",
        why=f"the nodes are {', '.join(names)}",
        fix=f"try {near}" if near else "name one of them",
    )


def machine_files(directory: Path, desired: Desired) -> dict[str, str]:
    """Return the files whose text becomes part of configurations, by name.

    Missing files are left out; the machine that needs one is refused later.
    """
    texts: dict[str, str] = {}
    for name in list_machine_files(desired):
        try:
            with (directory / name).open("rb") as file:
                texts[name] = _machine_file_text(name, file.read(MAX_BYTES + 1))
        except FileNotFoundError:
            continue
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise Refused(_unreadable_machine_file(name, reason)) from None
    return texts


def _machine_file_text(name: str, content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise Refused(_unreadable_machine_file(name, f"it has more than {MAX_BYTES} bytes"))
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Refused(_unreadable_machine_file(name, "it is not a text in UTF-8")) from None


def _unreadable_machine_file(name: str, why: str) -> Problem:
    return Problem(
        code="talos.file",
        what=f"{name} cannot become part of a machine configuration",
        where=name,
        why=why,
        fix="check that it is a text file that you may read",
    )


Decrypt = Callable[[bytes, str], bytes]
"""Returns the plaintext of an encrypted file, given its content and name."""

_CLASSIC = {"global": "all", "controller": "controller", "worker": "worker"}
_TOML = {"all": "all", "control-plane": "controller", "worker": "worker"}
_ENDINGS = (".yaml", ".yml")
_JINJA, _GO = ".j2", ".tpl"
_PARTIAL = ".partial.yaml.j2"
_MARKERS = {_JINJA: pattern(r"#[{%|]"), _GO: pattern(r"\{\{")}
_TALHELPER = pattern(r"\{\{|(?<!\$)\$\{[A-Za-z_]")
"""Templates and variables that talhelper would expand."""
_ENCRYPTED = re.compile(rb"^sops:", re.MULTILINE)


class PatchFiles:
    """The patch files of one directory; each is read once, and reported once."""

    def __init__(
        self,
        directory: Path,
        loaded: LoadedConfig,
        problems: Problems,
        decrypt: Decrypt | None = None,
    ) -> None:
        self._directory = directory
        self._loaded = loaded
        self._problems = problems
        self._decrypt = decrypt
        self._talhelper = loaded.configuration.talos.patch_order == "talhelper"
        self._read: dict[str, Patch | None] = {}
        self._rendering: RenderResult | None = None
        self.texts: dict[str, str] = {}
        """Texts by file name, for those who show lines of them; none of encrypted files."""
        self.encrypted: list[str] = []
        """Files that are encrypted; without a way to open them they give no patches."""

    def patches(self, desired: Desired) -> PatchSet:
        """Return all patches of a cluster: from keys, directories and references."""
        written = PatchLocations(
            nodes=self._loaded.patch_nodes,
            referenced=self._read_references,
            text_place=self._text_place,
        )
        nodes = {str(node.name) for node in desired.nodes}
        return build_patch_set(desired, written, self._in_directories(nodes))

    @property
    def has_directories(self) -> bool:
        """Whether the template directories contain a patch file."""
        return any(True for _ in self._list_files())

    def _list_files(self) -> Iterator[tuple[str, str]]:
        """Return the patch directory and path of every file, sorted; overrides take precedence."""
        classic = self._loaded.classic
        root = "templates" if classic else "template"
        inner = "talos/patches" if classic else "talos"
        paths: dict[str, str] = {}
        for layer in ("config", "overrides"):
            base = self._directory / root / layer / inner
            for path in sorted(base.glob("*/*")) + sorted(base.glob("node/*/*")):
                relative = path.relative_to(base)
                if _is_patch(path) and (classic or relative.parts[0] in (*_TOML, "node")):
                    paths[str(relative)] = path.relative_to(self._directory).as_posix()
        for name, source in sorted(paths.items()):
            yield name.rpartition("/")[0], source

    def _in_directories(self, nodes: Iterable[str]) -> dict[PatchScopeName, tuple[Patch, ...]]:
        known = set(nodes)
        scopes = _CLASSIC if self._loaded.classic else _TOML
        by_scope: dict[PatchScopeName, tuple[Patch, ...]] = {}
        for directory, path in self._list_files():
            name = directory.removeprefix("node/")
            scope = scopes.get(directory, f"node {name}")
            if scope.startswith("node ") and name not in known:
                self._problems.add(no_such_node(path, name, known))
                continue
            patch = self._file(path, None, escaped=self._loaded.classic)
            if patch is not None:
                by_scope[scope] = (*by_scope.get(scope, ()), patch)
        return by_scope

    def _read_references(self, name: str, origin: Origin) -> Patch | None:
        path = (self._directory / name).resolve()
        root = self._directory.resolve()
        if Path(name).is_absolute() or not path.is_relative_to(root):
            self._problems.add(outside_workspace(name, origin))
            return None
        return self._file(path.relative_to(root).as_posix(), origin, escaped=self._talhelper)

    def _file(self, name: str, origin: Origin | None, *, escaped: bool) -> Patch | None:
        if name not in self._read:
            self._read[name] = self._patch(name, origin, escaped=escaped)
        return self._read[name]

    def _patch(self, name: str, origin: Origin | None, *, escaped: bool) -> Patch | None:
        try:
            with (self._directory / name).open("rb") as file:
                content = file.read(MAX_BYTES + 1)
            text = self._plain(name, content)
        except OSError as error:
            self._problems.add(unreadable_patch(name, error, origin))
            return None
        except Unreadable as unreadable:
            self._problems.add(unreadable.problem)
            return None
        if text is None:
            return None
        origin_ = None
        if name.endswith(_JINJA) and _MARKERS[_JINJA].search(text):
            filled = self._fill_in(name)
            if filled is None:
                return None
            # Rendered lines differ from those of the template.
            text, origin_ = filled, Position(name, 1, 1)
        marker = _marker(name.removesuffix(_JINJA), text, escaped=escaped)
        if marker is not None:
            at = Position(name, text.count("\n", 0, marker) + 1, _column(text, marker))
            self._problems.add(template_in_patch(name, at))
            return None
        text = text.replace("$$", "$") if escaped else text
        return Patch(label=name, file=name, text=text, place=origin_)

    def _fill_in(self, name: str) -> str | None:
        """Return a rendered makejinja template. None: it renders to nothing."""
        from stockman.rendering.templates.contract import CLASSIC, TOML, Limits
        from stockman.rendering.templates.names import template_names
        from stockman.rendering.templates.render import TemplateInputs, render_templates
        from stockman.rendering.templates.tree import read_tree

        if self._rendering is None:
            contract = CLASSIC if self._loaded.classic else TOML
            tree = read_tree(self._directory, contract, self._problems, Limits())
            names = template_names(self._loaded, resolve(self._loaded))
            self._rendering = render_templates(tree, TemplateInputs(names=names, key_files={}))
        for problem in self._rendering.problems:
            if str(problem.where).partition(":")[0] == name:
                self._problems.add(problem)
        for file in self._rendering.files.values():
            if file.origin == name and file.content is not None:
                return file.content.decode(errors="replace")
        return None

    def _plain(self, name: str, content: bytes) -> str | None:
        """Return the text of a file. None: it is encrypted and cannot be opened."""
        if _ENCRYPTED.search(content) is None:
            self.texts[name] = decode_text(name, content)
            return self.texts[name]
        self.encrypted.append(name)
        return None if self._decrypt is None else decode_text(name, self._decrypt(content, name))

    def _text_place(self, scalar: ScalarNode) -> tuple[int, int] | None:
        """Return where the lines of a text start; only literal YAML blocks keep their lines."""
        text = self._loaded.texts.get(scalar.at.file, "")
        if not self._loaded.classic or text[scalar.span[0] : scalar.span[0] + 1] != "|":
            return None
        lines = text.split("\n")[scalar.at.line :]
        first = next((line for line in lines if line.strip()), "")
        return scalar.at.line + 1, len(first) - len(first.lstrip(" ")) + 1


def _is_patch(path: Path) -> bool:
    name = path.name.removesuffix(_JINJA).removesuffix(_GO)
    return name.endswith(_ENDINGS) and not path.name.endswith(_PARTIAL) and path.is_file()


def _marker(name: str, text: str, *, escaped: bool) -> int | None:
    """Return the first position of a template expression. None: the text has none."""
    patterns = [pattern for ending, pattern in _MARKERS.items() if ending in name]
    starts = [match.start() for pattern in patterns for match in pattern.finditer(text)]
    if escaped:
        comments = None
        for match in _TALHELPER.finditer(text):
            comments = _comment_columns(text) if comments is None else comments
            line = text.count("\n", 0, match.start()) + 1
            if _column(text, match.start()) < comments.get(line, len(text)):
                starts.append(match.start())
                break
    return min(starts, default=None)


def _comment_columns(text: str) -> dict[int, int]:
    """Return the column of the comment on each line that has one; none if it is not YAML."""
    from yaml import YAMLError

    from stockman.config.comments import find_yaml_comments

    try:
        return {comment.line: comment.column for comment in find_yaml_comments(text).comments}
    except (Unreadable, YAMLError):
        return {}


def _column(text: str, index: int) -> int:
    return index - text.rfind("\n", 0, index)


def check_patches(directory: Path, loaded: LoadedConfig, desired: Desired) -> dict[str, str]:
    """Add problems of patches to those of loaded files; return the texts of patch files by name.

    No secret is needed: the bundle is replaced by an empty one. Without patches this does nothing.
    """
    files = PatchFiles(directory, loaded, loaded.problems)
    if not loaded.configuration.nodes or not (loaded.patch_nodes or files.has_directories):
        return {}
    from stockman.talos.machine.assembly import ConfigurationAssembler, runtime_mode
    from stockman.talos.machine.patch_sets import check_reserved_paths
    from stockman.talos.secrets.bundle import placeholder_bundle

    patches = files.patches(desired)
    check_reserved_paths(patches, loaded.problems)
    if loaded.problems.errors or patches.is_empty or desired.cluster is None:
        return files.texts
    try:
        texts = machine_files(directory, desired)
        assembly = ConfigurationAssembler(desired, placeholder_bundle(), patches, texts)
    except StockmanError as error:
        loaded.problems.add(error.problem)
        return files.texts
    for node in desired.nodes:
        if not patches.of(node, desired.cluster):
            continue
        of_node = Problems()
        try:
            assembled = assembly.of(node, of_node)
            if not of_node.errors:
                of_node.extend(
                    problem
                    for problem in assembled.validate(runtime_mode(desired))
                    if problem.code != "machine.certificate" or isinstance(problem.where, Position)
                )  # the certificates of the placeholder are no real ones
        except StockmanError as error:
            of_node.add(error.problem)
        loaded.problems.extend_new(of_node)
    return files.texts
