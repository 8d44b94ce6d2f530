"""likewise card: Markdown that says what is known, and how to know it again."""

import hashlib
import json
import re
from pathlib import Path

import pytest


def test_a_card_names_the_verdict_the_gap_the_share_and_the_digests(run, spec, tmp_path, shelf):
    path, proof, share = spec(), tmp_path / "c.likewise", tmp_path / "share.json"
    share.write_text(
        json.dumps(
            {
                "lower": 0.25,
                "upper": 0.5,
                "method": "sampled",
                "confidence": 0.99,
                "over": "rows",
                "proved": True,
            }
        )
    )
    done = run(
        "card", path, "--certificate", str(proof), "--share", str(share), "-o", str(tmp_path / "card.md")
    )
    assert done.exit_code == 0
    assert done.stdout == ""
    text = (tmp_path / "card.md").read_text()
    assert "**BIASED**" in text
    assert re.search(r"\| largest gap of probabilities \| .*0\.\d+", text)
    assert "between 25.00% and 50.00% of rows, by a sample: 99% sure" in text
    assert f"likewise-check {proof}" in text
    assert hashlib.sha256((shelf / "m.skops").read_bytes()).hexdigest() in text
    assert hashlib.sha256(Path(path).read_bytes()).hexdigest() in text
    from likewise import load_certificate

    assert load_certificate(proof).outline().digests["model"] in text


def test_a_card_of_what_is_not_decided_claims_nothing(run):
    text = run("card --model s.skops --data s.csv --free sex --budget 0.6").stdout
    assert "**UNKNOWN**" in text
    assert "not evidence of fairness" in text
    assert "There is no certificate" in text
    assert "FAIR" not in text.replace("UNKNOWN", "")


def test_a_regressor_is_measured_by_its_score(run, on_data):
    done = run(f"card --model regression.skops {on_data} --free sex --property score:1000")
    assert done.exit_code == 0
    assert "largest gap of scores" in done.stdout
    asked = f"--model regression.skops {on_data} --free sex --property score:1000"
    assert (
        f"likewise verify {asked} --certificate claim.likewise\nlikewise-check claim.likewise\n"
        in done.stdout
    )


@pytest.mark.parametrize(
    "content", ["", "[]", '{"lower": 0.5, "upper": 0.1, "method": "exact"}', '{"lower": 0}']
)
def test_a_share_that_is_none_is_refused(run, spec, tmp_path, content):
    (tmp_path / "share.json").write_text(content)
    done = run("card", spec(), "--share", str(tmp_path / "share.json"))
    assert done.exit_code == 2
    assert "--share" in done.stderr
