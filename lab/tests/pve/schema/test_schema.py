"""The schema: calls, paths, formats and property strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.schema import rule
from stockman_lab.pve.schema.formats import formats_of
from stockman_lab.pve.schema.rule import Check, integer, number, text_of
from stockman_lab.pve.schema.schema import PROFILES, Schema
from stockman_lab.pve.schema.shape import Shape

from lab.tests.pve.schema.asking import VM, errors, parameters

CONFIG = "/nodes/{node}/qemu/{vmid}/config"


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no profile '7\.0'; there are 8\.4, 9\.1"):
        Schema.of("7.0")


@pytest.mark.parametrize(("profile", "calls"), [("8.4", 605), ("9.1", 649)])
def test_all_calls_are_there(profile: str, calls: int) -> None:
    assert len(Schema.of(profile).operations) == calls


CONTENT = "/nodes/pve1/storage/local/content"


def test_a_path_is_decoded_once() -> None:
    schema = Schema.of("9.1")

    assert schema.route("GET", "/access/users/a%40pve").arguments == {"userid": "a@pve"}
    assert schema.route("GET", "/access/users/a%2540pve").arguments == {"userid": "a%40pve"}
    assert schema.route("GET", "/access/users/%C3%BC@pve").arguments == {"userid": "ü@pve"}
    assert schema.route("GET", "/access/users/%FC@pve").arguments == {"userid": "ü@pve"}


@given(st.sampled_from(["GET", "PUT", "", "ü"]), st.text() | st.text("/%nodes01:{}", max_size=30))
def test_no_path_breaks_the_router(method: str, path: str) -> None:
    try:
        found = Schema.of("9.1").route(method, path).operation.method
    except ApiError as refused:
        found = str(refused.status)

    assert found in {method, "501"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (0.1, "0.1"),
        (1e20, "1e+20"),
        (10**30, "1" + "0" * 30),
        (10**1000, "Inf"),
        (float("inf"), "Inf"),
        (True, "1"),
        (None, ""),
        (["a"], "ARRAY(0x0)"),
    ],
)
def test_a_scalar_has_one_text(value: object, text: str) -> None:
    assert text_of(value) == text


def test_digits_of_other_scripts_do_not_count() -> None:
    arabic_three = "\u0663"

    assert integer(arabic_three) == 0
    assert number(f"5{arabic_three}") == 5


PIECES = (
    "9" * 5000,
    "a" * 3000,
    "\u0663",
    "keep-last=",
    ",",
    ";",
    "=",
    "/",
    ".",
    ":",
    "-",
    "\0",
    "1",
)
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)


def _checks(profile: str) -> list[Check]:
    formats = formats_of(profile)
    shapes: dict[object, Shape] = {}
    for operation in Schema.of(profile).operations.values():
        for parameter in operation.parameters.values():
            shapes[parameter.shape.form or id(parameter.shape.keys)] = parameter.shape
    return [check for shape in shapes.values() if (check := formats.check(shape)) is not None]


CHECKS = [check for profile in PROFILES for check in _checks(profile)]


@given(st.sampled_from(CHECKS), st.text() | HOSTILE)
def test_no_text_breaks_a_format(check: Check, text: str) -> None:
    problem = check(text, "key")

    assert problem is None or problem.startswith("invalid format - ")


CACHES = ("auto", "always", "metadata", "never")


def said(key: str, value: str, profile: str = "9.1") -> str:
    """What is said about one value of a machine's configuration."""
    return errors("PUT", f"{VM}/config", profile, **{key: value})[key]


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        (
            "net0",
            "virtio,bridge=a,bridge=b",
            "duplicate key in comma-separated list property: bridge",
        ),
        ("net0", "virtio,e1000", "duplicate key in comma-separated list property: model"),
        ("net0", "model=virtio,e1000", "duplicate key in comma-separated list property: model"),
        (
            "net0",
            "virtio=BC:24:11:AA:BB:CC,e1000=BC:24:11:AA:BB:CD",
            "key alias 'model' is already defined",
        ),
        ("net0", "=x", "missing key in comma-separated list property"),
        ("ipconfig0", "dhcp", "value without key, but schema does not define a default key"),
        ("cpu", "flags=+aes", "CPU is missing cputype"),
        (
            "cpu",
            "pentium9",
            "Built-in cputype 'pentium9' is not defined (missing 'custom-' prefix?)",
        ),
        ("cpu", "custom-mine", "Custom cputype 'mine' not found"),
    ],
)
def test_texts_that_cannot_be_read_are_refused(key: str, value: str, problem: str) -> None:
    assert said(key, value) == f"invalid format - {problem}\n"


@pytest.mark.parametrize(
    ("key", "value", "problems"),
    [
        ("net0", "", "net0.model: property is missing and it is not optional\n"),
        (
            "net0",
            "virtio,foo=1",
            f"net0.foo: {rule.NOT_DEFINED}\n",
        ),
        (
            "net0",
            "virtio,bridge=a b",
            "net0.bridge: invalid format - invalid bridge ID 'a b'\n\n",
        ),
        ("net0", "virtio,tag=5000", "net0.tag: value must have a maximum value of 4094\n"),
        (
            "net0",
            "virtio,firewall=maybe",
            "net0.firewall: type check ('boolean') failed - got 'maybe'\n",
        ),
        ("ipconfig0", "gw=10.0.0.1", "ipconfig0.ip: missing property required by 'ipconfig0.gw'\n"),
        ("boot", "order=scsi0;zip0", "boot.order: invalid format - invalid boot device 'zip0'\n\n"),
        (
            "virtiofs0",
            "wool,cache=no",
            f"virtiofs0.cache: {rule.not_an_option('no', CACHES)}\n",
        ),
    ],
)
def test_wrong_keys_are_listed(key: str, value: str, problems: str) -> None:
    assert said(key, value) == f"invalid format - format error\n{problems}"


def test_flags_of_processors_are_a_closed_list() -> None:
    problem = said("cpu", "host,flags=+aes;+vmx")

    assert problem.startswith(
        "invalid format - VM-specific CPU flags must be a subset of: aes, amd-"
    )


def test_retention_is_all_or_counted() -> None:
    backup = "/cluster/backup/nightly"

    assert errors("PUT", backup, prune__backups="keep-all=1,keep-last=3") == {
        "prune-backups": "invalid format - keep-all cannot be set together with other options.\n"
    }
    assert parameters("PUT", backup, prune__backups="keep-last=3,keep-daily=0")


def test_fleecing_needs_a_storage() -> None:
    assert errors("PUT", "/cluster/backup/nightly", fleecing="1") == {
        "fleecing": "invalid format - 'storage' parameter is required when 'enabled' is set\n"
    }
