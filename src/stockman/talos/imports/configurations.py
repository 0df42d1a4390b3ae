"""Machine configurations as plain documents, and their network as our keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface

from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.config.source.tree import to_plain_data
from stockman.config.writers.yaml_writer import render_yaml
from stockman.crypto.pem import CertificateAndKey
from stockman.model.desired import Desired, Node
from stockman.model.errors import StockmanError
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.talos.documents import Document, as_mapping, as_mappings, as_texts
from stockman.talos.imports.foreign import ForeignNode, ForeignPatch, PatchOrder, build_document
from stockman.talos.machine.configuration import machine_documents, reveal_document
from stockman.talos.machine.gen_config import without_bundle_values
from stockman.talos.patches.apply import apply_patches, load_documents
from stockman.talos.patches.patch import Patch, PatchRefused
from stockman.talos.patches.schema import plain_value
from stockman.talos.secrets.bundle import (
    ClusterAuthorities,
    DiscoveryIdentity,
    KubernetesSecrets,
    SecretsBundle,
    TrustdSecrets,
)

V1ALPHA1 = "v1alpha1"
DocumentKey = tuple[str, str]
"""Kind and name of a document."""
Configuration = dict[DocumentKey, Document]

_EMPTY_PAIR = CertificateAndKey(crt="", key=Secret(""))
_NO_BUNDLE = SecretsBundle(
    cluster=DiscoveryIdentity(id="", secret=Secret("")),
    secrets=KubernetesSecrets(
        bootstraptoken=Secret(""), secretboxencryptionsecret=None, aescbcencryptionsecret=None
    ),
    trustdinfo=TrustdSecrets(token=Secret("")),
    certs=ClusterAuthorities(
        etcd=_EMPTY_PAIR,
        k8s=_EMPTY_PAIR,
        k8saggregator=_EMPTY_PAIR,
        k8sserviceaccount=Secret(""),
        os=_EMPTY_PAIR,
    ),
)
"""Used where a function needs a bundle but its values do not matter."""


def document_key(document: Document) -> DocumentKey:
    """Return kind and name of a document."""
    return str(document.get("kind", V1ALPHA1)), str(document.get("name", ""))


def merge_patches(
    base: Sequence[Document], patches: Iterable[ForeignPatch], minor: str
) -> Configuration:
    """Return the documents with the patches applied; raises PatchRefused."""
    text = "---\n".join(render_yaml(document) for document in base)
    documents = load_documents("the base", text, minor)
    applied = apply_patches(documents, [as_patch(patch) for patch in patches], minor)
    return _by_key(plain_value(document.canonical()) for document in applied)


def patch_problem(refused: PatchRefused, patches: Iterable[ForeignPatch], minor: str) -> Problem:
    """Return the problem of a refused patch, with its exact position where that can be found."""
    for patch in patches:
        if patch.written is not None:
            try:
                apply_patches((), [patch.written], minor)
            except PatchRefused as error:
                if error.problem.what == refused.problem.what:
                    return error.problem
    return refused.problem


def as_patch(patch: ForeignPatch) -> Patch:
    """Return a foreign patch as a Patch that knows its position."""
    value = to_plain_data(patch.document)
    text = render_yaml(value) if isinstance(value, dict) else "{}\n"
    return Patch(label=patch.label, file=patch.at.file, text=text, place=patch.at)


def load_desired(files: dict[str, str]) -> Desired | Problem:
    """Return the desired state that the files describe, or the first problem."""
    loaded = load({name: text.encode() for name, text in files.items()})
    check_rules(loaded)
    try:
        return resolve(loaded)
    except StockmanError as error:
        return error.problem


def base_documents(desired: Desired, node: Node) -> list[Document]:
    """Return the documents that stockman renders for a node before any patch, without secrets."""
    first, *following = machine_documents(desired, node, _NO_BUNDLE)
    return [
        reveal_document(without_bundle_values(first)),
        *(reveal_document(document) for document in following),
    ]


def node_patches(desired: Desired, node: Node) -> list[Patch]:
    """Return the patches of a node in the configured order."""
    if desired.cluster is None:
        return []
    shared = desired.cluster.talos.patches
    role = shared.controller if node.is_controller else shared.worker
    specific = [*role, *node.patches]
    order: PatchOrder = desired.cluster.talos.patch_order
    ordered = [*specific, *shared.all] if order == "talhelper" else [*shared.all, *specific]
    return [
        Patch(
            label=f"a patch of {node.name}",
            file="the result",
            text=render_yaml(document),
            place=Position("the result", 1, 1),
        )
        for document in ordered
        if isinstance(document, dict)
    ]


def node_configuration(desired: Desired, node: Node, minor: str) -> Configuration:
    """Return the configuration that stockman renders for a node, without secrets.

    Raises PatchRefused.
    """
    text = "---\n".join(render_yaml(document) for document in base_documents(desired, node))
    documents = load_documents("the base", text, minor)
    patched = apply_patches(documents, node_patches(desired, node), minor)
    return _by_key(plain_value(document.canonical()) for document in patched)


def value_at(configuration: Configuration, document: DocumentKey, path: Sequence[str]) -> object:
    """Return the value at a path. None: there is none, or it is empty."""
    value: object = configuration.get(document)
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if value not in ({}, [], "") else None


def _by_key(documents: Iterable[object]) -> Configuration:
    by_key: Configuration = {}
    for document in documents:
        filled = _drop_empty(document)
        if isinstance(filled, dict):
            if "kind" not in filled:
                filled = without_bundle_values(filled)
            by_key[document_key(filled)] = filled
    return by_key


def _drop_empty(value: object) -> object:
    """Return a value without empty members."""
    if isinstance(value, dict):
        inner = {key: _drop_empty(item) for key, item in value.items()}
        return {key: item for key, item in inner.items() if item not in ({}, [], "", None)}
    return [_drop_empty(item) for item in value] if isinstance(value, list) else value


V1ALPHA1_KEY = (V1ALPHA1, "")
_DOMAIN = pattern(r"(?=.*[a-z])[a-z0-9-]+(\.[a-z0-9-]+)+")


def common_value(values: Iterable[list[str]]) -> list[str]:
    """Return the value of all machines that have one. Empty: they do not agree."""
    known = [value for value in values if value]
    return known[0] if known and all(value == known[0] for value in known) else []


def list_texts(configuration: Configuration, path: tuple[str, ...]) -> list[str]:
    """Return a list of texts of the v1alpha1 document."""
    items = value_at(configuration, V1ALPHA1_KEY, path)
    return [str(item) for item in items] if isinstance(items, list) else []


def name_servers(configuration: Configuration) -> list[str]:
    """Return the name servers of the document and of the old field."""
    old = list_texts(configuration, ("machine", "network", "nameservers"))
    new = value_at(configuration, ("ResolverConfig", ""), ("nameservers",))
    servers = new if isinstance(new, list) else []
    addresses = [str(server.get("address")) for server in servers if isinstance(server, dict)]
    return list(dict.fromkeys((*addresses, *old)))


def time_servers(configuration: Configuration) -> list[str]:
    """Return the time servers of the document, or else of the old field."""
    old = list_texts(configuration, ("machine", "time", "servers"))
    new = value_at(configuration, ("TimeSyncConfig", ""), ("ntp", "servers"))
    return [str(server) for server in new] if isinstance(new, list) else old


def scheduling(configuration: Configuration) -> list[str]:
    """Return "true" if pods may run on controllers, else "false"."""
    allowed = value_at(configuration, V1ALPHA1_KEY, ("cluster", "allowSchedulingOnControlPlanes"))
    return ["true" if allowed else "false"]


def install_disk(configuration: Configuration) -> str:
    """Return the disk by its path or serial number. Empty: it is selected in another way."""
    disk = value_at(configuration, V1ALPHA1_KEY, ("machine", "install", "disk"))
    if isinstance(disk, str):
        return disk
    selector = value_at(configuration, V1ALPHA1_KEY, ("machine", "install", "diskSelector"))
    if not isinstance(selector, dict):
        return ""
    return str(selector["serial"]) if list(selector) == ["serial"] else "*"


def common_domains(
    nodes: Iterable[ForeignNode], theirs: dict[str, Configuration], api: str
) -> list[str]:
    """Return the domain names that are SANs of every machine and every API server."""
    lists = []
    for node in nodes:
        lists.append(list_texts(theirs[node.name], ("machine", "certSANs")))
        if node.is_controller:
            lists.append(list_texts(theirs[node.name], ("cluster", "apiServer", "certSANs")))
    return [
        name
        for name in dict.fromkeys(lists[0] if lists else ())
        if name != api and _DOMAIN.fullmatch(name) and all(name in names for names in lists)
    ]


def configuration_of(documents: Iterable[Document]) -> Configuration:
    """Return documents by kind and name."""
    return {
        (str(document.get("kind", V1ALPHA1)), str(document.get("name", ""))): document
        for document in documents
    }


_MAC = pattern(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_LINK_FIELDS = frozenset({"addresses", "routes", "mtu", "vip", "dhcp"})
_SMALLEST, _LARGEST = 1450, 9000


@dataclass(slots=True, frozen=True)
class PlainLink:
    """The link with the node's address, if our keys can express it."""

    mac: str
    network: str
    gateway: str
    mtu: int
    vlan: int | None
    index: int
    """Index of the device."""

    @property
    def shared(self) -> tuple[str, str, int | None]:
        """The values that all nodes share."""
        return self.network, self.gateway, self.vlan


