"""The fixture `real_tool`: a real program by name, for the tests of `make real`.

A program that cannot be built fails the test. Only `TOOLS`, a list of names that the
developer gave, makes tests of other programs skip.
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
    """`real_tool(name)` returns the executable, built first if it has to be."""
    provider = Provider()
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    chosen = _chosen(os.environ.get("TOOLS", ""), provider)

    def path(name: str) -> Path:
        program = provider.named(name)
        if chosen and program.name not in chosen:
            pytest.skip(f"{program.name} is not among TOOLS={os.environ['TOOLS']}")
        try:
            # A build takes minutes: the developer sees it go on.
            with capture.global_and_fixture_disabled() if capture else nullcontext():
                return provider.path(name)
        except ToolError as error:
            pytest.fail(f"{program.name}: {error}", pytrace=False)

    return path


def _chosen(text: str, provider: Provider) -> frozenset[str]:
    """The names that `TOOLS` allows; a bare name allows all its variants. Empty: every name."""
    chosen: set[str] = set()
    for name in text.replace(",", " ").split():
        allowed = {p.name for p in provider.programs if name in (p.name, p.executable)}
        if not allowed:
            raise UnknownProgramError(f"TOOLS names {name}, but no recipe is called so")
        chosen |= allowed
    return frozenset(chosen)
