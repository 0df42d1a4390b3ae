"""The table of the safety page: what can be destroyed, by which code, and after which checks.

`python -m docs._ext.safety` writes it into the page. Texts of conditions are the first lines of the
docstrings of the code that checks them.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import stockman
from stockman.app.runs.apply import execute_plan
from stockman.engine.object_lock import ObjectLock
from stockman.planning import images
from stockman.planning.access import revocation, surplus
from stockman.planning.kubernetes import nodes as kubernetes_nodes
from stockman.planning.stages import talos as talos_stage
from stockman.planning.talos import rejoin
from stockman.planning.templates import changes as templates
from stockman.planning.vm import removal, seeds
from stockman.steps.access import delivery, roles, tokens
from stockman.steps.etcd import bootstrap, gates, members
from stockman.steps.images import fetch
from stockman.steps.kubernetes import chart, nodes, objects, smoke_test
from stockman.steps.talos import configuration, machine, reset
from stockman.steps.talos.gates import MachineIdentity
from stockman.steps.vm import (
    destroy,
    disks,
    identity,
    interrupted,
    placement,
    power,
    seed,
    system_disk,
    template,
)
from stockman.steps.vm import gates as vm_gates
from stockman.steps.vm.ownership import ownership_of

ROOT = Path(stockman.__file__).parent
PAGE = Path(__file__).parents[1] / "explanation" / "safety.md"
START, END = "<!-- start of the generated tables -->", "<!-- end of the generated tables -->"
_CLIENTS = ("proxmox/calls", "talos/api", "kubernetes/calls", "s3")
"""Packages with the methods that make requests."""
_WIRE_WORDS = frozenset(
    {
        *("DELETE", "stop", "shutdown", "reset", "reboot", "rollback", "template", "unlink"),
        *("move_disk", "move_volume", "acl", "eviction"),
        *("Reset", "Reboot", "Shutdown", "Rollback", "Upgrade", "BlockDeviceWipe"),
        *("Bootstrap", "EtcdRecover", "EtcdLeaveCluster", "EtcdRemoveMemberByID"),
    }
)
"""HTTP methods, commands, ends of paths and gRPC methods of requests that can destroy something."""
HARMLESS = {
    "access_rules": "reads the access rules",
    "grant": "adds an access rule",
    "put": "deletes only its own unfinished upload",
    "abort_upload": "deletes only an unfinished upload",
}
"""Client methods whose requests contain such a word, and why they destroy nothing."""


class DestructivePath(NamedTuple):
    """A function that calls a client method which can destroy something."""

    code: Callable[..., Any]
    lost: str
    conditions: tuple[Callable[..., Any], ...]
    """Functions, methods and gates that must agree first."""
    system: str
    planned: tuple[type, ...] = ()
    """Actions that use the code, if it is not a method of the action."""


_VM, _TALOS, _ETCD, _KUBERNETES = "Proxmox VE", "Talos", "etcd", "Kubernetes"
_ACCESS, _BUCKET = "Access to Proxmox VE", "Bucket"
PATHS = (
    DestructivePath(
        destroy.GuestDeletion.attempt,
        "a guest with the disks that it owns",
        (
            removal.find_removable_guests,
            removal.check_removal,
            execute_plan,
            identity.find_guest,
            identity.is_same_guest,
            ownership_of,
            destroy.disks_lost_with,
        ),
        _VM,
        (destroy.DestroyVm,),
    ),
    DestructivePath(
        destroy.DestroyVm.prepare,
        "the running state of a guest that is deleted",
        (identity.find_guest, destroy.disks_lost_with),
        _VM,
    ),
    DestructivePath(
        destroy._remove_from_ha,
        "the HA entry of a guest that is deleted",
        (identity.find_guest, destroy.disks_lost_with),
        _VM,
        (destroy.DestroyVm,),
    ),
    DestructivePath(
        interrupted.delete_blank_guest,
        "a guest without any value, with the volumes that were created for it",
        (identity.is_blank, interrupted.volumes_worth_keeping, vm_gates.VmidFreeOrOwned),
        _VM,
    ),
    DestructivePath(
        interrupted.delete_incomplete_container,
        "a container whose creation was interrupted",
        (interrupted.find_incomplete_container,),
        _VM,
    ),
    DestructivePath(
        system_disk._power_off,
        "the running state of a VM without a disk",
        (system_disk.has_no_disk, identity.require_guest),
        _VM,
    ),
    DestructivePath(
        system_disk._delete_stale_copies,
        "copies of an image that interrupted imports left",
        (system_disk.is_image_of, vm_gates.VmidFreeOrOwned),
        _VM,
    ),
    DestructivePath(
        power.StopVm.attempt, "the running state of a guest", (identity.require_guest,), _VM
    ),
    DestructivePath(
        power.RestartHaltedVm.attempt,
        "the state of a VM that QEMU halted after an error",
        (power.guest_power, identity.require_guest),
        _VM,
    ),
    DestructivePath(
        power.RestartVm.attempt, "the running state of a guest", (identity.require_guest,), _VM
    ),
    DestructivePath(
        power.RestartVm._reboot, "the running state of a guest", (identity.require_guest,), _VM
    ),
    DestructivePath(
        disks.DetachDisk.attempt,
        "nothing: the disk stays as a volume that no VM uses",
        (identity.require_guest, disks.disk_slot),
        _VM,
    ),
    DestructivePath(
        seed.SeedMachine.attempt,
        "the running state of a VM whose machine was never configured",
        (seed.is_marked_new, identity.require_guest),
        _VM,
    ),
    DestructivePath(
        seed._delete_volume,
        "an image with a first configuration, which is not needed any more",
        (seed.seed_prefix, seeds.plan_unused_seed_deletion, identity.find_guest),
        _VM,
    ),
    DestructivePath(
        template.ConvertToTemplate.attempt,
        "the possibility to start a VM, which becomes a template",
        (identity.require_guest, template.is_template),
        _VM,
    ),
    DestructivePath(
        fetch.FetchImage._delete,
        "an image with wrong content, which is downloaded again",
        (fetch._has_size,),
        _VM,
    ),
    DestructivePath(
        fetch.DeleteImage.attempt,
        "an image that can be downloaded again",
        (images.find_unused_images, images.plan_image_removals, fetch.DeleteImage.done),
        _VM,
    ),
    DestructivePath(
        placement.DisableHa.attempt, "the HA entry of a guest", (placement.ha_id,), _VM
    ),
    DestructivePath(
        placement.RemoveFromHaRule.attempt,
        "a rule of HA without guests",
        (placement._find_rule,),
        _VM,
    ),
    DestructivePath(
        placement.DeleteHaGroup.attempt,
        "an empty group of HA",
        (placement.DeleteHaGroup.done,),
        _VM,
    ),
    DestructivePath(
        placement.DeletePool.attempt, "an empty pool", (placement.DeletePool.done,), _VM
    ),
    DestructivePath(
        destroy.GuestDeletion.attempt,
        "a template",
        (
            templates.plan_template_removals,
            identity.find_guest,
            identity.is_same_guest,
            template.find_linked_clones,
        ),
        _VM,
        (template.DeleteTemplate,),
    ),
    DestructivePath(
        roles.DeleteUser.attempt,
        "a user with its tokens",
        (revocation.other_cluster_owners, surplus.find_surplus_access, roles.DeleteUser.done),
        _ACCESS,
    ),
    DestructivePath(
        roles.DeleteRole.attempt,
        "a role",
        (revocation.other_cluster_owners, roles.DeleteRole.done),
        _ACCESS,
    ),
    DestructivePath(
        roles.RevokeRole.attempt,
        "a role of a user on a path",
        (surplus.find_surplus_access, roles.RevokeRole._find_rule),
        _ACCESS,
    ),
    DestructivePath(
        tokens.CreateToken.attempt,
        "a token whose secret is not stored",
        (tokens.CreateToken._is_kept, tokens.find_token),
        _ACCESS,
    ),
    DestructivePath(
        tokens.RenewToken.attempt,
        "a token that was never stored",
        (tokens.read_stored_token_id, tokens.find_token),
        _ACCESS,
    ),
    DestructivePath(
        tokens.DeleteToken.attempt,
        "a token that was replaced",
        (tokens.read_stored_token_id, delivery.TokenDelivered, delivery.TokenUnused),
        _ACCESS,
    ),
    DestructivePath(
        configuration.RebootIntoConfiguration.run,
        "the running state of a machine",
        (
            machine.is_same_boot,
            configuration.refuse_changed_machine,
            MachineIdentity,
            gates.EtcdQuorum,
        ),
        _TALOS,
    ),
    DestructivePath(
        reset.ResetMachine.run,
        "configuration, state and pods of a machine that leaves",
        (
            removal.find_leaving_machines,
            machine.probe_machine,
            machine.refuse_other_machine,
            gates.EtcdQuorumAfterRemoval,
        ),
        _TALOS,
    ),
    DestructivePath(
        members.LeaveEtcd.run,
        "the copy of etcd on a controller",
        (gates.EtcdQuorumAfterRemoval, members.read_members, members.refuse_other_member),
        _ETCD,
    ),
    DestructivePath(
        members.RemoveEtcdMember.run,
        "a member of etcd whose machine does not answer",
        (gates.EtcdQuorumAfterRemoval, members.is_member, members.refuse_running_member),
        _ETCD,
    ),
    DestructivePath(
        members.RejoinEtcd.run,
        "data of a controller that was removed from etcd, and its pods",
        (
            rejoin.was_removed_from_etcd,
            MachineIdentity,
            members.NotEtcdMember,
            machine.is_same_boot,
            machine.refuse_other_machine,
        ),
        _ETCD,
    ),
    DestructivePath(
        bootstrap.BootstrapEtcd._bootstrap,
        "access to an earlier etcd, beside which a new one begins",
        (
            talos_stage._earlier_etcd,
            bootstrap.EtcdNotBootstrapped,
            bootstrap.BootstrapEtcd._refuse_unknown,
            bootstrap.find_earlier_etcd,
        ),
        _ETCD,
    ),
    DestructivePath(
        nodes.DrainNode._evict,
        "pods of a node, which start on others",
        (
            nodes.must_leave_node,
            nodes.DrainNode._refuse_schedulable,
            nodes.DrainNode._node,
            kubernetes_nodes.drain_step,
        ),
        _KUBERNETES,
    ),
    DestructivePath(
        nodes.DeleteNode.run,
        "the Node object of a machine that left",
        (kubernetes_nodes.plan_node_deletions, nodes.DeleteNode.done),
        _KUBERNETES,
    ),
    DestructivePath(
        delivery.RestartReaders._restart_pod,
        "pods that read an old Secret; their owners create others",
        (delivery.RestartReaders._find_readers, delivery.find_secret_readers),
        _KUBERNETES,
    ),
    DestructivePath(
        chart._delete_object,
        "objects of the Job that installed a chart",
        (objects.is_managed, objects.object_uid),
        _KUBERNETES,
    ),
    DestructivePath(
        smoke_test._delete_objects,
        "objects of a smoke test",
        (smoke_test._managed_objects,),
        _KUBERNETES,
    ),
    DestructivePath(
        ObjectLock.delete_old_records,
        "records of the lock that newer ones replaced",
        (ObjectLock.replaced_records,),
        _BUCKET,
    ),
)


def name_of(code: Callable[..., Any]) -> str:
    """Return module and name of a function below `stockman`."""
    return f"{code.__module__}.{code.__qualname__}"


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def destructive_methods() -> Mapping[str, frozenset[str]]:
    """Return client methods whose requests can destroy something, with the words that show it."""
    methods: dict[str, frozenset[str]] = {}
    for package in _CLIENTS:
        for file in sorted((ROOT / package).rglob("*.py")):
            constants = dict(_constants(_tree(file)))
            for method in _public_methods(_tree(file)):
                if words := _words(method, constants) & _WIRE_WORDS:
                    methods[method.name] = methods.get(method.name, frozenset()) | words
    return {name: words for name, words in methods.items() if name not in HARMLESS}


def _public_methods(tree: ast.Module) -> Iterator[ast.AsyncFunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.AsyncFunctionDef) and not method.name.startswith("_"):
                    yield method


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for name, item in zip(target.elts, value.elts, strict=True):
                if isinstance(name, ast.Name):
                    yield name.id, item


def _words(method: ast.AsyncFunctionDef, constants: Mapping[str, ast.expr]) -> set[str]:
    """Return the ends of all strings of a method, without its docstring."""
    body = method.body[1:] if ast.get_docstring(method) else method.body
    nodes = [node for part in body for node in ast.walk(part)]
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    used = [constants[name] for name in names if name in constants]
    nodes += [node for constant in used for node in ast.walk(constant)]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return {text.rpartition("/")[2] for text in texts if isinstance(text, str)}


def callers(methods: Iterable[str]) -> dict[str, set[str]]:
    """Return the functions of the product that await such a method, each with the methods."""
    methods_by_caller: dict[str, set[str]] = {}
    names = set(methods)
    for file in sorted(ROOT.rglob("*.py")):
        path_in_product = file.relative_to(ROOT)
        if path_in_product.as_posix().startswith((*_CLIENTS, "adapters/s3")):
            continue
        module = ".".join(("stockman", *path_in_product.with_suffix("").parts))
        for path, node in _functions(_tree(file), ""):
            for call in _awaited_calls(node):
                if isinstance(call.func, ast.Attribute) and call.func.attr in names:
                    methods_by_caller.setdefault(f"{module}.{path}", set()).add(call.func.attr)
    return methods_by_caller


def _functions(
    node: ast.AST, path: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{path}.{child.name}".lstrip(".")
            if not isinstance(child, ast.ClassDef):
                yield name, child
            yield from _functions(child, name)


def _awaited_calls(function: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        if isinstance(node, ast.Await) and isinstance(node.value, ast.Call):
            yield node.value


def is_used(condition: Callable[..., Any]) -> bool:
    """Return whether the product uses a condition, beyond its definition."""
    return any(condition.__name__ in names_in(file) for file in ROOT.rglob("*.py"))


def is_checked_there(path: DestructivePath) -> bool:
    """Return whether a condition is used in the module of the code, or is a gate of its action."""
    actions = {action.__name__ for action in path.planned} | {path.code.__qualname__.split(".")[0]}
    home = Path(inspect.getfile(inspect.unwrap(path.code)))
    planners = [file for file in (ROOT / "planning").rglob("*.py") if actions & names_in(file)]
    # The engine calls `done` before and after every action.
    return path.code.__qualname__.split(".")[0] + ".done" in {
        condition.__qualname__ for condition in path.conditions
    } or any(
        condition.__name__ in names_in(file)
        for file in (home, *planners)
        for condition in path.conditions
    )


@cache
def names_in(file: Path) -> frozenset[str]:
    """Return all names that a module uses."""
    nodes = list(ast.walk(_tree(file)))
    return frozenset(
        {node.id for node in nodes if isinstance(node, ast.Name)}
        | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    )


def tables() -> str:
    """Return the tables of the page, one for each system."""
    called = callers(destructive_methods())
    lines: list[str] = []
    for system in dict.fromkeys(path.system for path in PATHS):
        lines += ["", f"### {system}", "", "| What is lost | Code | Conditions |", "|---|---|---|"]
        for path in PATHS:
            if path.system == system:
                lines.append(f"| {path.lost} | {_code(path, called)} | {_conditions(path)} |")
    return "\n".join([*lines, ""])


def _code(path: DestructivePath, called: Mapping[str, set[str]]) -> str:
    methods = ", ".join(f"`{name}`" for name in sorted(called[name_of(path.code)]))
    return f"{_link(path.code)} calls {methods}"


def _conditions(path: DestructivePath) -> str:
    return "<br>".join(
        f"{_link(condition)}: {first_line(condition)}" for condition in path.conditions
    )


def _link(code: Callable[..., Any]) -> str:
    file = Path(inspect.getfile(inspect.unwrap(code))).relative_to(ROOT)
    return f"[`{code.__qualname__}`](../../src/stockman/{file.as_posix()})"


def first_line(condition: Callable[..., Any]) -> str:
    """Return the first sentence of the docstring of a condition."""
    text = " ".join((inspect.getdoc(condition) or "").partition("\n\n")[0].split())
    return text.replace("|", "\\|").rstrip(".")


def page_with_tables(text: str) -> str:
    """Return the page with current tables between its two marks."""
    before, _, rest = text.partition(START)
    return f"{before}{START}\n{tables()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page_with_tables(PAGE.read_text("utf-8")), "utf-8")