def plain_link(node: ForeignNode, api: str) -> PlainLink | None:
    """Return the link of a node if it is one card with one address, one route and nothing else."""
    for index, device in enumerate(node.devices):
        section, vlan = _device_with_address(device, node.address)
        if section is None:
            continue
        mac = _selector_mac(as_mapping(device.get("deviceSelector")))
        own = set(device) - {"deviceSelector"}
        simple = mac is not None and own <= (_LINK_FIELDS if vlan is None else {"vlans", "dhcp"})
        if not simple or mac is None or not _is_plain(section, node, api, is_vlan=vlan is not None):
            return None
        interface = _interface(as_texts(section.get("addresses"))[0])
        if interface is None:
            return None
        (route,) = as_mappings(section.get("routes"))
        mtu = section.get("mtu", 1500)
        return PlainLink(
            mac=mac,
            network=str(interface.network),
            gateway=str(route["gateway"]),
            mtu=mtu if isinstance(mtu, int) else 1500,
            vlan=vlan,
            index=index,
        )
    return None


def _is_plain(section: Document, node: ForeignNode, api: str, *, is_vlan: bool) -> bool:
    allowed = _LINK_FIELDS | ({"vlanId"} if is_vlan else set())
    routes, addresses = as_mappings(section.get("routes")), as_texts(section.get("addresses"))
    mtu = section.get("mtu", 1500)
    return (
        set(section) - {"deviceSelector"} <= allowed
        and section.get("dhcp") in (None, False)
        and len(addresses) == len(routes) == 1
        and set(routes[0]) <= {"network", "gateway"}
        and routes[0].get("network") in (None, "", "0.0.0.0/0")
        and isinstance(routes[0].get("gateway"), str)
        and isinstance(mtu, int)
        and _SMALLEST <= mtu <= _LARGEST
        and section.get("vip") == ({"ip": api} if node.is_controller else None)
    )


