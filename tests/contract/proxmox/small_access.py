"""The part of the small Proxmox VE that knows users, roles, pools, mappings and HA."""

from __future__ import annotations

from uuid import UUID

from tests.adapters.http_proxmox.scripted import Answer, Asked, died, wrong
from tests.contract.proxmox.small_routes import on


class SmallAccess:
    """Who may do what, and what belongs together; nobody is kept from anything."""

    def __init__(self) -> None:
        self.users: dict[str, dict[str, object]] = {"root@pam": {"enable": 1, "expire": 0}}
        self.roles: dict[str, set[str]] = {}
        self.tokens: dict[str, dict[str, object]] = {}
        self.acl: list[dict[str, object]] = []
        self.pools: dict[str, set[int]] = {}
        self.mappings: dict[str, list[str]] = {}
        self.ha: dict[str, dict[str, object]] = {}
        self.rules: dict[str, dict[str, object]] = {}
        self.privileges: dict[str, set[str]] = {}
        """By path; a path that is not here has those of the next one above it."""

    @on("GET", "/access/roles")
    def role_rows(self, request: Asked) -> Answer:
        return Answer([
            {"roleid": name, "privs": ",".join(sorted(privileges)), "special": 0}
            for name, privileges in self.roles.items()
        ])  # fmt: skip

    @on("POST", "/access/roles")
    def new_role(self, request: Asked) -> Answer:
        name = request.values["roleid"]
        if name in self.roles:
            return died(f"create role failed: role '{name}' already exists")
        self.roles[name] = set(request.values["privs"].split(","))
        return Answer()

    @on("DELETE", "/access/roles/{name}")
    def no_role(self, request: Asked, name: str) -> Answer:
        if self.roles.pop(name, None) is None:
            return died(f"delete role failed: role '{name}' does not exist")
        return Answer()

    @on("GET", "/access/users")
    def user_rows(self, request: Asked) -> Answer:
        return Answer([{"userid": name, **facts} for name, facts in self.users.items()])

    @on("POST", "/access/users")
    def new_user(self, request: Asked) -> Answer:
        name = request.values["userid"]
        if name in self.users:
            return died(f"create user failed: user '{name}' already exists")
        self.users[name] = {"enable": int(request.values["enable"]), "expire": 0}
        return Answer()

    @on("POST", "/access/users/{user}/token/{name}")
    def new_token(self, request: Asked, user: str, name: str) -> Answer:
        if f"{user}!{name}" in self.tokens:
            return wrong(tokenid="Token already exists.")
        self.tokens[f"{user}!{name}"] = {"privsep": int(request.values["privsep"]), "expire": 0}
        value = str(UUID(int=len(self.tokens)))
        return Answer({"full-tokenid": f"{user}!{name}", "info": {"privsep": "1"}, "value": value})

    @on("GET", "/access/users/{user}/token")
    def token_rows(self, request: Asked, user: str) -> Answer:
        return Answer([
            {"tokenid": name.partition("!")[2], **facts}
            for name, facts in self.tokens.items() if name.startswith(f"{user}!")
        ])  # fmt: skip

    @on("PUT", "/access/acl")
    def change_acl(self, request: Asked) -> Answer:
        values = request.values
        kind = next(kind for kind in ("user", "group", "token") if f"{kind}s" in values)
        rule: dict[str, object] = {
            "path": values["path"], "roleid": values["roles"], "type": kind,
            "ugid": values[f"{kind}s"], "propagate": int(values.get("propagate", "1")),
        }  # fmt: skip
        kept = [one for one in self.acl if {**one, "propagate": 0} != {**rule, "propagate": 0}]
        self.acl = kept if values.get("delete") == "1" else [*kept, rule]
        return Answer()

    @on("GET", "/access/acl")
    def acl_rows(self, request: Asked) -> Answer:
        return Answer(self.acl)

    @on("GET", "/access/permissions")
    def permissions(self, request: Asked) -> Answer:
        path = at = request.values["path"]
        while at not in self.privileges and at != "/":
            at = at.rpartition("/")[0] or "/"
        return Answer({path: dict.fromkeys(sorted(self.privileges.get(at, ())), 1)})

    @on("POST", "/pools")
    def new_pool(self, request: Asked) -> Answer:
        name = request.values["poolid"]
        if name in self.pools:
            return died(f"create pool failed: pool '{name}' already exists")
        self.pools[name] = set()
        return Answer()

    @on("GET", "/pools/{name}")
    def pool(self, request: Asked, name: str) -> Answer:
        if name not in self.pools:
            return died(f"pool '{name}' does not exist")
        rows = [{"id": f"qemu/{vmid}", "type": "qemu", "vmid": vmid} for vmid in self.pools[name]]
        return Answer({"members": rows})

    @on("PUT", "/pools/{name}")
    def change_pool(self, request: Asked, name: str) -> Answer:
        vms = {int(one) for one in request.values.get("vms", "").split(",") if one}
        delete = request.values.get("delete") == "1"
        self.pools[name] = self.pools[name] - vms if delete else self.pools[name] | vms
        return Answer()

    @on("DELETE", "/pools/{name}")
    def no_pool(self, request: Asked, name: str) -> Answer:
        if self.pools.pop(name, None) is None:
            return died(f"delete pool failed: pool '{name}' does not exist")
        return Answer()

    @on("POST", "/cluster/mapping/pci")
    def new_mapping(self, request: Asked) -> Answer:
        name = request.values["id"]
        if name in self.mappings:
            return died(f"create PCI mapping failed: mapping '{name}' already exists")
        self.mappings[name] = [value for key, value in request.form if key == "map"]
        return Answer()

    @on("GET", "/cluster/mapping/pci")
    def mapping_rows(self, request: Asked) -> Answer:
        return Answer([{"id": name, "map": rows} for name, rows in self.mappings.items()])

    @on("POST", "/cluster/ha/resources")
    def new_ha(self, request: Asked) -> Answer:
        values = request.values
        if values["sid"] in self.ha:
            return died(f"resource ID '{values['sid']}' already defined")
        self.ha[values.pop("sid")] = {**values, "type": "vm"}
        return Answer()

    @on("GET", "/cluster/ha/resources")
    def ha_rows(self, request: Asked) -> Answer:
        return Answer([{"sid": name, **facts} for name, facts in self.ha.items()])

    @on("DELETE", "/cluster/ha/resources/{sid}")
    def no_ha(self, request: Asked, sid: str) -> Answer:
        if self.ha.pop(sid, None) is None:
            return died(f"no such resource '{sid}'")
        return Answer()

    @on("POST", "/cluster/ha/rules")
    def new_rule(self, request: Asked) -> Answer:
        values: dict[str, object] = dict(request.values)
        self.rules[str(values.pop("rule"))] = values
        return Answer()

    @on("GET", "/cluster/ha/rules")
    def rule_rows(self, request: Asked) -> Answer:
        return Answer([{"rule": name, **facts} for name, facts in self.rules.items()])

    @on("GET", "/cluster/ha/groups")
    def groups(self, request: Asked) -> Answer:
        return died("cannot index groups: ha groups have been migrated to rules")
