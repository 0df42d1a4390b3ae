"""What a fault can ask of a request: who got it, what it is about, and whose it claims to be."""

from __future__ import annotations

import re

from stockman_lab.pve.access.credentials import presented
from stockman_lab.pve.api.request import ApiRequest
from stockman_lab.pve.host import Host

_NODE = re.compile(r"/nodes/([^/]+)")
_GUEST = re.compile(r"/nodes/[^/]+/(?:qemu|lxc)/(\d+)(?:/|\Z)")
_TICKET_OF = re.compile(r"PVE:([^:]+@[^:]+):")


def facts_of(host: Host, request: ApiRequest) -> dict[str, object]:
    """Facts of a request; a guest is named by the path, or as the one that is to be made."""
    node, guest = _NODE.match(request.path), _GUEST.match(request.path)
    return {
        "host": host.name,
        "method": request.method,
        "path": request.path,
        "node": node[1] if node else "",
        "vmid": guest[1] if guest else request.params.get("vmid", ""),
        "user": _claimed(request),
    }


def _claimed(request: ApiRequest) -> str:
    """Who a request says it comes from; whether that is true is looked at later."""
    if request.caller is not None:
        return request.caller.authid
    shown = presented(request.method, request.path, request.headers)
    if shown.api_token:
        return shown.api_token.rpartition("=")[0]
    ticket = _TICKET_OF.match(shown.ticket or "")
    return ticket[1] if ticket else ""
