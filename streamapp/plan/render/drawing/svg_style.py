"""The style of a drawing. A failing element is red and has a cross or thicker lines as well."""

from streamapp.plan.render.drawing.theme import MONO, SANS

STYLE = f"""
.plan text{{font-family:{SANS};fill:var(--ink)}}
.plan .ground{{fill:var(--ground)}}
.plan .heading{{font-size:19px;font-weight:650}}
.plan .about{{font-size:13px;fill:var(--muted)}}
.plan .verdict{{font-size:13px;font-weight:650;fill:var(--good)}}
.plan .verdict.rejected,.plan .said{{fill:var(--fail)}}
.plan .said{{font-size:12.5px}}
.plan .outline{{stroke-width:1.4}}
.plan .kind{{font-size:10.5px;letter-spacing:.02em;fill:var(--muted)}}
.plan .name{{font-family:{MONO};font-size:12px;font-weight:600}}
.plan .stream .outline{{fill:var(--stream);stroke:var(--stream-line)}}
.plan .intermediate .outline{{fill:var(--made);stroke:var(--made-line)}}
.plan .operator .outline{{fill:var(--operator);stroke:var(--operator-line)}}
.plan .join .outline{{fill:var(--join);stroke:var(--join-line);stroke-width:2.2}}
.plan .table .outline{{fill:var(--table);stroke:var(--table-line)}}
.plan .table .rim{{fill:none;stroke:var(--table-line);stroke-width:1.4}}
.plan .missing .outline{{fill:none;stroke:var(--fail);stroke-dasharray:4 3}}
.plan .badge rect{{fill:var(--stream-line)}}
.plan .badge text{{font-size:11px;font-weight:700;fill:var(--on-line)}}
.plan .intermediate .badge rect{{fill:var(--made-line)}}
.plan .join .badge rect{{fill:var(--join-line)}}
.plan .edge .line{{fill:none;stroke:var(--edge);stroke-width:1.5}}
.plan .edge .tip{{fill:var(--edge)}}
.plan .edge.table .line{{stroke:var(--table-line);stroke-dasharray:2 4;stroke-linecap:round;stroke-width:1.9}}
.plan .edge.side .line{{stroke:var(--stream-line);stroke-dasharray:7 4}}
.plan .edge.table .tip{{fill:var(--table-line)}}
.plan .edge.side .tip{{fill:var(--stream-line)}}
.plan .label text{{font-size:11px;font-weight:600;fill:var(--muted)}}
.plan .label rect{{fill:var(--ground)}}
.plan .involved .outline{{stroke:var(--fail);stroke-width:1.8}}
.plan .involved .badge rect{{fill:var(--fail)}}
.plan .failing .outline,.plan .failing .rim{{stroke:var(--fail);stroke-width:3}}
.plan .failing .outline{{fill:var(--fail-ground)}}
.plan .failing .badge rect,.plan .cross circle{{fill:var(--fail)}}
.plan .cross path{{stroke:var(--on-line);stroke-width:2.2;stroke-linecap:round;fill:none}}
.plan .edge.failing .line{{stroke:var(--fail);stroke-width:2.6}}
.plan .edge.failing .tip{{fill:var(--fail)}}
.plan .label.failing text{{fill:var(--fail);font-weight:750}}
.plan .legend .says{{font-size:11.5px;fill:var(--muted)}}
.plan .legend .outline{{stroke-width:1.4}}
.plan .legend .join .outline{{stroke-width:2.2}}
""".strip()
