"""Specs of Kustomizations with the files that they are for, and texts with variables."""

from __future__ import annotations

from typing import Any

from tests.real.flux.little_trees import TREES

Spec = dict[str, Any]
_PLAIN = TREES["plain"]
_BARE = {path: text for path, text in _PLAIN.items() if path != "kustomization.yaml"}
_VARIABLE = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a-${NAME}\n"
    'data:\n  port: "${PORT}"\n  quoted: \'${PORT} x\'\n  yes: "${YES}"\n  missing: x${NONE}y\n'
    '  escaped: $${PORT}\n  default: ${NONE:=d}\n  dashed: ${DOMAIN/./-}\n  colon: "a: ${PORT}"\n'
    "  block: |\n    one ${PORT}\n    two $${PORT}\nnumber: ${PORT}\n"
)
_SUBSTITUTE = {"NAME": "wool", "PORT": "80", "YES": "yes", "DOMAIN": "example.org"}

SPECS: dict[str, tuple[dict[str, str], Spec]] = {
    "as it is": (_PLAIN, {"path": "."}),
    "without a kustomization": (
        {f"apps/{path}": text for path, text in _BARE.items()},
        {"path": "./apps"},
    ),
    "folders without a kustomization": (
        {
            **{f"apps/one/{path}": text for path, text in _BARE.items()},
            "apps/two/kustomization.yaml": "resources: [m.yaml]\nnamespace: two\n",
            "apps/two/m.yaml": _PLAIN["m.yaml"],
            "apps/readme.md": "no",
        },
        {"path": "./apps"},
    ),
    "nothing at all": ({"apps/readme.md": "no"}, {"path": "./apps"}),
    "namespace and names": (
        _PLAIN,
        {"path": "./", "targetNamespace": "hill", "namePrefix": "a-", "nameSuffix": "-b"},
    ),
    "patches": (
        _PLAIN,
        {
            "path": ".",
            "patches": [
                {
                    "patch": "- {op: add, path: /spec/replicas, value: 3}",
                    "target": {"kind": "Deployment"},
                },
                {
                    "patch": "apiVersion: v1\nkind: Service\nmetadata: {name: shed}\n"
                    "spec: {type: LoadBalancer}\n"
                },
            ],
        },
    ),
    "images": (
        TREES["images"],
        {
            "path": ".",
            "images": [
                {"name": "example.org/wool", "newName": "example.org/felt"},
                {"name": "other", "newTag": "1"},
            ],
        },
    ),
    "components": (
        {
            **{f"apps/{path}": text for path, text in _PLAIN.items()},
            "parts/kustomization.yaml": (
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
                "commonAnnotations: {part: here}\n"
            ),
        },
        {"path": "./apps", "components": ["../parts"]},
    ),
    "missing component": (_PLAIN, {"path": ".", "components": ["./parts"]}),
    "missing component that may be": (
        _PLAIN,
        {"path": ".", "components": ["./parts"], "ignoreMissingComponents": True},
    ),
    "no resources": (
        {
            "kustomization.yaml": (
                "components: [parts]\nconfigMapGenerator: [{name: a, literals: [x=1]}]\n"
            ),
            "parts/kustomization.yaml": (
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
                "resources: [m.yaml]\n"
            ),
            "parts/m.yaml": _PLAIN["m.yaml"],
        },
        {"path": "."},
    ),
    "common metadata": (
        _PLAIN,
        {"path": ".", "commonMetadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}},
    ),
    "variables": (
        {"kustomization.yaml": "resources: [v.yaml]\n", "v.yaml": _VARIABLE},
        {"path": ".", "postBuild": {"substitute": _SUBSTITUTE}},
    ),
    "variables switched off": (
        {
            "kustomization.yaml": "resources: [v.yaml]\n",
            "v.yaml": _VARIABLE.replace(
                "  name: a-${NAME}\n",
                "  name: a\n  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}\n",
            ),
        },
        {"path": ".", "postBuild": {"substitute": _SUBSTITUTE}},
    ),
    "variables with bad names": (
        {"kustomization.yaml": "resources: [v.yaml]\n", "v.yaml": _VARIABLE},
        {"path": ".", "postBuild": {"substitute": {"A-B": "c"}}},
    ),
    "no closing brace": (
        {
            "kustomization.yaml": "resources: [v.yaml]\n",
            "v.yaml": _VARIABLE.replace("${YES}", "${YES"),
        },
        {"path": ".", "postBuild": {"substitute": _SUBSTITUTE}},
    ),
}

VARIABLES = {"A": "wool.and.felt", "B": "", "PATHS": "/usr/local/bin", "Uml": "\u00fcber", "N": "3"}
EXPRESSIONS = (
    "plain $A ${A} $$ $${A} $$$${A} $$${A} $",
    "${A:=x} ${B:=x} ${NONE:=x} ${NONE:-y} ${NONE:?z} ${NONE:+w} ${A:+w} ${NONE=q}",
    "${NONE:=a ${A} b} ${NONE:=${NONE:-deep}} ${NONE:=}",
    "${A/./-} ${A//./-} ${A/#wool/silk} ${A/%felt/silk} ${A/./} ${A//./}",
    "${#A} ${#B} ${#Uml}",
    "${A^} ${A^^} ${Uml^} ${A,} ${A,,}",
    "${A:5} ${A:5:3} ${A:-5} ${A: -4} ${A:0:4} ${A:99} ${A:x}",
    "${PATHS#*/} ${PATHS##*/} ${PATHS%/*} ${PATHS%%/*} ${A%.*} ${A##*.}",
    "${A",
    "${}",
    "${A-x}",
    "${A b}",
    "${A/\\//x} ${PATHS/\\//x} ${PATHS//\\//-}",
    "{{ .A }} $(A) `A` $A_ ${A}_${N}",
    "${NONE:=http://x/y?a=b&c}",
    "${A/wool}",
)
