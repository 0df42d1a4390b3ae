"""The reference lists every call, and no other."""

import re
from pathlib import Path

import pytest

from stockman.proxmox.privileges import VmRequirements, provisioning_privileges
from tests.proxmox.every_call import EVERY
from tests.proxmox.test_api import heard

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "proxmox-calls.md"
TEXT = PAGE.read_text()
ROW = re.compile(r"^\| (?P<method>\w+) \| (?P<calls>`[A-Z]+ /.+`) \|$", re.MULTILINE)
LISTED = {row["method"]: re.findall(r"`(.+?)`", row["calls"]) for row in ROW.finditer(TEXT)}


def matches(listed: str, made: str) -> bool:
    """Whether a listed call with names in braces is the one that was made."""
    form = re.sub(r"\\\{volume\\\}", ".+", re.escape(listed))
    return re.fullmatch(re.sub(r"\\\{[\w\\-]+\\\}", "[^/]+", form), made) is not None


def test_every_method_is_listed() -> None:
    assert sorted(LISTED) == sorted(EVERY)


@pytest.mark.parametrize("method", EVERY)
def test_what_is_listed_is_what_is_called(method: str) -> None:
    made = [request.shown for request in heard(method)]

    assert all(any(matches(call, one) for call in LISTED[method]) for one in made)
    assert all(any(matches(call, one) for one in made) for call in LISTED[method])


def test_every_path_that_needs_rights_is_listed() -> None:
    everything = VmRequirements(
        pools=True, pci=True, usb=True, high_availability=True, start_order=True
    )

    needed = [need.path for need in provisioning_privileges(9, everything)]

    assert [path for path in needed if f"`{path}`" not in TEXT] == []


@pytest.mark.parametrize(("major", "is_needed"), [(8, False), (9, True)])
def test_privileged_containers_need_a_right_to_modify_since_9(major: int, is_needed: bool) -> None:
    needs = provisioning_privileges(major, VmRequirements(privileged_containers=True))

    (root,) = [need for need in needs if need.path == "/"]

    assert ("Sys.Modify" in root.privileges) is is_needed
