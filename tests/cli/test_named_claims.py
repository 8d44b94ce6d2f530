"""Claims by their names as flags and in claim files."""

import json


def test_monotone_as_a_flag(run, on_data):
    verdicts = {}
    for way in ("up", "down"):
        done = run(f"verify --model m.skops {on_data} --property monotone:income,{way} --json")
        document = json.loads(done.stdout)
        verdicts[way] = document["verdict"]
        assert done.exit_code == {"FAIR": 0, "BIASED": 1}[document["verdict"]]
    assert sorted(verdicts.values()) == ["BIASED", "FAIR"]
    said = " ".join(run(f"verify --model m.skops {on_data} --property monotone:income").stdout.split())
    assert (
        "differ only in income, the second having more income, get scores of which the second is not lower"
        in said
    )


def test_a_name_leaves_the_similarity_of_the_file_aside(run, spec):
    said = " ".join(run("verify", spec(), "--property", "rounding:income,0.5").stdout.split())
    assert "individuals who differ only by at most 0.5 in income get the same decision" in said


def test_what_cannot_be_read_says_how_it_is_spelled(run, on_data):
    done = run(f"verify --model m.skops {on_data} --property monotone:income,sideways")
    assert done.exit_code == 2
    assert "--property" in done.stderr
    assert "is no direction" in done.stderr


def test_what_is_about_everybody_refuses_an_order(run, spec):
    path = spec(('kind = "decision"', 'kind = "monotone"\nfeature = "income"'))
    done = run("regions", path)
    assert done.exit_code == 2
    assert "no answer about regions for a claim in one direction (income)" in done.stderr


def test_the_gap_of_a_claim_by_its_name_is_measured(run):
    """By the flag as by the file: the largest fall, and of levels the largest gap between the two."""
    data = "--model m.skops --data d.csv --label approved"
    fall = json.loads(run(f"measure {data} --property monotone:income,down --json").stdout)
    assert fall["lower"] > 0
    one, two = fall["pair"]
    assert {name for name in one if one[name] != two[name]} == {"income"}
    rises = json.loads(run(f"measure {data} --property monotone:income --json").stdout)
    assert rises["upper"] == 0
    rounded = json.loads(run(f"measure {data} --property rounding:age,2 --json").stdout)
    plain = json.loads(run(f"measure {data} --within age=2 --json").stdout)
    assert rounded["lower"] == plain["lower"]
    refused = run(f"measure {data} --free sex --property score:0.5")
    assert refused.exit_code == 2
    assert "says how large a gap may be" in refused.stderr
