"""The part of SARIF 2.1.0 that Likewise writes, as a JSON schema: required fields, types and closed lists of values.

Written from the standard (OASIS, SARIF 2.1.0, section 3); like the schema of the standard, objects take no further fields.
"""

from typing import Any


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": properties,
    }


def _list(items: dict[str, Any], **limits: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **limits}


TEXT = {"type": "string", "minLength": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
KIND = {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]}
MESSAGE = _object(("text",), text=TEXT)
LOCATION = _object(
    physicalLocation=_object(
        ("artifactLocation",),
        artifactLocation=_object(uri={"type": "string", "format": "uri-reference", "pattern": "^[!-~]+$"}),
        region=_object(startLine={"type": "integer", "minimum": 1}),
    )
)
RULE = _object(
    ("id",),
    id=TEXT,
    name=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=_object(level=LEVEL),
)
RESULT = _object(
    ("message", "ruleId"),
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    kind=KIND,
    level=LEVEL,
    message=MESSAGE,
    locations=_list(LOCATION),
    fingerprints={"type": "object", "additionalProperties": {"type": "string"}},
    partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}},
)
INVOCATION = _object(
    ("executionSuccessful",),
    executionSuccessful={"type": "boolean"},
    exitCode={"type": "integer"},
    toolConfigurationNotifications=_list(
        _object(("message",), level=LEVEL, message=MESSAGE, locations=_list(LOCATION))
    ),
)
RUN = _object(
    ("tool",),
    tool=_object(
        ("driver",),
        driver=_object(
            ("name",),
            name=TEXT,
            version=TEXT,
            semanticVersion=TEXT,
            rules=_list(RULE, uniqueItems=True),
        ),
    ),
    invocations=_list(INVOCATION),
    results=_list(RESULT),
)
SARIF = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object(
        ("version", "runs"),
        **{"$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"}, "runs": _list(RUN)},
    ),
}
