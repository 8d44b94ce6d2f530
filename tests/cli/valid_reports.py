"""Reports against the published schemas, and what the schemas leave open: counts that are true, places that are URIs."""

import json
import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as Xml

import jsonschema
import xmlschema

FOLDER = Path(__file__).parent / "schemas"
COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


@cache
def _junit() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(FOLDER / "junit-10.xsd")


@cache
def _sarif() -> jsonschema.Draft4Validator:
    schema = json.loads((FOLDER / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft4Validator.check_schema(schema)
    return jsonschema.Draft4Validator(schema)


def check_junit(content: bytes) -> Xml.Element:
    """The document, valid and with true counts."""
    root = Xml.fromstring(content)
    _junit().validate(root)
    for suite in root.iter():
        if suite.tag not in ("testsuites", "testsuite"):
            continue
        for name, tag in COUNTED.items():
            if name in suite.attrib:
                assert suite.attrib[name] == str(len(list(suite.iter(tag))))
    (suite,) = root
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
    return root


def check_sarif(content: bytes) -> dict:
    """The document, valid, with places that are written as URIs have to be and rules that are where results say."""
    document = json.loads(content)
    _sarif().validate(document)
    for run in document["runs"]:
        rules = run["tool"]["driver"]["rules"]
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            for place in result["locations"]:
                assert re.fullmatch("[!-~]+", place["physicalLocation"]["artifactLocation"]["uri"])
    return document
