"""Where the real API itself answers otherwise than its schema promises."""

from __future__ import annotations

import re

from stockman_lab.pve.schema.operation import Operation

from lab.tests.returns import misfits

_TOKEN = r"(data|data\.info)\.(privsep|expire): '\d+' is no (boolean|integer)"

DEPARTURES: dict[tuple[str, str], tuple[str, ...]] = {
    # As it came with the path.
    ("GET", "/nodes/{node}/qemu/{vmid}/firewall/rules/{pos}"): (r"data\.pos: '\d+' is no integer",),
    ("GET", "/cluster/nextid"): (r"data: '\d+' is no integer",),
    # As they stand in user.cfg: texts, and nothing where a user has none.
    ("POST", "/access/users/{userid}/token/{tokenid}"): (_TOKEN,),
    ("PUT", "/access/users/{userid}/token/{tokenid}"): (_TOKEN,),
    ("GET", "/access/users"): (r"data\[\d+\]\.tokens: None is no array",),
    ("GET", "/access/users/{userid}"): (r"data\.tokens: None is no object",),
    # Without a task where the work was done within the delay that was asked for.
    ("POST", "/nodes/{node}/qemu/{vmid}/config"): (r"data: None is no string",),
    ("DELETE", "/nodes/{node}/storage/{storage}/content/{volume}"): (r"data: None is no string",),
    # Whole numbers as they were read from the configuration.
    ("GET", "/nodes/{node}/qemu/{vmid}/pending"): (
        r"data\[\d+\]\.(value|pending): \d+ is no string",
    ),
    ("GET", "/nodes/{node}/lxc/{vmid}/pending"): (
        r"data\[\d+\]\.(value|pending): \d+ is no string",
    ),
    ("POST", "/nodes/{node}/replication/{id}/schedule_now"): (r"data: None is no string",),
    # Only where they are set.
    ("GET", "/cluster/mapping/pci"): (r"data\[\d+\]: description is missing",),
    ("GET", "/cluster/mapping/dir"): (r"data\[\d+\]: description is missing",),
    ("GET", "/cluster/mapping/usb"): (r"data\[\d+\]: (description|error) is missing",),
    # As it was read from a name like `vmbr0.5`.
    ("GET", "/nodes/{node}/network"): (r"data\[\d+\]\.vlan-id: '\d+' is no integer",),
    ("GET", "/nodes/{node}/network/{iface}"): (r"data\.vlan-id: '\d+' is no integer",),
    # A container that does not run has none.
    ("GET", "/nodes/{node}/lxc/{vmid}/interfaces"): (r"data: None is no array",),
}
"""By operation, patterns of what `misfits` finds."""


def unpromised(operation: Operation, value: object) -> list[str]:
    """What of a reply neither the schema promises nor the real one is known for."""
    known = DEPARTURES.get((operation.method, operation.path), ())
    return [
        misfit
        for misfit in misfits(operation.returns, value)
        if not any(re.fullmatch(pattern, misfit) for pattern in known)
    ]
