"""Templates of Go, as far as patches use them."""

from __future__ import annotations

import pytest

from stockman.talos.imports.go_template import UnsupportedTemplate, render_template

DATA = {
    "Node": {
        "Host": "cp-1",
        "Data": {"mtu": 9000, "on": True, "off": False, "modules": ["a", "b"]},
    },
    "Data": {"region": "", "names": {"y": "2", "x": "1"}},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("{{ .Node.Host }}/{{.Node.Data.mtu}}", "cp-1/9000"),
        ('{{ .Data.region | default "nowhere" | quote }}', '"nowhere"'),
        ('{{ default "x" .Node.Host | upper }}', "CP-1"),
        ("{{- if .Node.Data.on }}\nyes\n{{- else }}\nno\n{{- end }}", "\nyes"),
        ('{{ if .Node.Data.off }}a{{ else if eq .Node.Host "cp-1" }}b{{ else }}c{{ end }}', "b"),
        ("{{ range .Node.Data.modules }}- {{ . }}\n{{ end }}", "- a\n- b\n"),
        ("{{ range .Data.names }}{{ . }}{{ $.Node.Host }} {{ end }}", "1cp-1 2cp-1 "),
        ("{{ range .Data.region }}x{{ else }}none{{ end }}", "none"),
        ("{{ with .Node.Data }}{{ .mtu }}{{ end }}", "9000"),
        ("{{/* a remark */}}x", "x"),
        ("a  {{- /* eaten */ -}}  b", "ab"),
        ("{{ if and .Node.Data.on (not .Node.Data.off) }}ok{{ end }}", "ok"),
        ('{{ .Node.Host | contains "p-" }} {{ ternary "a" "b" .Node.Data.on }}', "true a"),
        ('{{ `{{` }} {{ "}" }}', "{{ }"),
        ('{{ join "," .Node.Data.modules }}', "a,b"),
    ],
)
def test_a_template_gives_what_go_gives(text: str, expected: str) -> None:
    assert render_template("a.tpl", text, DATA) == expected


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a\n {{ .Node.Missing }}", 2, 2),
        ('{{ lookup "v1" }}', 1, 1),
        ("{{ $x := 1 }}", 1, 1),
        ("a: {{ .Node", 1, 4),
        ("{{ if .Node }}", 1, 1),
        ("x{{ end }}", 1, 2),
        ("{{ .Node.Data }}", 1, 1),
        ("{{ range .Node.Host }}{{ end }}", 1, 1),
        ("{{ if .Node }}a{{ else with .Data }}b{{ end }}", 1, 16),
        ("{{ (.Node.Host }}", 1, 1),
        ("{{ }}", 1, 1),
        ("{{ printed }}", 1, 1),
    ],
)
def test_what_is_not_understood_is_refused_at_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(UnsupportedTemplate) as caught:
        render_template("a.tpl", text, DATA)

    assert caught.value.at == ("a.tpl", line, column)
