"""Every problem of secrets bundles, clients and schematics, made by broken input.

What their pages are compared with. Input that a page shows is read from the page.
"""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from stockman.model.errors import StockmanError
from stockman.model.origin import Position
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.credentials.kubeconfig import client_certificates
from stockman.talos.credentials.roles import TalosRole, organizations
from stockman.talos.credentials.talosconfig import read_talosconfig
from stockman.talos.machine.configuration import configuration_text, machine_documents
from stockman.talos.schematic import check_extensions, read_schematic
from stockman.talos.secrets.bundle import bundle_text
from stockman.talos.secrets.bundle_reader import import_bundle, read_bundle
from stockman.talos.talconfig import render_talconfig
from tests.model.page_files import shown
from tests.talos.machine.clusters import desired
from tests.talos.made import bundle

BUNDLE = "talos/talsecret.sops.yaml"
SCHEMATIC = Position("cluster.yaml", 12, 3)
"""Where a schematic is written out; its problems are told there."""


def told(read: Callable[[Problems], object]) -> Problem:
    """The one problem that is reported."""
    problems = Problems()
    read(problems)
    (only,) = problems
    return only


def bundle_read(text: str) -> Problem:
    return told(lambda problems: read_bundle(BUNDLE, Secret(text), problems))


def whole() -> str:
    return bundle_text(bundle()).reveal()


def with_key_of_another() -> str:
    """The bundle with the key of Kubernetes in the place of that of etcd."""
    certs = bundle().certs
    etcd = replace(certs.etcd, key=certs.k8s.key)
    return bundle_text(replace(bundle(), certs=replace(certs, etcd=etcd))).reveal()


def refused(roles: list[TalosRole]) -> Problem:
    with pytest.raises(StockmanError) as caught:
        organizations(roles, Version.parse("1.12.1"))
    return caught.value.problem


def extension(name: str, talos: str) -> Problem:
    return told(
        lambda problems: check_extensions([name], Version.parse(talos), problems, SCHEMATIC)
    )


def schematic(customization: dict[str, object]) -> Problem:
    written: dict[str, object] = {"customization": customization}
    return told(lambda problems: read_schematic(written, problems, SCHEMATIC))


def written(password: Secret) -> Problem:
    with pytest.raises(StockmanError) as caught:
        configuration_text([{"password": password}])
    return caught.value.problem


def contract_refused() -> Problem:
    with pytest.raises(StockmanError) as caught:
        render_talconfig(desired("1.14"), bundle(), {})
    return caught.value.problem


def without_files(cluster: str) -> Problem:
    """What a machine says whose files are missing."""
    state = desired("1.13", cluster)
    with pytest.raises(StockmanError) as caught:
        machine_documents(state, state.nodes[0], bundle())
    where = Position("cluster.yaml", 2, 28)
    return replace(caught.value.problem, where=where)


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "talconfig.contract": contract_refused,
    "bundle.missing": lambda: bundle_read(
        re.sub(r"(    etcd:\n +crt: .*\n) +key: .*\n", r"\1", whole())
    ),
    "secret.unresolved": lambda: written(Secret("${MIRROR}")),
    "bundle.two-encryption-secrets": lambda: bundle_read(
        whole().replace("trustdinfo", "    aescbcencryptionsecret: x\ntrustdinfo")
    ),
    "bundle.unreadable": lambda: bundle_read(with_key_of_another()),
    "bundle.withheld": lambda: bundle_read(
        whole().replace("secret: a secret", "secret: ENC[AES256_GCM,data:eA==,type:str]")
    ),
    "bundle.worker": lambda: told(
        lambda problems: import_bundle("work-1.yaml", Secret(shown("bundle.worker")), problems)
    ),
    "certificate.unreadable": lambda: told(
        lambda problems: client_certificates(
            "kubeconfig", Secret(shown("certificate.unreadable")), problems
        )
    ),
    "talos.file": lambda: without_files(
        f"{shown('talos.file')}  extensions: [siderolabs/qemu-guest-agent]\n"
    ),
    "schematic.extension": lambda: extension("siderolabs/bird2", "1.11.5"),
    "schematic.unknown-extension": lambda: extension("siderolabs/made-up", "1.12.1"),
    "schematic.unknown-key": lambda: schematic({"extraKernelArg": []}),
    "schematic.value": lambda: schematic({"meta": [{"key": 300, "value": "wool"}]}),
    "talos.no-role": lambda: refused([]),
    "talos.unknown-role": lambda: refused([TalosRole.META_WRITER]),
    "talosconfig.unreadable": lambda: told(
        lambda problems: read_talosconfig(
            "talosconfig", Secret(shown("talosconfig.unreadable")), problems
        )
    ),
}
