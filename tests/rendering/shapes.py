"""Input in the shape of cluster-template's, with values of our own."""

from __future__ import annotations

from stockman.config.language import Dialect
from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.rendering.repository import RenderedRepository, render_repository
from tests.catalog.estates import MATERIALS

SCHEMATIC = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
CLUSTER = """\
node_cidr: 127.66.0.0/24
node_dns_servers: [1.1.1.1]
cluster_api_addr: 127.66.0.10
cluster_dns_gateway_addr: 127.66.0.11
cluster_gateway_addr: 127.66.0.12
repository_name: owner/meadow
repository_visibility: {visibility}
cloudflare_domain: example.com
cloudflare_token: grazing
cloudflare_gateway_addr: 127.66.0.13
talos_version: {talos}
"""
NODES = f"""\
nodes:
  - name: cp-1
    address: 127.66.0.21
    controller: true
    disk: /dev/sda
    mac_addr: bc:24:11:00:00:21
    schematic_id: {SCHEMATIC}
  - name: work-1
    address: 127.66.0.31
    controller: false
    disk: SERIAL-1
    mac_addr: bc:24:11:00:00:31
    schematic_id: {SCHEMATIC}
    mtu: 9000
    encrypt_disk: true
    kernel_modules: [nbd]
"""


def shaped(more: str = "", *, visibility: str = "public", talos: str = "1.13.9") -> Desired:
    """A cluster of two nodes, as the files of cluster-template describe one."""
    return resolved(CLUSTER.format(visibility=visibility, talos=talos) + more)


def resolved(cluster: str) -> Desired:
    """The two nodes with another cluster.yaml."""
    loaded = load({"cluster.yaml": cluster.encode(), "nodes.yaml": NODES.encode()})
    check_rules(loaded)
    assert not loaded.problems.errors, [str(problem) for problem in loaded.problems.errors]
    return resolve(loaded)


def drawn(desired: Desired, dialect: Dialect = "classic") -> RenderedRepository:
    """What is rendered for a cluster; fails on any problem."""
    problems = Problems()
    rendered_repository = render_repository(desired, MATERIALS, dialect, problems)
    assert not problems, [str(problem) for problem in problems]
    return rendered_repository


def texts(found: RenderedRepository) -> dict[str, str]:
    """Files that are not encrypted, by path."""
    return {file.path: file.text for file in found.tree if isinstance(file.text, str)}
