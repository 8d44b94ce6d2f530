"""The parser against an evaluator that knows nothing of it: expressions are drawn as trees, written
out as text with random spacing and parentheses, and evaluated on the tree in rationals."""

import contextlib
import operator
import pickle
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likewise.errors import SpecError
from likewise.spec.constraints import Constraint, parse_constraints

NAMES = ("age", "income", "_x1", "a.b", "credit-amount", "hours per week", "tick`ed", 'quo"ted', "Größe")
KNOWN = NAMES[:6] + NAMES[8:]
COMPARE = {"<=": operator.le, ">=": operator.ge, "==": operator.eq}

numbers = st.one_of(
    st.integers(0, 1000).map(str),
    st.decimals(0, 1000, places=3).map(str),
    st.sampled_from(["1e5", "2.5E-3", ".5", "3.", "1e+2", "0"]),
)


def spelled(name):
    bare = [name] if name in KNOWN else []
    return st.sampled_from([*bare, "`" + name.replace("`", "``") + "`", '"' + name.replace('"', '""') + '"'])


names = st.sampled_from(NAMES).flatmap(lambda name: spelled(name).map(lambda text: (text, name)))
spaces = st.sampled_from(["", " ", "  ", "\t"])


@st.composite
def linear(draw, depth=3):
    """(text, function of the values) of a random linear expression."""
    shape = draw(
        st.sampled_from(
            ["number", "name"] if depth == 0 else ["number", "name", "sum", "times", "over", "minus"]
        )
    )
    if shape == "number":
        text = draw(numbers)
        return text, lambda _: Fraction(text)
    if shape == "name":
        text, name = draw(names)
        return text, lambda values: values[name]
    gap = draw(st.sampled_from([" ", "  "]))
    left, f = draw(linear(depth=depth - 1))
    if shape == "minus":
        return f"-({left})", lambda values: -f(values)
    if shape == "sum":
        right, g = draw(linear(depth=depth - 1))
        if draw(st.booleans()):
            return f"{left}{gap}+{gap}{right}", lambda values: f(values) + g(values)
        return f"{left}{gap}-{gap}({right})", lambda values: f(values) - g(values)
    factor = draw(numbers)
    if shape == "over":
        assume(Fraction(factor) != 0)
        return f"({left}){gap}/{gap}{factor}", lambda values: f(values) / Fraction(factor)
    if draw(st.booleans()):
        return f"({left}){gap}*{gap}{factor}", lambda values: f(values) * Fraction(factor)
    return f"{factor}{gap}*{gap}({left})", lambda values: f(values) * Fraction(factor)


@st.composite
def chains(draw):
    sides = draw(st.lists(linear(), min_size=2, max_size=3))
    signs = [draw(st.sampled_from(sorted(COMPARE))) for _ in sides[1:]]
    text = sides[0][0]
    for sign, (side, _) in zip(signs, sides[1:], strict=True):
        text += f" {sign}{draw(spaces)}{side}"

    def holds(values):
        found = [f(values) for _, f in sides]
        return all(COMPARE[s](a, b) for s, a, b in zip(signs, found, found[1:], strict=False))

    return text, holds


valued = st.fixed_dictionaries({name: st.fractions(-100, 100, max_denominator=8) for name in NAMES})


def parsed(text):
    try:
        return parse_constraints(text, KNOWN)
    except SpecError as error:
        assume("says nothing about any feature" not in str(error))
        raise


@given(chains(), st.lists(valued, min_size=1, max_size=5))
def test_parser_agrees_with_an_independent_evaluator(chain, rows):
    text, holds = chain
    constraints = parsed(text)
    for values in rows:
        assert all(constraint.holds(values) for constraint in constraints) == holds(values)


@given(chains(), valued)
def test_equality_on_the_border_is_exact(chain, values):
    for constraint in parsed(chain[0]):
        name, by = constraint.coefficients[0]
        total = sum(c * values[n] for n, c in constraint.coefficients)
        on_border = {**values, name: values[name] + (constraint.bound - total) / by}
        beyond = {**on_border, name: on_border[name] + Fraction(1, 10**30) / by}
        assert constraint.holds(on_border)
        assert not constraint.holds(beyond)


@given(chains())
def test_canonical_text_parses_to_the_same_constraint(chain):
    for constraint in parsed(chain[0]):
        assert parse_constraints(constraint.canonical()) == (constraint,)
        assert pickle.loads(pickle.dumps(constraint)) == constraint
        assert hash(parse_constraints(constraint.canonical())[0]) == hash(constraint)


@given(st.text(alphabet='age10. +-*/()<>=!`"^$e\n', max_size=30))
def test_any_text_parses_or_is_refused_with_a_spec_error(text):
    with contextlib.suppress(SpecError):
        constraints = parse_constraints(text, ["age", "a-g"])
        assert constraints
        assert all(constraint.coefficients for constraint in constraints)


def only(text, names=()):
    (constraint,) = parse_constraints(text, names)
    return dict(constraint.coefficients), constraint.bound


def test_simple_forms():
    assert only("employed <= age - 14") == ({"employed": 1, "age": -1}, -14)
    assert only("age >= 18") == ({"age": -1}, -18)
    assert only("0.1 * age <= 1e5") == ({"age": Fraction(1, 10)}, 100000)
    assert only("2*(age - 3)/4 <= -income") == ({"age": Fraction(1, 2), "income": 1}, Fraction(3, 2))
    assert only("- - age <= +3") == ({"age": 1}, 3)
    assert only("age + 0 * income <= 3") == ({"age": 1}, 3)


