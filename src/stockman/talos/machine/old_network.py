"""The network of contract 1.11, inside of the v1alpha1 document."""

from __future__ import annotations

from stockman.talos.machine.facts import Document, Machine
from stockman.talos.machine.wires import Face, Wire, bond_options, wires


def old_network(machine: Machine) -> Document | None:
    """The `network` section; None from contract 1.13 on, which has none."""
    if machine.styled(1, 13):
        return None
    kubespan: Document = {}
    if machine.cluster.talos.kubespan:
        kubespan = {"kubespan": {"enabled": True}}
    if machine.styled(1, 12):
        return kubespan
    network = machine.cluster.network
    section: Document = {
        "hostname": machine.node.name,
        "interfaces": [_interface(wire) for wire in wires(machine)],
        "nameservers": [str(server) for server in network.dns_servers],
        "disableSearchDomain": True,
    }
    entries = machine.settings.host_entries
    if entries:
        section["extraHostEntries"] = [
            {"ip": address, "aliases": list(names)} for address, names in entries.items()
        ]
    return section | kubespan


def _interface(wire: Wire) -> Document:
    interface: Document = {"interface": wire.name}
    if wire.bond is not None:
        # The permanent address stays when a card joins a bond; its other address does not.
        cards = [{"permanentAddr": mac} for mac in wire.macs]
        interface["bond"] = {
            "mode": wire.bond.mode,
            "deviceSelectors": cards,
            **bond_options(wire.bond),
        }
    elif wire.macs:
        interface = {"deviceSelector": {"hardwareAddr": wire.macs[0]}}
    interface |= _face(wire.face)
    if wire.vlans:
        interface["vlans"] = [{"vlanId": tag} | _face(face) for tag, face in wire.vlans]
    return interface


def _face(face: Face) -> Document:
    found: Document = {"dhcp": face.dhcp}
    if face.mtu is not None:
        found["mtu"] = face.mtu
    if face.addresses:
        found["addresses"] = [str(address) for address in face.addresses]
    if face.routes:
        found["routes"] = [
            {
                "network": str(route.network),
                **({"gateway": str(route.gateway)} if route.gateway is not None else {}),
                **({"metric": route.metric} if route.metric is not None else {}),
            }
            for route in face.routes
        ]
    if face.vip:
        found["vip"] = {"ip": face.vip}
    return found
