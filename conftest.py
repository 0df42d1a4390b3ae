"""Settings of all tests: fixed random seeds, no settings of the developer, no network."""

import gc
import ipaddress
import os
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from stockman.crypto import private_keys
from tests.rsa_key_cache import RsaKeyCache
from tests.xdist_plugins import (
    FileScheduling,
    ResultReports,
    ReverseCollection,
    collects_in_reverse,
    make_scheduler,
    needs_only_results,
)

pytest_plugins = ["stockman_lab.testing.plugin"]

settings.register_profile(
    "ci",
    database=None,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak",
    deadline=None,
    max_examples=5_000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci")

_DEVELOPER_SETTINGS = {
    # Width and colors of output.
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "FORCE_COLOR",
    "LINES",
    "NO_COLOR",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
    # The repository of git, as its hooks set it.
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
    # Options of make.
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
}
for _name in _DEVELOPER_SETTINGS.intersection(os.environ):
    del os.environ[_name]

_GIT_SETTINGS = {
    "init.defaultBranch": "main",
    "safe.directory": "*",
    "user.email": "tests@stockman.invalid",
    "user.name": "tests",
}
os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
os.environ["GIT_CONFIG_COUNT"] = str(len(_GIT_SETTINGS))
for _number, (_name, _value) in enumerate(_GIT_SETTINGS.items()):
    os.environ[f"GIT_CONFIG_KEY_{_number}"] = _name
    os.environ[f"GIT_CONFIG_VALUE_{_number}"] = _value


class NetworkUsed(RuntimeError):
    """A test tried to connect to another machine."""


def _allow_only_loopback(event: str, arguments: tuple[object, ...]) -> None:
    if not event.startswith("socket."):
        return  # most events are about files, modules and objects
    match event, arguments:
        case (("socket.connect" | "socket.sendto" | "socket.sendmsg"), (_, (str(host), *_))):
            if not _is_loopback(host):
                raise NetworkUsed(f"{event} to {host}")
        case (("socket.getaddrinfo" | "socket.gethostbyname"), (str(host), *_)):
            if not _is_numeric(host) and host not in ("", "localhost"):
                raise NetworkUsed(f"{event} of {host}")


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_numeric(host) and ipaddress.ip_address(host).is_loopback)


def _is_numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


sys.addaudithook(_allow_only_loopback)

vars(private_keys)["generate_rsa"] = RsaKeyCache()

sys.dont_write_bytecode = False
"""Otherwise processes that tests start, and every worker, would compile all modules again."""


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugins that make workers faster."""
    if collects_in_reverse(config):
        config.pluginmanager.register(ReverseCollection())
    if needs_only_results(config):
        config.pluginmanager.register(ResultReports())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    """Schedule complete files."""
    return make_scheduler(config, log)


def pytest_collection_finish() -> None:
    """Exclude modules and tests, which exist until the end, from garbage collection.

    Simulated worlds are large and cyclic, so collections are rare.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
