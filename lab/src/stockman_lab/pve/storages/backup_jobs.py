"""Backup jobs: what is backed up when, and what may be said about it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.storages.calendar import next_event

_ESCAPE = re.compile(r"\\(.)")
_VARIABLE = re.compile(r"\{\{([^\s{}]+)\}\}")
_KNOWN = frozenset({"cluster", "guestname", "node", "vmid"})


def template_problem(template: str) -> str:
    """What is wrong with a template. Empty: nothing."""
    if "\n" in template:
        return "contains a line feed\n"
    wrong = [
        f"escape sequence '\\{found[1]}' at char {found.start()}"
        for found in _ESCAPE.finditer(template)
        if found[1] not in "n\\"
    ]
    wrong += [
        f"variable '{found[1]}' at char {found.end() - len(found[1])}"
        for found in _VARIABLE.finditer(template)
        if found[1] not in _KNOWN
    ]
    return f"found unknown: {', '.join(wrong)}\n" if wrong else ""


def notes_of(cluster: Cluster, guest: Guest, template: str) -> str:
    """Notes on a backup of a guest."""
    values = {
        "cluster": cluster.name if cluster.state.is_clustered else "standalone node",
        "guestname": guest.name,
        "node": guest.node,
        "vmid": str(guest.vmid),
    }
    text = _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else found[1], template)
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)


_ROOT_ONLY = ("tmpdir", "dumpdir", "script", "job-id")
_TUNING = ("bwlimit", "ionice", "performance")
_KEYED = ("prune-backups", "fleecing", "performance")
_BARE = {"fleecing": "enabled"}
_NUMBERS = frozenset({"boolean", "integer", "number"})
_EVERY_DAY = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_TEXT_FLAGS = {"on": "1", "yes": "1", "true": "1", "off": "0", "no": "0", "false": "0"}


def check_backup_privileges(call: Call, given: Mapping[str, str]) -> None:
    """Refuse options that the caller may not set."""
    if call.caller.is_root:
        return
    for name in _ROOT_ONLY:
        if name in given:
            raise bad_parameters({name: "Only root may set this option."})
    if any(name in given for name in _TUNING):
        call.check("/", "Sys.Modify")
    storage = _parse_pairs("fleecing", given.get("fleecing", "")).get("storage")
    if storage:
        call.check(f"/storage/{storage}", "Datastore.AllocateSpace")


def check_backup_options(given: Mapping[str, str], *, is_complete: bool) -> None:
    """Refuse options that contradict each other, or that say nobody is backed up."""
    if given.get("vmid"):
        for name in ("all", "exclude", "pool"):
            if given.get(name, "0") not in ("", "0"):
                raise bad_parameters({name: "option conflicts with option 'vmid'"})
    problem = template_problem(given.get("notes-template", ""))
    if problem:
        raise bad_parameters({"notes-template": problem})
    if not is_complete:
        return
    everybody = given.get("all", "0") != "0" or ("exclude" in given and not given.get("pool"))
    someone = everybody or given.get("pool") or given.get("stop", "0") != "0"
    if not someone and not given.get("vmid"):
        raise bad_parameters({"vmid": "property is missing"})


def guests_of_backup(cluster: Cluster, given: Mapping[str, str]) -> list[int]:
    """Ids of guests that are backed up, also of those that are gone."""
    state = cluster.state
    if given.get("pool"):
        pool = state.resource_pools.get(given["pool"])
        if pool is None:
            raise die(f"pool '{given['pool']}' does not exist")
        vmids = list(pool.guests)
    elif given.get("vmid"):
        vmids = [int(one) for one in split_list(given["vmid"])]
    elif given.get("all", "0") != "0" or "exclude" in given:
        left_out = {int(one) for one in split_list(given.get("exclude", ""))}
        vmids = [guest for guest in state.guests if guest not in left_out]
    else:
        return []
    node = given.get("node", "")
    return sorted(vmid for vmid in vmids if not node or _node_of(cluster, vmid) in ("", node))


def _node_of(cluster: Cluster, vmid: int) -> str:
    guest = cluster.state.guests.get(vmid)
    return guest.node if guest is not None else ""


def with_schedule(given: dict[str, str], *, is_new: bool) -> dict[str, str]:
    """Options with their schedule: days and a time are the old way to give one."""
    values = {name: value for name, value in given.items() if name not in ("starttime", "dow")}
    start = given.get("starttime")
    if "schedule" in given:
        if start is not None:
            raise bad_parameters({"starttime": "'starttime' and 'schedule' cannot both be set"})
    elif start is not None:
        days = split_list(given.get("dow", ""))
        values["schedule"] = (
            start if not days or days == _EVERY_DAY else f"{','.join(days)} {start}"
        )
    elif is_new:
        raise bad_parameters({"schedule": "neither 'starttime' nor 'schedule' were set"})
    return values


def written(name: str, value: object) -> str:
    """An option as it is written down."""
    if isinstance(value, list):
        return "\0".join(str(one) for one in value)
    return str(value)


def job_row(cluster: Cluster, job: Section, *, with_next: bool = False) -> dict[str, object]:
    """A job as the API shows it: property strings are objects."""
    shapes = Schema.of(cluster.state.profile).operation("POST", "/cluster/backup").parameters
    row: dict[str, object] = {"id": job.id, "type": "vzdump"}
    for name, value in job.options.items():
        shape = shapes.get(name)
        kind = shape.shape.kind if shape is not None else ""
        if name in _KEYED:
            row[name] = dict(_type_values(_parse_pairs(name, value)))
        elif kind == "array":
            row[name] = value.split("\0")
        else:
            row[name] = int(value) if kind in _NUMBERS and value.isdigit() else value
    if with_next and "schedule" in job.options and job.options.get("enabled", "1") != "0":
        moment = next_event(job.options["schedule"], cluster.now)
        if moment is not None:
            row["next-run"] = moment
    return row


def _parse_pairs(name: str, text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for part in text.split(","):
        key, sign, value = part.partition("=")
        if sign:
            values[key] = value
        elif key and name in _BARE:
            values[_BARE[name]] = key
    return values


def _type_values(values: Mapping[str, str]) -> dict[str, object]:
    plain = {key: _TEXT_FLAGS.get(value.lower(), value) for key, value in values.items()}
    return {key: int(value) if value.isdigit() else value for key, value in plain.items()}
