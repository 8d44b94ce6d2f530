"""What every reader of JUnit XML agrees on: which elements hold which, their attributes, and counts that are true."""

import re
from xml.etree import ElementTree as Xml

COUNTS = ("tests", "failures", "errors", "skipped")
# element: (attributes that it must have, attributes that it may have, elements that it may hold)
RULES = {
    "testsuites": ({"tests", "failures", "errors"}, {"name", "skipped", "time"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
        {"hostname", "id", "package"},
        {"testcase"},
    ),
    "testcase": ({"name", "classname", "time"}, {"file", "line"}, {"failure", "error", "skipped"}),
    "failure": ({"type"}, {"message"}, set()),
    "error": ({"type"}, {"message"}, set()),
}


def check(element: Xml.Element) -> None:
    """Fails where an element is not as it has to be."""
    must, may, inside = RULES[element.tag]
    assert must <= set(element.keys()) <= must | may
    for name in {*COUNTS, "time"} & set(element.keys()):
        assert re.fullmatch(r"\d+(\.\d+)?", element.attrib[name])
    if element.tag in ("testsuites", "testsuite"):
        counted = [len(list(element.iter(tag))) for tag in ("testcase", "failure", "error", "skipped")]
        assert counted == [int(element.attrib[name]) for name in COUNTS]
    if element.tag == "testcase":
        assert len(element) <= 1
    if "timestamp" in element.keys():  # noqa: SIM118 - an element is no mapping
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", element.attrib["timestamp"])
    for child in element:
        assert child.tag in inside
        check(child)
