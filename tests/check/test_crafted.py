"""The certificates that were written by hand for the second checker, one a sentence of the specification that can be misread, get the same answer from the first."""

import json
from pathlib import Path

import pytest
from tests.check.builder import checked

CRAFTED = Path(__file__).parents[2] / "checker-js" / "test" / "crafted.jsonl"
ITEMS = [json.loads(text) for text in CRAFTED.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["name"])
def test_the_first_checker_answers_as_the_second(item):
    report = checked(item["lines"])
    answer = "accepted" if report.accepted else "rejected" if report.readable else "unreadable"
    assert answer == item["answer"], report.reason
    assert report.decided == item["everybody"]
