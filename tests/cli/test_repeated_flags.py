"""A next step, read back by the program, is about the very claim that it was printed for."""

import shlex

import click
from hypothesis import given
from hypothesis import strategies as st

from likewise.cli.app import cli
from likewise.cli.options import ClaimFlags
from likewise.cli.steps import repeat_command

TEXT = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=12).filter(
    lambda text: text.strip() == text
)
MANY = st.lists(TEXT, max_size=3).map(tuple)
CLAIMS = st.fixed_dictionaries(
    {
        "spec": st.none() | TEXT.filter(lambda text: not text.startswith("-")),
        **{name: st.none() | TEXT for name in ("model", "data", "label", "metric", "metric_radius")},
        **dict.fromkeys(("free", "within", "pairs", "along", "where", "trust"), MANY),
        **{name: st.booleans() for name in ("widen", "allow_pickle")},
        "outside": st.none() | st.sampled_from(["error", "ignore", "clip"]),
        "encoding": st.none() | st.just("get_dummies"),
        "threshold": st.none() | st.floats(0.01, 0.99),
        "import_budget": st.floats(0, 1e6),
        "property": st.none() | TEXT,
        "class_of_interest": st.none() | TEXT,
    }
)


def parsed(line):
    program, name, *words = line
    assert program == "likewise"
    command = cli.commands[name]
    with click.Context(command) as ctx:
        command.parse_args(ctx, list(words))
        return ctx.params


@given(CLAIMS, st.sampled_from(["audit", "share", "repair", "card"]))
def test_the_same_claim_comes_back(given_flags, question):
    line = repeat_command(question, "verify", given_flags, given_flags["spec"], None, {})
    again = parsed(shlex.split(shlex.join(line)))
    assert ClaimFlags.of(again) == ClaimFlags.of(given_flags)
    for name in ("property", "class_of_interest"):
        assert again[name] == given_flags[name]


@given(CLAIMS, st.floats(1, 1e4), st.integers(0, 99))
def test_the_same_question_keeps_its_own_options_and_takes_new_ones(given_flags, budget, seed):
    own = {"over": "data", "method": "sampled", "confidence": 0.9, "seed": seed, "jobs": 1, "quiet": True}
    line = repeat_command(
        "share", "share", {**given_flags, **own}, given_flags["spec"], None, {"budget": budget}
    )
    again = parsed(line)
    assert ClaimFlags.of(again) == ClaimFlags.of(given_flags)
    assert (again["over"], again["method"], again["confidence"], again["seed"]) == (
        "data",
        "sampled",
        0.9,
        seed,
    )
    assert again["budget"] == budget
    assert not again["quiet"]
