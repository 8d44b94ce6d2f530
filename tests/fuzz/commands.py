"""The command line beside Python: the same claim from a claim file, a model file and a table, as text and as JSON.

The claim file is written here, from what its documentation says.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import joblib
from click.testing import CliRunner
from tests.fuzz.findings import Findings
from tests.fuzz.problems import Problem

EXITS = {"FAIR": 0, "BIASED": 1, "UNKNOWN": 3}


def compare_command(problem: Problem, findings: Findings, result: Any) -> None:
    """`likewise verify` says what `verify` said, twice: as text and as JSON, and by its exit code."""
    plain = all(a.dtype in ("int64", "float64", "string") for a in problem.population.attributes)
    if result is None or not plain or problem.population.framed != "pandas":
        return
    from likewise.cli.app import cli

    with findings.of("command line"), tempfile.TemporaryDirectory() as folder:
        spec = write_files(problem, Path(folder))
        asked = ["verify", str(spec), "--allow-pickle", "--budget", str(problem.budget)]
        text, document = (CliRunner().invoke(cli, [*asked, *more]) for more in ([], ["--json"]))
        said = json.loads(document.stdout) if document.exit_code in EXITS.values() else {}
        verdicts = {said.get("verdict"), str(result.verdict)}
        findings.require(len(verdicts) == 1, "command line", f"{verdicts} {document.output[:300]}")
        for run in (text, document):
            right = EXITS[str(result.verdict)]
            findings.require(
                run.exit_code == right, "command line", f"exits with {run.exit_code}, not {right}"
            )
        shown = f"verdict  {result.verdict}" in text.output
        if findings.require(shown, "command line", f"no {result.verdict} in {text.output[:400]}"):
            findings.agreed("command line", result.verdict)


def write_files(problem: Problem, folder: Path) -> Path:
    """The model, the rows and the claim; the path of the claim."""
    joblib.dump(problem.model, folder / "model.joblib")
    problem.population.frame(problem.rows).to_csv(folder / "rows.csv", index=False)
    lines = ['[model]\npath = "model.joblib"', '[data]\npath = "rows.csv"\nfeatures = "listed"']
    for a in problem.population.attributes:
        lines.append(f'[features.{a.name}]\nkind = "{a.kind}"')
        if a.ranged:
            lines.append(f"lo = {a.values[0]!r}\nhi = {a.values[-1]!r}")
        else:
            lines.append(f"levels = {_toml(list(a.values))}")
        lines.append("missing = true" if a.missing else "")
    similar = problem.similar
    within = ", ".join(f"{name} = {_toml(t)}" for name, t in similar.within.items())
    lines.append(f"[similarity]\nfree = {_toml(list(similar.free))}\nwithin = {{ {within} }}")
    if similar.order:
        lines[-1] += "\norder = { " + ", ".join(f'{n} = "{way}"' for n, way in similar.order.items()) + " }"
    if similar.follows is not None:
        shift = [[*step, by] for step, by in similar.follows.shifts.items()]
        told = f"[similarity.along.{similar.follows.name}]"
        lines.append(f'{told}\nwith = "{similar.follows.leader}"\nshift = {_toml(shift)}')
    if similar.metric is not None:
        told = similar.metric.declared()
        parts = told["metric"].to_dict()
        lines[-1] += f'\nradius = "{told["radius"]}"'
        lines.append(f'[similarity.metric]\nkind = "{parts["kind"]}"')
        for key in ("weights", "costs"):
            lines += [f"{key}.{name} = {_toml(amount)}" for name, amount in parts.get(key, {}).items()]
    if similar.pairs:
        lines.append("[similarity.pairs]")
        lines += [f"{n} = {_toml([list(p) for p in pairs])}" for n, pairs in similar.pairs.items()]
    level = "margin" if problem.claim.kind == "decision" else "delta"
    lines.append(f'[property]\nkind = "{problem.claim.kind}"\n{level} = {problem.claim.level!r}')
    if problem.claim.of is not None:
        lines.append(f"class_of_interest = {_toml(problem.claim.of)}")
    for constraint in problem.population.constraints:
        lines.append(f"[[constraints]]\nrule = '{constraint.text()}'")
    (folder / "claim.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "claim.toml"


def _toml(value: Any) -> str:
    if value is None:
        return "{ missing = true }"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
