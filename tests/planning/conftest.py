"""Tests that wait, each in a loop of its own; machines to plan for, clusters to bring to Flux."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from tests.planning.bootstrapped import Bootstrapped, Workspace, bootstrapped, workspace
from tests.planning.estate import NO_HA, Estate


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine to its end."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames  # the only way to the fixtures that a test asks for
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="session")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The repository of a cluster."""
    return workspace(tmp_path_factory.mktemp("followed"))


@pytest.fixture
def bare(followed: Workspace) -> Bootstrapped:
    """A cluster of three nodes without a network."""
    return bootstrapped(followed)


@pytest.fixture
def estate() -> Estate:
    """Three machines that nobody but stockman moves."""
    estate = Estate("three-node")
    estate.edit("nodes.yaml", NO_HA, "")
    return estate
