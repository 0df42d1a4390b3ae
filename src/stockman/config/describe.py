"""The documentation of records and enumerations: the text below each field, read once."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any


@cache
def field_docs(cls: type) -> dict[str, str]:
    """What stands below each field of a record class and of the classes it builds on.

    Empty where the program was installed without its source.
    """
    docs: dict[str, str] = {}
    for one in reversed(cls.__mro__):
        docs.update(_module_docs(one.__module__).get(one.__qualname__, {}))
    return docs


def class_doc(cls: type) -> str:
    """What a record class says of itself, as one paragraph."""
    return _paragraph(cls.__doc__ or "")


@cache
def _module_docs(module: str) -> dict[str, dict[str, str]]:
    """Documented fields by class; one look at the source serves all classes of a module."""
    source = _source(module)
    if source is None:
        return {}
    return {
        node.name: dict(_documented(node))
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
    }


def _source(module: str) -> str | None:
    # Not `importlib.abc.InspectLoader`: that module takes longer to import than all of this.
    spec: Any = sys.modules[module].__spec__
    loader: Any = getattr(spec, "loader", None)
    if hasattr(loader, "get_source"):
        source: str | None = loader.get_source(module)
        return source
    if hasattr(loader, "get_data") and spec.origin:  # that of pytest, for one
        data: bytes = loader.get_data(spec.origin)
        return data.decode("utf-8")
    return None


def _documented(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, below in zip(node.body, node.body[1:], strict=False):
        match statement, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, _paragraph(text)


def _paragraph(text: str) -> str:
    return " ".join(text.split())