def _device_with_address(device: Document, address: str) -> tuple[Document | None, int | None]:
    """Return the device, or its VLAN, that has an address, and the VLAN's number."""
    if _has_address(device, address):
        return device, None
    vlans = as_mappings(device.get("vlans"))
    if len(vlans) == 1 and _has_address(vlans[0], address):
        number = vlans[0].get("vlanId")
        return vlans[0], number if isinstance(number, int) else None
    return None, None


def _has_address(section: Document, address: str) -> bool:
    return any(
        text.startswith(f"{address}/") for text in as_texts(section.get("addresses")) if address
    )


def any_mac(node: ForeignNode) -> str:
    """Return the MAC address of the (first bonded) card that has the node's address.

    If no link has it: of the first card that uses DHCP. Empty: unknown.
    """
    addressed = [
        device
        for device in node.devices
        if _has_address(device, node.address)
        or any(_has_address(vlan, node.address) for vlan in as_mappings(device.get("vlans")))
    ]
    asking = [device for device in node.devices if device.get("dhcp") is True]
    for device in addressed or asking:
        selectors = [
            as_mapping(device.get("deviceSelector")),
            *as_mappings(as_mapping(device.get("bond")).get("deviceSelectors")),
        ]
        mac = next((text for selector in selectors if (text := _mac_pattern(selector))), "")
        if mac:
            return mac
    return ""


