"""What holds for every test: the same dice each time, nobody's own settings, no network."""

import gc
import ipaddress
import os
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from stockman.crypto import private_keys
from tests.kept_rsa_keys import KeptRsaKeys
from tests.less_talk import Files, LessTalk, is_enough, scheduling
from tests.reading_from_the_end import FromTheEnd, reads_from_the_end

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

_SETTINGS_OF_THE_DEVELOPER = {
    # How wide and how colourful output is.
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "FORCE_COLOR",
    "LINES",
    "NO_COLOR",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
    # Which repository git works on, as its hooks set it.
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
    # What `make` tells the programs that it starts.
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
}
for _name in _SETTINGS_OF_THE_DEVELOPER.intersection(os.environ):
    del os.environ[_name]

_SETTINGS_OF_GIT = {
    "init.defaultBranch": "main",
    "safe.directory": "*",
    "user.email": "tests@stockman.invalid",
    "user.name": "tests",
}
os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
os.environ["GIT_CONFIG_COUNT"] = str(len(_SETTINGS_OF_GIT))
for _number, (_name, _value) in enumerate(_SETTINGS_OF_GIT.items()):
    os.environ[f"GIT_CONFIG_KEY_{_number}"] = _name
    os.environ[f"GIT_CONFIG_VALUE_{_number}"] = _value


class NetworkUsed(RuntimeError):
    """A test dialled something that is not this machine."""


def _only_loopback(event: str, arguments: tuple[object, ...]) -> None:
    if not event.startswith("socket."):
        return  # files, modules and objects are told of far more often
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


sys.addaudithook(_only_loopback)

vars(private_keys)["generate_rsa"] = KeptRsaKeys()

sys.dont_write_bytecode = False
"""Processes that tests start would compile everything anew, and so would every worker."""


def pytest_configure(config: pytest.Config) -> None:
    """Let workers share the work of reading modules, and say no more than is read."""
    if reads_from_the_end(config):
        config.pluginmanager.register(FromTheEnd())
    if is_enough(config):
        config.pluginmanager.register(LessTalk())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Files | None:
    """Hand out whole files."""
    return scheduling(config, log)


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over modules and tests, which stay until the end.

    Worlds are large and go in circles: looking through all of them seldom is enough.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
