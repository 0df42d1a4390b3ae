"""In what the lab differs from a real cluster on purpose, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Explained:
    """A difference that is known: what is left out of both answers."""

    name: str
    reason: str
    pattern: str
    """Of the text that is left out, in lines or over several."""
    commands: str = ""
    """A pattern of the commands that it is about. Empty: of all."""
    instead: str = ""
    """What stands there instead."""

    def fits(self, command: str) -> bool:
        return re.search(self.commands, command) is not None

    def without(self, text: str) -> str:
        return re.sub(self.pattern, self.instead, text, flags=re.MULTILINE)


OF_THE_OTHER_SIDE: tuple[Explained, ...] = (
    Explained(
        "progress of rollouts",
        "How often kubectl is told of a rollout while it goes on depends on how fast pods start:"
        " those of kwok start at once.",
        r"^Waiting for .*\n",
        r"^rollout status",
    ),
    Explained(
        "events of kubelets",
        "Kubelets of the lab tell what they do with containers and machines; kwok tells nothing.",
        r"^ +(Normal|Warning) +\w+ +AGE +kubelet .*\n",
        r"^describe",
    ),
    Explained(
        "table of events",
        "Where kubelets of the lab alone told something, the other table is not there at all.",
        r"^Events:( +<none>)?\n( +Type .*\n +---- .*\n)?",
        r"^describe",
        instead="Events:\n",
    ),
    Explained(
        "attempts to place a pod",
        "A scheduler tries again when something changes that may help, and tells it once more.",
        r"^( +Warning +FailedScheduling .*\n)\1+",
        r"^describe pod",
        instead=r"\1",
    ),
    Explained(
        "events that are combined",
        "From the eleventh similar event on they are told as one, with the text of the last: which"
        " that is depends on who is faster.",
        r"^ +Normal +\w+ +AGE +\S+ +\(combined from similar events\).*\n",
        r"^describe",
    ),
    Explained(
        "network of new nodes",
        "The real controller that gives nodes their network fails at first where it is not alone"
        " in writing them, and tells so.",
        r"^ +Normal +CIDRAssignmentFailed .*\n",
        r"^describe node",
    ),
    Explained(
        "writer of pods and nodes",
        "What kubelets write is written by kwok.",
        r"\bkwok\b",
        r"--show-managed-fields",
        instead="kubelet",
    ),
    Explained(
        "holder of leases",
        "Leases of nodes are held by their kubelets; kwok holds all in a name of its own.",
        r"HolderIdentity: +\S+|^\S+(?= 40$)|(?<=  )(\w+_UID|n1|worker)(?=  AGE$)",
        r"lease|describe node",
        instead="HOLDER",
    ),
    Explained(
        "componentstatuses",
        "The deprecated kind ComponentStatus tells of a scheduler and a controller manager at ports"
        " where those of the real cluster do not listen.",
        r"(.*\n)+",
        r"^get cs( |$)",
    ),
    Explained(
        "build of the server",
        "A server that was built from a source archive does not know its commit.",
        r"\"(gitCommit|gitTreeState|goVersion|compiler|platform)\": \".*\"",
        r"version",
    ),
)
"""What is different because of how the real cluster is made."""

OF_THE_LAB: tuple[Explained, ...] = (
    Explained(
        "descriptions",
        "The lab knows fields and types of built-in kinds, but not the words that describe them;"
        " those of CustomResourceDefinitions are told.",
        r"^ {4,}(?!.*\t<)\S.*\n|^ {5,}.*\n|^DESCRIPTION:\n|^\n",
        r"^explain (?!sheep)",
    ),
    Explained(
        "differences of Go structures",
        "A real server shows what was changed that may not change, field by field as Go names"
        " them; the lab says that it may not.",
        r"^(@@ .*|[-+ ] ?[\]\[{}\" ].*)\n(?=(.*\n)*-- 1)",
        r"^(patch|replace|apply)",
    ),
    Explained(
        "warnings of the lab",
        "What is stored and has no effect is said so by a warning of the lab's own.",
        r"^Warning: the lab .*$",
    ),
    Explained(
        "objects that a server makes for itself",
        "APIServices, the settings of API priority and fairness, and the addresses of services as"
        " objects of their own are not made; their kinds are served.",
        r"(.*\n)+",
        r"^get (apiservices|flowschemas|prioritylevelconfigurations|servicecidrs|ipaddresses)",
    ),
)
"""What the lab does not do."""

EXPLAINED = (*OF_THE_OTHER_SIDE, *OF_THE_LAB)
