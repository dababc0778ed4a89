"""The style of the page around a drawing."""

from streamapp.plan.render.drawing.theme import MONO, SANS

STYLE = f"""
*{{box-sizing:border-box}}
body{{margin:0;background:var(--ground);color:var(--ink);font:14px/1.5 {SANS}}}
header{{display:flex;flex-wrap:wrap;align-items:center;gap:6px 14px;padding:18px 28px 14px}}
h1{{font-size:21px;margin:0;overflow-wrap:anywhere}}
h2{{font-size:15px;margin:0 0 10px}}
.summary{{color:var(--muted)}}
.chip{{padding:2px 12px;border-radius:99px;font-weight:650;color:var(--on-line);background:var(--good);
text-decoration:none}}
.chip.rejected{{background:var(--fail)}}
main{{display:grid;grid-template:minmax(0,1fr)/minmax(0,1fr) 330px;height:clamp(400px,var(--high),76vh);
border-block:1px solid var(--border)}}
.stage{{position:relative;min-width:0;min-height:0}}
.canvas{{display:grid;overflow:auto;height:100%;cursor:grab}}
.canvas.dragged{{cursor:grabbing;user-select:none}}
.canvas svg{{display:block;margin:auto}}
.zoom{{position:absolute;right:14px;bottom:14px;display:flex;border:1px solid var(--border);border-radius:8px;
overflow:hidden;background:var(--panel)}}
.zoom button{{border:0;background:none;color:var(--ink);font:inherit;padding:4px 11px;cursor:pointer}}
.zoom button:hover{{background:var(--border)}}
aside{{border-left:1px solid var(--border);background:var(--panel);padding:16px;
overflow:auto}}
.advice{{color:var(--muted);margin:0 0 12px}}
.group{{background:var(--ground);border:1px solid var(--border);border-left:4px solid var(--join-line);
border-radius:8px;padding:10px 12px;margin:0 0 10px;cursor:pointer}}
.group.failing{{border-left-color:var(--fail)}}
.group h3{{margin:0;font:600 13px {MONO};overflow-wrap:anywhere}}
.group .what{{color:var(--muted);font-size:12px;margin:0 0 6px}}
.group .what b{{color:var(--good)}}
.group.failing .what b{{color:var(--fail)}}
.members{{list-style:none;margin:0;padding:0;display:grid;grid-template-columns:auto 1fr;gap:4px 10px}}
.members li{{display:contents}}
.count{{font-weight:700;font-variant-numeric:tabular-nums;text-align:right}}
.members .odd .count,.members .odd code{{color:var(--fail)}}
code{{font-family:{MONO};font-size:12.5px;overflow-wrap:anywhere}}
.because{{display:block;color:var(--muted);font-size:12px}}
.below{{padding:20px 28px;max-width:1180px}}
.key{{padding:8px 28px;border-bottom:1px solid var(--border);overflow:auto}}
.key svg{{display:block}}
.errors{{list-style:none;margin:0 0 26px;padding:0}}
.errors li{{border-left:4px solid var(--fail);background:var(--fail-ground);border-radius:6px;
padding:10px 14px;margin:0 0 10px}}
.errors p{{margin:4px 0 0;overflow-wrap:anywhere}}
.reason{{font-weight:650;color:var(--fail)}}
.errors button{{font:600 12.5px {MONO};color:var(--ink);background:none;border:1px solid var(--fail);
border-radius:6px;padding:1px 8px;margin-left:8px;cursor:pointer}}
table{{border-collapse:collapse}}
th{{text-align:left;font-weight:600;color:var(--muted);font-size:12px}}
th,td{{padding:5px 22px 5px 0;border-bottom:1px solid var(--border);vertical-align:top}}
td.count,th:nth-child(2){{text-align:right}}
tr.odd code,tr.odd .count{{color:var(--fail);font-weight:700}}
.plan .node{{cursor:pointer;outline:none}}
.plan .node,.plan .edge,.plan .label{{transition:opacity .12s}}
.focused .plan .node:not(.on),.focused .plan .edge:not(.on),.focused .plan .label:not(.on){{opacity:.13}}
.plan .node.pointed .outline,.plan .node:focus-visible .outline{{stroke-width:4}}
[hidden]{{display:none!important}}
:focus-visible{{outline:2px solid var(--stream-line);outline-offset:2px}}
@media (max-width:1000px){{main{{grid-template:minmax(0,2fr) minmax(0,1fr)/minmax(0,1fr);
height:92vh}}aside{{border-left:0;border-top:1px solid var(--border)}}}}
@media (prefers-reduced-motion:reduce){{.plan .node,.plan .edge,.plan .label{{transition:none}}}}
@media print{{.zoom,.advice{{display:none}}main{{display:block;height:auto}}}}
""".strip()
