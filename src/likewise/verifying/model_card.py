"""Model card: a section in Markdown on what was proved of a model, to be pasted into its card.

The verdict comes from a `Result`; a disparity and a share may be added, each as the object or as its
`to_dict` document. Names, levels and labels are the user's own and are escaped, so that they cannot become
Markdown. What no certificate stands behind is said to be so.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from typing import TYPE_CHECKING, Any

from likewise.verifying.wording import (
    basis_in_words,
    bounds_in_words,
    feature_rows,
    pair_of,
    rows_in_words,
    treated_by,
    warning_of,
)

if TYPE_CHECKING:
    from likewise.verifying.result import Result

TITLE = "Individual fairness"
_SAID = {
    "FAIR": "**FAIR**: proved for every pair of similar individuals, and the proof was accepted by the independent checker.",
    "BIASED": "**BIASED**: the two individuals below are similar and break the claim, in exact arithmetic and on the model's own "
    "prediction.",
    "UNKNOWN": "**UNKNOWN**: neither proved nor refuted. This is not evidence of fairness.",
}
_GAPS = {
    "score": "largest gap of scores",
    "probability": "largest gap of probabilities",
    "margin": "largest margin of different decisions",
}
_METHODS = {"exact": "everybody looked at", "certified": "by cells", "sampled": "by a sample"}


def model_card(
    result: Result,
    *,
    disparity: Any = None,
    share: Any = None,
    certificate_path: str | None = None,
    files: Mapping[str, str] | None = None,
) -> str:
    """The section; `certificate_path` is where readers find the certificate, `files` are names and SHA-256 digests to be
    listed beside those of the certificate."""
    parts = [f"## {TITLE}", _SAID[str(result.verdict)], _table(("", ""), _facts(result, disparity, share))]
    if result.pair is not None:
        parts += ["### The pair", _pair(result)]
    digests = {} if result.certificate is None else result.certificate.outline().digests
    listed = [(f"{name} in the certificate", digest) for name, digest in digests.items()]
    listed += list((files or {}).items())
    if listed:
        rows = [(name, f"`{digest}`") for name, digest in listed]
        parts += ["### Digests (SHA-256)", _table(("what", "digest"), rows, escaped=1)]
    parts += ["### How to check this again", _again(result, certificate_path)]
    return "\n\n".join(parts) + "\n"


def _facts(result: Result, disparity: Any, share: Any) -> list[tuple[str, str]]:
    from likewise import __version__

    rows = [
        ("claim", result.claimed.in_words()),
        ("model", result.claimed.family),
        ("space", result.claimed.space.describe()),
        ("verdict", str(result.verdict)),
    ]
    if result.verdict == "FAIR":
        rows.append(("basis", basis_in_words(result)))
    elif (words := rows_in_words(result.stats)) is not None:
        rows.append(("compared", words))
    if (warning := warning_of(result.stats)) is not None:
        rows.append(("warning", warning))
    if result.reason is not None:
        rows.append(("reason", result.reason))
        rows.append(("bounds", bounds_in_words(result.claimed.property, result.bounds)))
    if disparity is not None:
        rows.append(_disparity(_document(disparity)))
    if share is not None:
        rows.append(("share of individuals with a differently treated counterpart", _share(_document(share))))
    return [*rows, ("verified with", f"Likewise {__version__}")]


def _document(answer: Any) -> Mapping[str, Any]:
    return answer if isinstance(answer, Mapping) else answer.to_dict()


def _disparity(found: Mapping[str, Any]) -> tuple[str, str]:
    low = None if found["lower"] is None else outward(found["lower"], up=False)
    high = None if found["upper"] is None else outward(found["upper"], up=True)
    if low is None and high is None:
        text = "nothing is known"
    elif high is None:
        text = f"at least {low}; no upper bound is known"
    elif low is None:
        text = f"at most {high}"
    else:
        text = f"between {low} and {high}"
    if high is not None:
        if found.get("certified"):
            text += "; the upper end was accepted by the checker"
        else:
            text += "" if found.get("proved", False) else "; the upper end is floating point, not proved"
    if found.get("program_upper") is not None:
        text += f"; for the program that rounds at most {outward(found['program_upper'], up=True)}"
    if found.get("reason"):
        text += f" ({found['reason']})"
    return _GAPS[found["of"]], text


def _share(found: Mapping[str, Any]) -> str:
    low = f"{outward(found['lower'], up=False, times=100)}%"
    high = f"{outward(found['upper'], up=True, times=100)}%"
    known = found["lower"] == found["upper"]
    text = f"{100 * found['lower']:.15g}%" if known else f"between {low} and {high}"
    text += f" of {found.get('over', 'all individuals')}, {_METHODS.get(found['method'], found['method'])}"
    if found.get("confidence") is not None:
        text += f" with confidence {found['confidence']:g}"
    if not found.get("proved", False):
        text += "; rests on floating point, not proved"
    return text + (f" ({found['reason']})" if found.get("reason") else "")


def outward(value: float, *, up: bool, times: int = 1) -> str:
    """A multiple of a bound in six digits, rounded to its safe side: a lower bound down, an upper bound up."""
    with localcontext(prec=6, rounding=ROUND_CEILING if up else ROUND_FLOOR):
        rounded = (Decimal(value) * times).normalize()
    return f"{rounded:f}" if rounded and -5 <= rounded.adjusted() < 12 else str(rounded or 0)


def _pair(result: Result) -> str:
    differing, same = feature_rows(pair_of(result.pair, result.claimed.space.names))
    rows: list[Sequence[str]] = [(f"{name} (differs)", first, second) for name, first, second, _ in differing]
    rows += [(name, first, second) for name, first, second, _ in same]
    rows += treated_by(result).rows()
    return _table(("", "x", "x'"), rows)


def _again(result: Result, path: str | None) -> str:
    if result.certificate is None:
        return "There is no certificate: nothing was proved or refuted. `likewise verify` with a larger budget asks again."
    what = "proof" if result.verdict == "FAIR" else "pair"
    first = "" if path is not None else "likewise verify SPEC --certificate claim.likewise\n"
    return (
        f"```\n{first}likewise-check {shlex.quote(path or 'claim.likewise')}\n```\n\n"
        f"The certificate holds the claim, the model's exact parameters and the {what}; `likewise-check` needs nothing else, shares no "
        "code with the search, and exits with 0 (accepted), 4 (rejected) or 2 (unreadable). `likewise export` writes the parameters of "
        "a model at hand, and `likewise-check --model` compares them with the certificate's."
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, escaped: int | None = None) -> str:
    """A table in Markdown; the column `escaped` is Markdown already."""
    lines = [_line(columns), _line(["---"] * len(columns))]
    lines += [_line([text if k == escaped else _plain(text) for k, text in enumerate(row)]) for row in rows]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, in one line."""
    return re.sub(r"([\\`*_\[\]<>|#~!$&])", r"\\\1", " ".join(text.split()))
