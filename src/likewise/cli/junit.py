"""JUnit XML: one test case a claim, for whatever shows the tests of a build.

FAIR     a test that passed
BIASED   a `failure`, with the pair in words and the whole block as text
UNKNOWN  an `error` (of the type CRASHED where the claim's search crashed) and not `skipped`: what was not proved must not look like something that does not matter

Elements and attributes are those of junit-10.xsd, the schema of Jenkins' xUnit plugin, which other readers accept as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree as Xml

from likewise.cli.outcomes import ClaimOutcome

# What XML 1.0 has no way to write.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_document(outcomes: Sequence[ClaimOutcome], *, now: datetime | None = None) -> bytes:
    """The document."""
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(sum(one.verdict == "BIASED" for one in outcomes)),
        "errors": str(sum(one.verdict == "UNKNOWN" for one in outcomes)),
        "time": f"{sum(one.seconds for one in outcomes):.3f}",
    }
    root = Xml.Element("testsuites", {"name": "likewise", **counts})
    when = (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S")
    own = {"name": "likewise verify", **counts, "skipped": "0", "timestamp": when}
    suite = Xml.SubElement(root, "testsuite", own)
    for outcome in outcomes:
        _add_case(suite, outcome)
    Xml.indent(root)
    return bytes(Xml.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _add_case(suite: Xml.Element, outcome: ClaimOutcome) -> None:
    named = {"name": replace_unwritable(outcome.claim), "classname": replace_unwritable(outcome.name)}
    case = Xml.SubElement(suite, "testcase", {**named, "time": f"{outcome.seconds:.3f}"})
    if outcome.verdict == "FAIR":
        return
    kind = "failure" if outcome.verdict == "BIASED" else "error"
    wrong = "INPUT" if outcome.error is not None else "CRASHED" if outcome.crash else outcome.verdict
    found = Xml.SubElement(case, kind, {"message": replace_unwritable(outcome.reason), "type": wrong})
    found.text = replace_unwritable(_failure_text(outcome))


def _failure_text(outcome: ClaimOutcome) -> str:
    if outcome.result is None:
        return str(outcome.error or outcome.reason)
    from likewise.answers import terminal
    from likewise.answers.audience import Audience
    from likewise.answers.verdict import verdict_answer

    return terminal.render(verdict_answer(outcome.result, Audience(same=None), steps=False))


def replace_unwritable(text: str) -> str:
    """The text with what XML cannot hold replaced by U+FFFD."""
    return _UNWRITABLE.sub("\ufffd", text)
