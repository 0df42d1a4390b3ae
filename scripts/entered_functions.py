"""Records which functions of a source folder a process enters, for `prune_report`."""

from __future__ import annotations

import ast
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType


class Recorder:
    """Appends each key once to a file of this process."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._keys: set[str] = set()

    def __call__(self, key: str) -> None:
        if key not in self._keys:
            self._keys.add(key)
            with open(f"{self._directory}/{os.getpid()}", "a", encoding="utf-8") as file:  # noqa: PTH123  # runs at the start of every process
                file.write(f"{key}\n")


class Instrumenter(ast.NodeTransformer):
    """Calls the recorder at the start of every function."""

    def __init__(self, file: str) -> None:
        self._file = file

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._instrument(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._instrument(node)

    def _instrument(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.generic_visit(node)
        call = ast.parse(f"__record__({f'{self._file}:{node.lineno}'!r})").body[0]
        position = 1 if ast.get_docstring(node, clean=False) is not None else 0
        for part in ast.walk(call):
            ast.copy_location(part, node.body[0])
        node.body.insert(position, call)
        return node


class InstrumentingLoader(SourceFileLoader):
    """Loads a module with its functions instrumented, never from a cached code file."""

    source: str
    recorder: Recorder

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        Instrumenter(os.path.relpath(path, self.source)).visit(tree)
        return compile(ast.fix_missing_locations(tree), path, "exec")

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__record__"] = self.recorder
        super().exec_module(module)


class Finder(MetaPathFinder):
    """Finds modules of the instrumented folder."""

    def __init__(self, source: str, recorder: Recorder) -> None:
        self._source = source
        self._package = os.path.basename(source)  # noqa: PTH119  # runs at the start of every process
        self._recorder = recorder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != self._package:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            loader = InstrumentingLoader(spec.loader.name, spec.loader.path)
            loader.source, loader.recorder = self._source, self._recorder
            spec.loader = loader
        return spec


def install(source: str, records: str) -> None:
    sys.meta_path.insert(0, Finder(source, Recorder(records)))