def find_network(configuration: Configuration, address: str) -> tuple[str, str]:
    """Return network and gateway of the link that has an address; empty if unknown."""
    for section in _iter_sections(list(configuration.values())):
        addresses = section.get("addresses")
        for item in addresses if isinstance(addresses, list) else []:
            text = item.get("address") if isinstance(item, dict) else item
            if address and isinstance(text, str) and text.startswith(f"{address}/"):
                interface = _interface(text)
                return (
                    ("", "") if interface is None else (str(interface.network), _gateway(section))
                )
    return "", ""


def _interface(text: str) -> IPv4Interface | None:
    try:
        return IPv4Interface(text)
    except ValueError:
        return None


def _gateway(section: Document) -> str:
    for route in as_mappings(section.get("routes")):
        if route.get("network") in (None, "", "0.0.0.0/0") and not route.get("destination"):
            return str(route.get("gateway", ""))
    return ""


def _iter_sections(value: object) -> Iterator[Document]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _iter_sections(item)
    elif isinstance(value, list):
        for item in value:
            yield from _iter_sections(item)


def _selector_mac(selector: Document) -> str | None:
    """Return the MAC address of a selector that has no other condition."""
    return _mac_pattern(selector) if len(selector) == 1 else None


def _mac_pattern(selector: Document) -> str | None:
    for key in ("permanentAddr", "hardwareAddr"):
        value = selector.get(key)
        if isinstance(value, str) and _MAC.fullmatch(value):
            return value.lower()
    return None


LINK_KINDS = frozenset(
    {"LinkAliasConfig", "LinkConfig", "VLANConfig", "DHCPv4Config", "Layer2VIPConfig"}
)
"""Kinds of documents that stockman generates for the link with a node's address."""
_ALL_LINK_KINDS = LINK_KINDS | {"BondConfig", "BridgeConfig", "WireguardConfig", "DHCPv6Config"}
_LABEL = "networkInterfaces"


def link_patches(
    node: ForeignNode, link: PlainLink | None, theirs: Configuration, ours: Configuration
) -> list[ForeignPatch]:
    """Return patches for the links of a node; `link` is the one that keys express, if any."""
    is_old = not any(document.get("kind") == "HostnameConfig" for document in node.base)
    documents = (
        _interface_patches(node, link, ours)
        if is_old
        else _document_patches(node, link, theirs, ours)
    )
    at = node.devices_at if node.devices else node.at
    return [
        ForeignPatch(_LABEL, "node", (-2, number), build_document(document, at))
        for number, document in documents
    ]


def _interface_patches(
    node: ForeignNode, link: PlainLink | None, ours: Configuration
) -> list[tuple[int, Document]]:
    """Up to contract 1.11: patches that append to a list in the v1alpha1 document."""
    remaining = [
        device for at, device in enumerate(node.devices) if link is None or at != link.index
    ]
    documents: list[Document] = []
    if link is None and value_at(ours, V1ALPHA1_KEY, ("machine", "network", "interfaces")):
        documents.append({"machine": {"network": {"interfaces": {"$patch": "delete"}}}})
    if remaining:
        documents.append({"machine": {"network": {"interfaces": remaining}}})
    return list(enumerate(documents))


def _document_patches(
    node: ForeignNode, link: PlainLink | None, theirs: Configuration, ours: Configuration
) -> list[tuple[int, Document]]:
    own_names = _link_names(node, link) if link is not None else set()
    documents = [
        document
        for document in node.base
        if document.get("kind") in _ALL_LINK_KINDS
        and str(document.get("name")) not in own_names
        and str(document.get("link")) not in own_names
    ]
    if link is None:
        documents += [
            {"apiVersion": "v1alpha1", "kind": kind, "name": name, "$patch": "delete"}
            for kind, name in ours
            if kind in LINK_KINDS and (kind, name) not in theirs
        ]
    return list(enumerate(documents))


def _link_names(node: ForeignNode, link: PlainLink) -> set[str]:
    """Return the names that the other tool uses for the link that keys express."""
    aliases = [alias for alias in node.base if alias.get("kind") == "LinkAliasConfig"]
    name = next(
        (str(alias["name"]) for alias in aliases if link.mac in str(alias["selector"]).lower()), ""
    )
    return {name} if link.vlan is None else {name, f"{name}.{link.vlan}"}
