"""What is printed: one JSON object, or text of 80 columns that needs no colour."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.answers.terminal import answer_lines, colour_lines, render
from likewise.answers.verdict import verdict_answer


def test_json_is_alone_on_stdout(run, on_data):
    for line in ("verify", "measure", "measure --of probability"):
        done = run(f"{line} --model m.skops {on_data} --free sex --json")
        answer = json.loads(done.stdout)
        assert done.stderr == ""
        assert [sorted(side) for side in answer["pair"]] == [["age", "income", "sex"]] * 2
        assert set(answer["decisions"]) <= {"yes", "no"}


def test_measure_json_brackets_the_gap_of_its_pair(run, on_data):
    answer = json.loads(run(f"measure --model m.skops {on_data} --free sex --json").stdout)
    first, second = answer["scores"]
    assert answer["lower"] <= answer["upper"] <= answer["lower"] + 2e-6
    assert abs(first - second - answer["lower"]) < 1e-9


def test_measure_json_tells_the_history_of_a_kernel_bracket(run, on_data):
    answer = json.loads(
        run(f"measure --model rbf.skops {on_data} --free sex --of margin --tolerance 0.05 --json").stdout
    )
    assert answer["history"][-1][1:] == [answer["lower"], answer["upper"]]
    assert answer["upper"] - answer["lower"] <= 0.05 + 1e-9
    assert all(len(point) == 3 for point in answer["history"])
    assert [lower for _, lower, _ in answer["history"]] == sorted(lower for _, lower, _ in answer["history"])


def test_the_verdict_block(run, on_data):
    lines = run(f"verify --model m.skops {on_data} --free sex").stdout.splitlines()
    assert lines[0] == "claim    individuals who differ only in sex get the same decision"
    assert lines[1].startswith("space    3 features; ")
    assert re.fullmatch(r"verdict  BIASED   found in \d+\.\d\d s, exact, replayed on predict", lines[2])
    assert lines[3].split() == ["x", "x'"]
    assert lines[4].split() == ["sex", "1", "<>", "0"]
    assert sum("<>" in line for line in lines) == 1
    assert lines[-12].split() == ["decision", "yes", "no"]
    assert lines[-11].split()[0] == "score"
    assert lines[-10].split()[0] == "P(yes)"
    claim = f"--model m.skops {on_data} \\", "             --free sex"
    assert lines[-9:] == [
        "next     how large the gap can be:",
        f"           likewise measure {claim[0]}",
        claim[1],
        "         for whom, in the data:",
        f"           likewise audit {claim[0]}",
        claim[1],
        "         a model made fair:",
        f"           likewise repair {claim[0]}",
        claim[1],
    ]


def test_next_names_commands_that_exist(run, on_data, spec):
    from likewise.cli.app import cli

    for line in (f"verify --model {model}.skops {on_data} --free sex" for model in ("m", "fair")):
        named = re.findall(r"^ {11}likewise (\w+) ", run(line).stdout, flags=re.MULTILINE)
        assert named
        assert set(named) <= set(cli.commands)
    path = spec()
    assert f"likewise measure {path} for whom" in re.sub(r"[\s\\]+", " ", run("verify", path).stdout)
    other = run("verify", path, "--model", "fair.skops").stdout
    assert f"likewise measure {path} --model fair.skops " in re.sub(r"[\s\\]+", " ", other)


def test_all_shows_every_feature(run):
    line = "measure --model s.skops --data s.csv --free sex --budget 0.5"
    short, full = run(line).stdout, run(f"{line} --all").stdout
    assert "... 41 more the same (--all shows them)" in short
    assert "--all" not in full
    assert all(f"\n  b{i} " in full for i in range(44))


def test_quiet_is_one_line(run, on_data):
    assert run(f"verify --model m.skops {on_data} --free sex --quiet").stdout == "BIASED\n"
    low, high = run(f"measure --model m.skops {on_data} --free sex -q").stdout.split()
    assert float(low) <= float(high)


@pytest.mark.parametrize("command", ["verify", "measure", "measure --of margin"])
def test_80_columns_without_colour(run, on_data, command):
    for model in ("m", "fair"):
        text = run(f"{command} --model {model}.skops {on_data} --free sex --within age=2").stdout
        assert max(map(len, text.splitlines())) <= 80
        assert "\x1b" not in text


def biased():
    """A verdict with its pair; the names of the features look like titles."""
    model = LogisticRegression().fit([[0, 0], [1, 9], [0, 1], [1, 8]], [0, 1, 0, 1])
    model.coef_, model.intercept_ = np.array([[4.0, 1.0]]), np.array([-4.5])
    space = lw.Space({"verdict": lw.Integer(0, 1), "next": lw.Integer(0, 9)})
    return lw.verify(model, space, lw.Similarity(free=["verdict"]))


def test_colour_adds_nothing_but_colour():
    answer = verdict_answer(biased())
    painted = colour_lines(answer_lines(answer))
    assert painted != render(answer)
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == render(answer)
    assert "\x1b[1;31mBIASED\x1b[0m" in painted


def test_flags_override_the_spec(run, spec):
    path = spec()
    told = run("verify", path, "--json", "--property", "score:99", "--free", "age")
    answer = json.loads(told.stdout)
    assert answer["claim"] == "individuals who differ only in age get scores at most 99 apart"
    assert answer["verdict"] == "FAIR"
    told = json.loads(run("verify", path, "--json", "--within", "sex=0", "--within", "income=1%").stdout)
    assert "by at most 1% (1) in income" in told["claim"]
    assert "sex" not in told["claim"]


def test_where_restricts_the_space(run, on_data):
    done = run(
        "verify", *f"--model m.skops {on_data} --free sex --json".split(), "--where", "income <= 1",
        "--where", "age <= 30",
    )  # fmt: skip
    assert json.loads(done.stdout)["verdict"] == "FAIR"


def test_a_seed_changes_no_verdict(run, on_data):
    for seed in (0, 1, 2):
        assert run(f"verify --model m.skops {on_data} --free sex --seed {seed}").exit_code == 1


def test_pickles_are_opened_when_allowed(run, on_data):
    assert run(f"verify --model m.joblib {on_data} --free sex --allow-pickle").exit_code == 1


def test_no_row_needs_to_satisfy_where(run, on_data):
    done = run(
        "verify", *f"--model m.skops {on_data} --free sex --quiet".split(), "--where", "age == 18.5 - 0.5"
    )
    assert done.exit_code in (0, 1)
    assert done.stderr == ""


def test_radius_tells_both_ends(run, on_data):
    done = run(f"radius --model m.skops {on_data} --feature age --property probability:0.1")
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert lines[0].startswith("radius   the tolerance of age up to which individuals who")
    assert any(line.startswith("proved   ") for line in lines)
    assert max(map(len, lines)) <= 80
    answer = json.loads(run(f"radius --model m.skops {on_data} --free sex --within age=2 --json").stdout)
    assert (answer["proved"], answer["refuted"]) == (None, 0.0)


def test_compare_tells_what_changed(run, on_data):
    done = run(f"compare --model m.skops --with fair.skops {on_data} --free sex")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == "change   better: the new model is fairer"
    assert run(f"compare --model fair.skops --with m.skops {on_data} --free sex").exit_code == 1
    answer = json.loads(run(f"compare --model m.skops --with m.skops {on_data} --free sex --json").stdout)
    assert answer["change"] == "same"


def test_audit_lists_the_worst_rows_first(run, on_data, shelf):
    done = run(f"audit --model m.skops {on_data} --free sex --by sex --output rows.csv")
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert lines[0].startswith("claim    individuals who differ only in sex")
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("biased   ") for line in lines)
    assert "exact for each row" in " ".join(done.stdout.split())
    assert any(line.startswith("by       sex") for line in lines)
    written = (shelf / "rows.csv").read_text().splitlines()
    assert written[0] == "row,biased,gap,decision,counterpart_decision,proved,age,sex,counterpart_sex,income"
    assert len(written) == 121
    answer = json.loads(run(f"audit --model m.skops {on_data} --free sex --by approved --json").stdout)
    assert answer["biased"] == sum(group["biased"] for group in answer["by"]["groups"])
    assert float(run(f"audit --model m.skops {on_data} --free sex -q").stdout) == answer["share"]
    gaps = [row["gap"] for row in answer["rows"] if row["biased"]]
    assert gaps == sorted(gaps, reverse=True)


def test_audit_shows_who_the_worst_rows_are_and_no_ties(run, on_data, shelf):
    answer = json.loads(run(f"audit --model m.skops {on_data} --free sex --json").stdout)
    rows = pd.read_csv(shelf / "d.csv")
    for record in answer["rows"]:
        own = rows.iloc[record["row"]]
        assert (record["age"], record["sex"], record["income"]) == (own["age"], own["sex"], own["income"])
    biased = [record for record in answer["rows"] if record["biased"]]
    assert sum(1 + record["more_like_it"] for record in answer["worst"]) == len(biased)
    changes = [
        (f"{record['gap']:.6g}", record["decision"], record["sex"], record["counterpart_sex"])
        for record in answer["worst"]
    ]
    assert len(set(changes)) == len(changes) < len(biased)
    shown = " ".join(run(f"audit --model m.skops {on_data} --free sex").stdout.split())
    assert "row like it score gap decisions row / counterpart the same" in shown
    first = answer["worst"][0]
    assert f"{first['more_like_it']} more" in shown
    assert f"sex = {first['sex']} / {first['counterpart_sex']} age = {first['age']}, income" in shown


@pytest.mark.parametrize("command", ["verify", "measure"])
def test_documents_say_which_class_probabilities_are_of(run, on_data, command):
    answer = json.loads(run(f"{command} --model m.skops {on_data} --free sex --json").stdout)
    assert answer["probabilities"] is not None
    assert answer["upper_label"] == "yes"


def test_audit_says_what_it_does_not_know(run, on_data):
    done = run(f"audit --model m.skops {on_data} --free sex --budget 1e-9")
    assert done.exit_code == 3
    assert "undecided" in done.stdout
    assert "used up" in done.stdout
    assert run(f"audit --model m.skops {on_data} --free sex --output rows.txt").exit_code == 2
    assert run(f"audit --model m.skops {on_data} --free sex --by wage").exit_code == 2


@pytest.mark.some_days
def test_share_says_how_it_knows(run, on_data):
    done = run(f"share --model m.skops {on_data} --free sex --over data")
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert any(line.startswith("basis    exact: 120 individuals") for line in lines)
    assert max(map(len, lines)) <= 80
    answer = json.loads(run(f"share --model m.skops {on_data} --free sex --budget 1 --json").stdout)
    assert answer["method"] in ("sampled", "certified")
    assert 0 < answer["lower"] < answer["upper"] < 1
    sampled = run(
        f"share --model rbf.skops {on_data} --free sex --over marginals --method sampled --budget 1"
    )
    assert "Clopper-Pearson" in " ".join(sampled.stdout.split())
    assert run(f"share --model m.skops {on_data} --free sex --method exact").exit_code == 2


SEX_REGIONS = ["regions", "--model", "m.skops", "--data", "d.csv", "--label", "approved", "--free", "sex"]


@pytest.mark.some_days
def test_regions_is_a_table_with_rules_that_can_be_read_back(run, on_data, tmp_path):
    done = run(
        f"regions --model m.skops {on_data} --free sex --budget 2 --output {tmp_path}/r.json --certificates {tmp_path}/proofs"
    )
    lines = done.stdout.splitlines()
    assert done.exit_code in (0, 3)
    assert lines[0] == "regions  individuals who differ only in sex get the same decision"
    assert any(re.match(r"undecided \d", line) for line in lines)
    assert max(map(len, lines)) <= 80
    answer = json.loads((tmp_path / "r.json").read_text())
    assert sum(answer["shares"].values()) == pytest.approx(1)
    assert len(list((tmp_path / "proofs").iterdir())) == len(answer["fair"]) + 2 * len(answer["biased"]) > 2
    rule = answer["fair"][0]["rule"]
    around = json.loads(run(*SEX_REGIONS, "--around", rule, "--json").stdout)
    assert around["shares"]["fair"] >= answer["fair"][0]["measure"]
    assert around["biased"] == []


def test_regions_around_a_row_and_with_constraints(run):
    done = run(*SEX_REGIONS, "--around", "3", "--where", "age <= 60")
    assert done.exit_code == 0
    assert "around   " in done.stdout
    assert run(*SEX_REGIONS, "--around", "5000").exit_code == 2
    assert run(*SEX_REGIONS, "--around", "age < 3").exit_code == 2


@pytest.mark.some_days
def test_regions_say_whom_they_are_about(run):
    shares = {}
    for over in ("data", "marginals", "uniform"):
        done = run(*SEX_REGIONS, "--over", over, "--budget", "0.5", "--max-boxes", "3", "--json")
        answer = json.loads(done.stdout)
        assert (answer["people"] is None) == (over == "uniform")
        shares[over] = answer["shares"] if over == "uniform" else answer["people"]
        assert sum(shares[over].values()) == pytest.approx(1)
    default = json.loads(run(*SEX_REGIONS, "--budget", "0.5", "--max-boxes", "3", "--json").stdout)
    assert default["over"] == "the 120 rows of the data"
    assert run(*SEX_REGIONS, "--over", "rows").exit_code == 2


def test_regions_are_no_more_than_asked_for(run):
    done = run(*SEX_REGIONS, "--max-boxes", "1", "--budget", "30", "--json")
    answer = json.loads(done.stdout)
    assert len(answer["fair"]) == 1
    assert len(answer["biased"]) <= 1
    assert done.exit_code == 3
    assert "max_boxes" in answer["reason"]
    assert run(*SEX_REGIONS, "--max-boxes", "-1").exit_code == 2
