"""SARIF 2.1.0: one result a claim that is BIASED or UNKNOWN, for whatever shows the findings of static analysis.

A result's place is the line of its claim file where the similarity begins. Its fingerprint is that of the rule, the file and
the claim in words: it stays the same from run to run while the pair that is found, the model and the bounds may change.
UNKNOWN is a finding of its own rule with level `warning`, not the kind `open`, which viewers leave out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from likewise import __version__
from likewise.cli.outcomes import ClaimOutcome, exit_code
from likewise.spec.disk import read_file

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "likewiseClaim/v1"

RULES: tuple[dict[str, Any], ...] = (
    {
        "id": "likewise/biased",
        "name": "SimilarIndividualsTreatedDifferently",
        "shortDescription": {"text": "Two similar individuals are treated differently."},
        "fullDescription": {
            "text": "There is a pair of individuals that the claim calls similar and that breaks its property, in exact arithmetic and "
            "on the model's own prediction."
        },
        "help": {"text": "likewise measure CLAIM tells how large the gap can be."},
        "defaultConfiguration": {"level": "error"},
    },
    {
        "id": "likewise/unknown",
        "name": "FairnessNotDecided",
        "shortDescription": {"text": "The claim is neither proved nor refuted."},
        "fullDescription": {
            "text": "The search ended before there was a proof or a pair that breaks the property. This is no evidence of fairness."
        },
        "help": {"text": "likewise verify CLAIM --budget SECONDS searches longer."},
        "defaultConfiguration": {"level": "warning"},
    },
)
_RULE_INDEX = {"BIASED": 0, "UNKNOWN": 1}


def sarif_document(outcomes: Sequence[ClaimOutcome]) -> bytes:
    """The document."""
    wrong = [outcome for outcome in outcomes if outcome.error is not None]
    run = {
        "tool": {
            "driver": {
                "name": "Likewise",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": list(RULES),
            }
        },
        "invocations": [_invocation(outcomes, wrong)],
        "results": [
            _sarif_result(one) for one in outcomes if one.verdict in _RULE_INDEX and one.error is None
        ],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return (json.dumps(document, indent=2) + "\n").encode()


def _invocation(outcomes: Sequence[ClaimOutcome], wrong: Sequence[ClaimOutcome]) -> dict[str, Any]:
    crashed = [outcome for outcome in outcomes if outcome.crash is not None]
    found: dict[str, Any] = {
        "executionSuccessful": not (wrong or crashed),
        "exitCode": int(exit_code(outcomes)),
    }
    if wrong:
        found |= {"exitCode": 2, "toolConfigurationNotifications": [_notification(one) for one in wrong]}
    if crashed:
        found["toolExecutionNotifications"] = [_notification(one) for one in crashed]
    return found


def _notification(outcome: ClaimOutcome) -> dict[str, Any]:
    text = outcome.reason if outcome.error is None else str(outcome.error)
    return {"level": "error", "message": {"text": text}, "locations": _locations(outcome)}


def _sarif_result(outcome: ClaimOutcome) -> dict[str, Any]:
    place = _RULE_INDEX[outcome.verdict]
    rule = RULES[place]
    identity = {FINGERPRINT: fingerprint(rule["id"], outcome)}
    what = "Not so" if outcome.verdict == "BIASED" else "Not decided"
    return {
        "ruleId": rule["id"],
        "ruleIndex": place,
        "kind": "fail",
        "level": rule["defaultConfiguration"]["level"],
        "message": {"text": f"Claim: {outcome.claim}. {what}: {outcome.reason}."},
        "locations": _locations(outcome),
        "fingerprints": identity,
        "partialFingerprints": identity,
    }


def fingerprint(rule: str, outcome: ClaimOutcome) -> str:
    """Of rule, file and claim; not of the pair or the bounds, which another run may find otherwise."""
    return hashlib.sha256("\0".join((rule, _uri(outcome.file), outcome.claim)).encode()).hexdigest()


def _locations(outcome: ClaimOutcome) -> list[dict[str, Any]]:
    if not outcome.file:
        return []
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(outcome.file)}}
    if outcome.flags.spec is not None:
        place["region"] = {"startLine": _similarity_line(outcome.flags.spec)}
    return [{"physicalLocation": place}]


def _uri(path: str) -> str:
    """Relative to the folder of the run where the file is below it, as viewers expect of a repository."""
    whole = Path(path).absolute()
    try:
        return quote(whole.relative_to(Path.cwd()).as_posix())
    except ValueError:
        return whole.as_uri()


def _similarity_line(spec: str) -> int:
    """Where the similarity begins; the first line if it cannot be told."""
    try:
        lines = read_file(spec).decode().splitlines()
    except (OSError, UnicodeDecodeError):
        return 1
    found = (at for at, line in enumerate(lines, start=1) if line.strip().startswith("[similarity"))
    return next(found, 1)
