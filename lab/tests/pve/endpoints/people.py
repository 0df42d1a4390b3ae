"""People with few rights, for tests of who may do what."""

from __future__ import annotations

from stockman_lab.pve.access.identity import Caller
from stockman_lab.servers.memory import MemoryClient


def somebody(
    door: MemoryClient, path: str, *privileges: str, name: str = "somebody"
) -> MemoryClient:
    """The same door for a user who has these privileges on a path, and what it had before."""
    userid = f"{name}@pve"
    role = f"r{len(door.cluster.state.access.roles)}"
    if userid not in door.cluster.state.access.users:
        door.post("/access/users", userid=userid)
    door.post("/access/roles", roleid=role, privs=",".join(privileges))
    door.put("/access/acl", path=path, users=userid, roles=role)
    return door.as_caller(Caller(userid))
