"""talosctl brings configurations to machines of the lab, new ones and those that run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.talos.maintenance import from_image, from_medium
from tests.real.talos.served import served, staged
from tests.real.talos.stories import configuring
from tools.pytest_plugin import RealTool


@pytest.mark.parametrize(
    ("client", "server"), [("1.11.5", "1.11.5"), ("1.13.9", "1.12.1"), ("1.14.1", "1.14.1")]
)
def test_a_machine_is_made_from_a_medium(
    client: str, server: str, tmp_path: Path, real_tool: RealTool
) -> None:
    with served(from_medium(server), tmp_path, real_tool) as lab:
        configuring.a_new_machine_is_made(lab, client, server, installs=True)


@pytest.mark.parametrize(
    ("client", "server"), [("1.12.1", "1.12.1"), ("1.13.9", "1.13.9"), ("1.14.1", "1.13.9")]
)
def test_a_machine_is_made_from_an_image(
    client: str, server: str, tmp_path: Path, real_tool: RealTool
) -> None:
    with served(from_image(server), tmp_path, real_tool) as lab:
        configuring.a_new_machine_is_made(lab, client, server, installs=False)


@pytest.mark.parametrize(
    ("client", "server"), [("1.11.5", "1.12.1"), ("1.13.9", "1.13.9"), ("1.14.1", "1.14.1")]
)
def test_configurations_are_applied(
    client: str, server: str, tmp_path: Path, real_tool: RealTool
) -> None:
    with served(staged("single", server), tmp_path, real_tool) as lab:
        configuring.configurations_are_applied(lab, client, server)


@pytest.mark.parametrize(
    ("client", "server"),
    [
        ("1.11.5", "1.11.5"),
        ("1.11.5", "1.12.1"),
        ("1.12.1", "1.11.5"),
        ("1.13.9", "1.14.1"),
        ("1.14.1", "1.14.1"),
    ],
)
def test_configurations_are_patched(
    client: str, server: str, tmp_path: Path, real_tool: RealTool
) -> None:
    with served(staged("single", server), tmp_path, real_tool) as lab:
        configuring.configurations_are_patched(lab, client, server)
