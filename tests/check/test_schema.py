"""The JSON Schema beside the specification fits the lines, and is not looser than the checker about shapes."""

import json
from pathlib import Path

import jsonschema
import pytest
from tests.check import samples
from tests.check.builder import sealed
from tests.check.test_numbers import BAD

from likewise_check.core.fields import Rejected
from likewise_check.core.numbers import number

SCHEMA = json.loads((Path(__file__).parents[2] / "spec" / "certificate-v1.schema.json").read_text())
LINE = jsonschema.Draft202012Validator(SCHEMA)
NUMBER = LINE.evolve(schema=SCHEMA["$defs"]["number"])
ALL = [*samples.PROOFS, *samples.WITNESSES]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("sample", ALL)
def test_lines_fit(sample):
    for raw in sealed(sample()):
        LINE.validate(json.loads(raw))


@pytest.mark.parametrize("text", [*BAD, "0", "-14", "5/1200", "0x1.8p+1", "1" * 10000, "1" * 10001])
def test_numbers_fit_exactly_where_the_checker_reads_them(text):
    try:
        number(text, "it")
        readable = True
    except Rejected as error:
        readable = "exponent" in error.reason  # a limit that a pattern cannot tell
    # ECMA patterns end with $ at the very end; Python's also before a last line feed.
    assert NUMBER.is_valid(text) == readable or text.endswith("\n")
