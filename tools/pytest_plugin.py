"""The fixture `real_tool`: a real program by name, for the tests of `make real`.

A program that cannot be built fails the test. With a list of names in `TOOLS`, tests of other
programs are skipped.
"""

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from tools.errors import ToolError, UnknownProgramError
from tools.provide import Provider

RealTool = Callable[[str], Path]


@pytest.fixture(scope="session")
def real_tool(pytestconfig: pytest.Config) -> RealTool:
    """`real_tool(name)` returns the executable; it is built if needed."""
    provider = Provider()
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    chosen = _chosen(os.environ.get("TOOLS", ""), provider)

    def path(name: str) -> Path:
        program = provider.find(name)
        if chosen and program.name not in chosen:
            pytest.skip(f"{program.name} is not among TOOLS={os.environ['TOOLS']}")
        try:
            # A build takes minutes: show its progress.
            with capture.global_and_fixture_disabled() if capture else nullcontext():
                return provider.path(name)
        except ToolError as error:
            pytest.fail(f"{program.name}: {error}", pytrace=False)

    return path


def _chosen(text: str, provider: Provider) -> frozenset[str]:
    """Return the names in `TOOLS`, bare names with all variants. Empty: all programs."""
    chosen: set[str] = set()
    for name in text.replace(",", " ").split():
        allowed = {p.name for p in provider.programs if name in (p.name, p.executable)}
        if not allowed:
            raise UnknownProgramError(f"TOOLS names {name}, but there is no such recipe")
        chosen |= allowed
    return frozenset(chosen)
