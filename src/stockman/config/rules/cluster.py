"""Rules about the cluster, its policies and its components."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import reduce

from stockman.config.components import resolve_components
from stockman.config.nearest import nearest_name
from stockman.config.rules.context import RuleContext, repeated
from stockman.model import compatibility
from stockman.model.component import Component, ComponentFacts
from stockman.model.component import all_component_facts as known_components
from stockman.model.component import find_component_facts as named
from stockman.model.origin import Origin, Traced
from stockman.model.schedule import parse_schedule
from stockman.model.version import Version


def check_versions(context: RuleContext) -> None:
    """Check versions against the supported ones; an unknown newer patch is a warning."""
    estate = context.configuration
    talos = estate.talos
    if talos.version is not None:
        fit = compatibility.talos_compatibility(talos.version)
        _report_version(context, "talos", f"Talos {talos.version}", fit, talos.where("version"))
    if talos.contract is not None:
        _check_contract(context, talos.contract)
    _check_kubernetes(context)
    proxmox = estate.proxmox
    if proxmox is None:
        return
    for cluster in (proxmox, *proxmox.clusters):
        if cluster.version is not None:
            name = f"Proxmox VE {cluster.version}"
            fit = compatibility.proxmox_compatibility(cluster.version)
            _report_version(context, "proxmox", name, fit, cluster.where("version"))


def _check_kubernetes(context: RuleContext) -> None:
    talos, kubernetes = context.configuration.talos, context.configuration.kubernetes
    if kubernetes.version is None:
        return
    running = talos.version or compatibility.talos_lines()[-1].newest
    if compatibility.talos_line(running) is None:
        return
    fit = compatibility.kubernetes_compatibility(running, kubernetes.version)
    name = f"Kubernetes {kubernetes.version}"
    _report_version(context, "kubernetes", name, fit, kubernetes.where("version"))


def _report_version(
    context: RuleContext,
    topic: str,
    name: str,
    fit: compatibility.Compatibility,
    where: Origin | None,
) -> None:
    if fit.verdict is compatibility.Verdict.REFUSED:
        context.problems.error(
            {
                "talos": "talos.unsupported",
                "kubernetes": "kubernetes.unsupported",
                "proxmox": "proxmox.unsupported",
            }[topic],
            f"{name} is not supported",
            why=fit.reason,
            fix=f"choose a version that `stockman versions {topic}` lists",
            at=where,
        )
    elif fit.verdict is compatibility.Verdict.NEWER:
        context.problems.warn(
            {
                "talos": "talos.newer",
                "kubernetes": "kubernetes.newer",
                "proxmox": "proxmox.newer",
            }[topic],
            f"{name} is newer than the versions that this stockman supports",
            why=fit.reason,
            fix="continue with care, or use a newer stockman",
            at=where,
        )


def _check_contract(context: RuleContext, contract: Version) -> None:
    talos = context.configuration.talos
    version = talos.version
    known = compatibility.talos_line(contract) is not None
    if known and (version is None or contract.line <= version.line):
        return
    why = (
        f"the nodes run Talos {version}, which cannot read the style of {contract.minor_text}"
        if known
        else f"there is no style of configuration for Talos {contract.minor_text}"
    )
    context.problems.error(
        "talos.contract-mismatch",
        f"{context.name('talos.contract')} does not fit",
        why=why,
        fix="set it to the Talos line the cluster was made with, such as "
        f"{version.minor_text if version is not None else '1.13'}",
        at=talos.where("contract"),
    )


_REQUIRED_KEYS = {
    "network.node_cidr": "the network of the nodes",
    "kubernetes.api.addr": "the API's address",
    "gateways.internal": "the internal gateway",
    "gateways.dns": "the DNS gateway",
    "repository.url": "the Git repository Flux follows",
}


def check_presence(context: RuleContext) -> None:
    """Check required keys of a cluster. Without Talos nodes none is required."""
    if not context.complete:
        return
    if not context.has_cluster:
        _check_no_nodes(context)
        return
    for path, purpose in _REQUIRED_KEYS.items():
        *sections, field = path.split(".")
        section: Traced = reduce(getattr, sections, context.configuration)
        if getattr(section, field) is not None or field in section.origins:
            continue
        name = context.name(path)
        context.problems.error(
            "config.missing-key",
            f"{name} is missing",
            why=f"a cluster needs {purpose}",
            fix=f"add {name}; see `stockman explain {name}`",
            at=context.cluster_file,
        )


_CLUSTER_SECTIONS = ("network", "kubernetes", "gateways", "repository", "cilium", "talos")


def _check_no_nodes(context: RuleContext) -> None:
    """Reject keys of a cluster without nodes: with an emptied list all machines would go."""
    if any(problem.code == "config.missing-file" for problem in context.problems):
        return
    for name in _CLUSTER_SECTIONS:
        section: Traced = getattr(context.configuration, name)
        keys = [key for key in section.origins if key]
        if keys:
            context.problems.error(
                "config.no-nodes",
                "a cluster is configured, but it has no nodes",
                why="without nodes, all machines of the cluster would be deleted",
                fix="restore the nodes; to delete the cluster, run `stockman destroy` while they"
                " are configured; for guests without a cluster, remove the keys of the cluster",
                at=section.origins[keys[0]],
            )
            return


def check_upgrades(context: RuleContext) -> None:
    """Check canaries, classes, engine, windows and time zones of upgrades."""
    upgrade = context.configuration.upgrade
    names = [str(node.name) for node in context.configuration.nodes]
    for index, canary in enumerate(upgrade.canary):
        if canary not in names:
            near = nearest_name(canary, names)
            context.problems.error(
                "upgrade.canary-unknown",
                f"the canary {canary} does not exist",
                why="no node has that name",
                fix=f"write {near}" if near else "name a node of nodes.yaml",
                at=upgrade.origins.get(f"canary[{index}]") or upgrade.where("canary"),
            )
    for name, exception in upgrade.classes.items():
        if name not in context.configuration.classes:
            near = nearest_name(name, context.configuration.classes)
            context.problems.error(
                "class.unknown",
                f"there is no class {name}",
                why=f"the classes are: {', '.join(context.configuration.classes) or 'none'}",
                fix=f"write {near}" if near else "remove the exception",
                at=exception.where(),
            )
    _check_engine(context)
    _check_windows(context)
    _check_zones(context)


def _check_engine(context: RuleContext) -> None:
    upgrade = context.configuration.upgrade
    tuppr = context.configuration.components.get("tuppr")
    if tuppr is None or tuppr.enabled is None:
        return
    if tuppr.enabled and upgrade.engine == "stockman":
        context.problems.error(
            "upgrade.two-engines",
            "tuppr is on, but upgrade.engine is stockman",
            why="two engines would reboot nodes at the same time",
            fix="set `upgrade: {engine: tuppr}`, or switch the component off",
            at=tuppr.where("enabled"),
        )
    elif not tuppr.enabled and upgrade.engine == "tuppr":
        context.problems.error(
            "upgrade.no-engine",
            "upgrade.engine is tuppr, but tuppr is off",
            why="nothing would be upgraded",
            fix="remove `enabled: false` from the component, or set the engine to stockman",
            at=tuppr.where("enabled"),
        )


def _check_windows(context: RuleContext) -> None:
    for window in context.configuration.upgrade.windows:
        if why := _window_problem(window.start):
            context.problems.error(
                "upgrade.window",
                "a window never opens",
                why=why,
                fix="write minute, hour, day, month and weekday, such as 0 3 * * 6",
                at=window.where("start"),
            )


def _window_problem(start: str) -> str:
    """Return why a window never opens. Empty: it opens."""
    try:
        schedule = parse_schedule(start)
    except ValueError:
        return f"`{start}` is no time of cron"
    is_ever = schedule.next_after(datetime(2026, 1, 1, tzinfo=UTC), UTC) is not None
    return "" if is_ever else f"no day is one of `{start}`"


def _check_zones(context: RuleContext) -> None:
    for window in context.configuration.upgrade.windows:
        if window.timezone == "UTC":
            continue
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            ZoneInfo(window.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            context.problems.error(
                "upgrade.timezone",
                f"the time zone {window.timezone} is not known",
                why="it is none of the names of the time zone database",
                fix="write a name such as Europe/Berlin, or UTC",
                at=window.where("timezone"),
            )


def check_backups(context: RuleContext) -> None:
    """Check backup targets."""
    backup = context.configuration.backup
    for target in backup.targets:
        if (target.bucket is None) == (target.directory is None):
            both = target.bucket is not None
            context.problems.error(
                "backup.target",
                f"the backup target {target.name} is not one place",
                why="it has a bucket and a directory"
                if both
                else "it has neither bucket nor directory",
                fix="give `bucket`, or `directory`, not both",
                at=target.where(),
            )
    for target in repeated(backup.targets, lambda target: target.name):
        context.problems.error(
            "backup.target-taken",
            f"two backup targets are called {target.name}",
            why="restores name the target they read from",
            fix="give each target a name of its own",
            at=target.where("name"),
        )
    if backup.enabled and not backup.targets:
        context.problems.error(
            "backup.no-target",
            "backups are on, but go nowhere",
            why="there is no target",
            fix=f"add {context.name('backup.targets[0].bucket')}, or `backup: {{targets: [...]}}`",
            at=backup.where("enabled"),
        )


REPLACEABLE = ("cilium", "coredns")
"""Components that may be disabled although others need them: Talos has its own CoreDNS, and the
user may install another CNI."""


def check_components(context: RuleContext) -> None:
    """Check names, versions and requirements of components."""
    known = {facts.name: facts for facts in known_components()}
    for name, component in context.configuration.components.items():
        if name not in known:
            _report_unknown_component(context, name, component, known)
        elif not known[name].condition:
            _report_not_installed(context, name, component)
        else:
            _check_version(context, component, known[name])
    _check_needs(context, known)


def _report_unknown_component(
    context: RuleContext, name: str, component: Component, known: dict[str, ComponentFacts]
) -> None:
    of_chart = named(name)
    installed = [facts.name for facts in known.values() if facts.condition]
    meant = of_chart.name if of_chart is not None else nearest_name(name, installed)
    context.problems.error(
        "component.unknown",
        f"there is no component {name}",
        why="no component of the catalog has that name",
        fix=f"write {meant}" if meant else "`stockman explain component` lists all of them",
        at=context.configuration.origins.get(f"components.{name}") or component.where(),
    )


def _report_not_installed(context: RuleContext, name: str, component: Component) -> None:
    if not component.enabled:
        return
    context.problems.warn(
        "component.not-installed",
        f"{name} is on, but stockman does not install it",
        why="stockman only tracks its versions; it is not in the catalog",
        fix="install it yourself, with files of your own in the repository",
        at=component.where("enabled"),
    )


def _check_version(context: RuleContext, component: Component, known: ComponentFacts) -> None:
    configured, tested = component.version, known.version
    if configured is None or tested is None or configured == tested:
        return
    age = "newer" if configured > tested else "older"
    context.problems.warn(
        "component.version",
        f"{known.name} {configured} is {age} than the release that stockman knows",
        why=f"what stockman renders for it was checked with {tested}",
        fix="remove version, or read the release notes between the two",
        at=component.where("version"),
    )


def _check_needs(context: RuleContext, known: dict[str, ComponentFacts]) -> None:
    components = resolve_components(context.configuration)
    for name, component in components.items():
        if not component.enabled or name not in known:
            continue
        for need in known[name].requires:
            requirement = components.get(need)
            origin = _written_origin(component, requirement)
            # Where neither was written, rules about the keys that call for them say it better.
            if (
                need in REPLACEABLE
                or origin is None
                or (requirement is not None and requirement.enabled)
            ):
                continue
            context.problems.error(
                "component.requires",
                f"{name} needs {need}, which is off",
                why=_reason(name, component, need, requirement),
                fix=f"set components.{need}.enabled to true, or components.{name}.enabled to false",
                at=origin,
            )


def _reason(name: str, component: Component, need: str, requirement: Component | None) -> str:
    return (
        f"{name} is on: {_enabled_reason(component)}; {need} is off: {_enabled_reason(requirement)}"
    )


def _enabled_reason(component: Component | None) -> str:
    origin = component.origins.get("enabled") if component is not None else None
    if origin is None:
        return "nobody asked for it"
    return origin.via if origin.is_derived else "as written"


def _written_origin(component: Component, requirement: Component | None) -> Origin | None:
    """Return where either component was configured; None: both states are derived."""
    for candidate in (requirement, component):
        origin = candidate.origins.get("enabled") if candidate is not None else None
        if origin is not None and not origin.is_derived:
            return origin
    return None
