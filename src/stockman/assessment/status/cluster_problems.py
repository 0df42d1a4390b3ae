"""Problems of Kubernetes and Flux, each with a fix."""

from __future__ import annotations

from stockman.model.problem import Problem


def api_silent(address: str, why: str) -> Problem:
    return Problem(
        code="status.api-silent",
        what="the Kubernetes API does not answer",
        where=f"https://{address}:6443",
        why=why,
        fix="start the controllers, then wait with `stockman status --wait`",
    )


def node_missing(node: str, address: str) -> Problem:
    return Problem(
        code="status.node-missing",
        what=f"Kubernetes has no node {node}",
        where=node,
        why="its machine is up, but its kubelet has not registered",
        fix="wait with `stockman status --wait`; if it does not appear, see"
        f" `talosctl -n {address} logs kubelet`",
    )


def node_not_ready(node: str, why: str) -> Problem:
    return Problem(
        code="status.node-not-ready",
        what=f"the node {node} is not ready",
        where=node,
        why=why,
        fix=f"look at `kubectl describe node {node}`; with no network of pods yet,"
        " `stockman apply --only kubernetes`",
    )


def cordon(node: str) -> Problem:
    return Problem(
        code="status.node-cordoned",
        what=f"the node {node} is cordoned, and not by a run",
        where=node,
        why="no new pods are scheduled there",
        fix=f"`kubectl uncordon {node}` when it is no longer needed",
    )


def node_pressure(node: str, pressure: str) -> Problem:
    return Problem(
        code="status.node-pressure",
        what=f"the node {node} is short of a resource",
        where=node,
        why=f"its kubelet reports {pressure} and evicts pods",
        fix=f"see the usage with `kubectl describe node {node}`, give it more in nodes.yaml,"
        " then `stockman plan`",
    )


def awaits_cloud_controller(node: str, how_long: str, controller: str) -> Problem:
    return Problem(
        code="status.uninitialized",
        what=f"the node {node} waits for a cloud controller",
        where=node,
        why=f"it has the taint node.cloudprovider.kubernetes.io/uninitialized{how_long}",
        fix=f"look at {controller}: `kubectl -n kube-system logs ds/{controller}`; its token is"
        " renewed by `stockman apply --only access`",
    )


def nobody_initializes(node: str) -> Problem:
    return Problem(
        code="status.no-cloud-controller",
        what=f"the node {node} waits for a cloud controller, but none runs",
        where=node,
        why="it has the taint node.cloudprovider.kubernetes.io/uninitialized, and neither"
        " talos-ccm nor proxmox-ccm runs",
        fix="turn one of them on in cluster.yaml, then `stockman apply`; to"
        f" do without, `kubectl taint node {node} node.cloudprovider.kubernetes.io/uninitialized-`",
    )


def wrong_topology(node: str, label: str, observed: str, desired: str) -> Problem:
    return Problem(
        code="status.topology",
        what=f"the node {node} has {'the wrong' if observed else 'no'} {label}",
        where=node,
        why=f"its label {'says ' + repr(observed) if observed else 'is gone'}, and the VM is in"
        f" {desired!r}; a cloud controller labels a node once and volumes are looked for there",
        fix=f"run `kubectl label --overwrite node {node} topology.kubernetes.io/{label}={desired}`;"
        f" a wrong {label} in nodes.yaml shows in `stockman plan`",
    )


def wrong_provider_id(node: str, address: str, observed: str, desired: str) -> Problem:
    return Problem(
        code="status.provider-id",
        what=f"the node {node} has the provider ID of another machine",
        where=node,
        why=f"its provider ID is {observed}, its VM is {desired}, and the ID cannot be changed",
        fix=f"`kubectl delete node {node}` and restart its kubelet, which recreates it:"
        f" `talosctl -n {address} service kubelet restart`",
    )


def two_controllers(why: str) -> Problem:
    return Problem(
        code="status.cloud-controllers",
        what="two cloud controllers manage the same nodes",
        where="kube-system",
        why=why,
        fix="keep one: with both on, `stockman render` leaves nodes to proxmox-ccm alone; remove"
        " the one that is not in cluster.yaml",
    )


def flux_missing() -> Problem:
    return Problem(
        code="status.flux-missing",
        what="Flux is not installed in the cluster",
        where="flux-system",
        why="there is no FluxInstance, source or Kustomization, so the repository is not applied",
        fix="install it with `stockman apply --only kubernetes`",
    )


def flux_not_ready(kind: str, name: str, says: str) -> Problem:
    return Problem(
        code="status.flux-not-ready",
        what=f"{kind} {name} is not ready",
        where=f"{kind} {name}",
        why=says or "it has not reported a status yet",
        fix="correct what it names in the repository, commit and push; `stockman status --wait`"
        " shows when Flux is done",
    )


_RESUME_ARGUMENTS = {
    "GitRepository": "source git",
    "OCIRepository": "source oci",
    "HelmRepository": "source helm",
}
"""Arguments of `flux resume` by kind; other kinds use their own name."""


def _resume_command(kind: str, name: str) -> str:
    namespace, _, own = name.rpartition("/")
    return f"flux resume {_RESUME_ARGUMENTS.get(kind, kind.lower())} {own} -n {namespace}"


def flux_suspension(kind: str, name: str) -> Problem:
    return Problem(
        code="status.flux-suspended",
        what=f"{kind} {name} is suspended",
        where=f"{kind} {name}",
        why="Flux does not reconcile it until it is resumed; no run suspended it",
        fix=f"`{_resume_command(kind, name)}` when it is no longer needed",
    )


def flux_behind(has: str, pushed: str, branch: str) -> Problem:
    return Problem(
        code="status.repository-behind",
        what="the cluster has not applied the pushed commit yet",
        where=f"GitRepository of branch {branch}",
        why=f"it has {has or 'nothing'}, and {pushed[:12]} was pushed",
        fix="wait with `stockman status --wait`, or reconcile now with"
        " `stockman apply --reconcile`; if it stays,"
        " `kubectl -n flux-system describe gitrepository flux-system`",
    )


def commit_to_push(local: str, pushed: str) -> Problem:
    return Problem(
        code="status.not-pushed",
        what="the work tree has an unpushed commit",
        where=".",
        why=f"{local[:12]} is here, and {pushed[:12] or 'nothing'} at the remote",
        fix="`git push`, or `stockman apply --push`",
    )


def component_not_ready(name: str, says: str, observed: str) -> Problem:
    return Problem(
        code="status.component",
        what=f"{name} does not work",
        where=name,
        why=f"not true yet: {says} ({observed})",
        fix=f"see `stockman explain component {name}`; wait with `stockman status --wait`",
    )