def test_chains_and_equations_share_the_text():
    chain = parse_constraints(" 18 <= age <= 65 ")
    assert [c.text for c in chain] == ["18 <= age <= 65"] * 2
    assert [(dict(c.coefficients), c.bound) for c in chain] == [({"age": -1}, -18), ({"age": 1}, 65)]
    equation = parse_constraints("a == b + 1")
    assert [(dict(c.coefficients), c.bound) for c in equation] == [
        ({"a": 1, "b": -1}, 1),
        ({"a": -1, "b": 1}, -1),
    ]


def test_bare_known_names_are_taken_longest_first():
    known = ["credit", "credit-amount", "credit-amount-2", "amount"]
    assert only("credit-amount <= 5", known) == ({"credit-amount": 1}, 5)
    assert only("credit-amount-2 <= 5", known) == ({"credit-amount-2": 1}, 5)
    assert only("credit - amount <= 5", known) == ({"credit": 1, "amount": -1}, 5)
    assert only("credit-amount <= 5", ["credit", "amount"]) == ({"credit": 1, "amount": -1}, 5)
    assert only("credit-amountx <= 5", known) == ({"credit": 1, "amountx": -1}, 5)
    assert only("credit-amount - 2 <= 5", ["credit-amount"]) == ({"credit-amount": 1}, 7)
    assert only("`credit`-`amount` <= 5", known) == ({"credit": 1, "amount": -1}, 5)


@pytest.mark.parametrize(
    ("text", "message", "caret", "hint"),
    [
        (
            "age < 3",
            "strict comparison < is not supported",
            4,
            "strict comparison: on whole numbers write a <= b - 1",
        ),
        ("age > 3", "strict comparison > is not supported", 4, "write a >= b + 1"),
        ("age != 3", "!= is not a linear constraint", 4, "use <=, >= or =="),
        ("age = 3", "a single = is no comparison", 4, "write =="),
        ("age =< 3", "unknown comparison =<", 4, "write <="),
        ("age ≤ 3", "unknown character '≤'", 4, "write <="),
        ("age * income <= 3", "a product of two features is not linear", 4, "sums of number * feature"),
        (
            "(age - age) * income <= 3",
            "a product of two features is not linear",
            12,
            "sums of number * feature",
        ),
        ("age ** 2 <= 3", "powers are not linear", 4, "sums of number * feature"),
        ("age ^ 2 <= 3", "powers are not linear", 4, None),
        ("1 / age <= 3", "division by a feature is not linear", 2, None),
        ("age / 0 <= 3", "division by zero", 4, None),
        ("age / (1 - 1) <= 3", "division by zero", 4, None),
        ("age // 2 <= 3", "// is not an operator here", 4, "divide by a number with /"),
        ("age $ 3", "unknown character '$'", 4, "backquotes"),
        ("age;import", "unknown character ';'", 3, "backquotes"),
        ("`age <= 3", "this backquote is never closed", 0, None),
        ('"age <= 3', "this double quote is never closed", 0, None),
        ("2 age <= 3", "an operator is missing", 2, "write 2 * age"),
        ("2age <= 3", "an operator is missing", 1, "write 2 * age"),
        ("age <= 3 and age >= 1", "'and' is not part of a constraint", 9, "a text of its own"),
        ("age <= 3 4", "unexpected '4'", 9, None),
        ("age <= )", "unexpected ')'", 7, None),
        ("age <=", "the text ends where a number or a feature should follow", 6, None),
        ("", "the text ends where", 0, None),
        ("age", "a comparison is missing", 3, "use <=, >= or =="),
        ("(age <= 3)", "a comparison inside parentheses", 5, None),
        ("(age + 1 <= 3", "a comparison inside parentheses", 9, None),
        ("3 >= (age + 1", "this parenthesis is never closed", 5, None),
        ("1 <= 2", "this comparison says nothing about any feature", 2, None),
        ("age <= age + 1", "this comparison says nothing about any feature", 4, None),
        ("0 * age <= 1", "this comparison says nothing about any feature", 8, None),
        ("age <= 1e999999999", "too long or too large", 7, None),
        ("age <= " + "9" * 5000, "too long or too large", 7, None),
        ("(" * 60 + "age", "more than 50 parentheses", 50, None),
    ],
)
def test_refusals_show_the_place(text, message, caret, hint):
    with pytest.raises(SpecError) as caught:
        parse_constraints(text)
    first, shown, pointer = caught.value.message.split("\n")
    assert message in first
    assert shown == "    " + SpecError(text).message  # long numbers are cut
    assert pointer == "    " + " " * caret + "^"
    if hint is not None:
        assert hint in caught.value.hint


def test_the_caret_line_survives_tabs():
    with pytest.raises(SpecError) as caught:
        parse_constraints("age\t<\t3")
    assert caught.value.message.split("\n")[1:] == ["    age < 3", "        ^"]


def test_long_sign_chains_do_not_exhaust_the_stack():
    assert only("-" * 9999 + "age <= 3") == ({"age": -1}, 3)


def test_text_only():
    with pytest.raises(SpecError, match="a constraint is text, got 3"):
        parse_constraints(3)


def test_constraints_made_by_hand():
    made = Constraint("by hand", (("b", 2), ("a", 1), ("c", 0)), 3)
    assert made.coefficients == (("a", Fraction(1)), ("b", Fraction(2)))
    assert made.names == ("a", "b")
    assert made == parse_constraints("a + 2*b <= 3")[0]
    assert str(made) == "by hand"
    with pytest.raises(SpecError, match="says nothing about any feature"):
        Constraint("nothing", (("a", 0),), 3)
    with pytest.raises(SpecError, match="two coefficients for one feature"):
        Constraint("twice", (("a", 1), ("a", 2)), 3)
