"""Families stay in their rooms: nobody outside asks of what type a body, a score or an oracle is."""

import ast
from pathlib import Path

import pytest

import likewise
from likewise.families.registry import FAMILY_NAMES, RULES, family_with_rule, load_family, words_of_rules

SRC = Path(likewise.__file__).parent
OUTSIDE = [
    path
    for path in sorted(SRC.rglob("*.py"))
    if path.relative_to(SRC).parts[0] not in ("families", "paper")  # paper stands beside everything
]
ROOMS = tuple(f"likewise.families.{name}" for name in FAMILY_NAMES)


def types_of_families(tree):
    """Names that a module has from a family's room, and sums of one-feature terms, which affine scores are."""
    found = {"Separable"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(ROOMS):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def type_tests(tree):
    """The names that `isinstance`, or `match`, is asked with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            yield from (one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name))
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name):
            yield node.cls.id


@pytest.mark.some_days
@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(SRC)))
def test_no_type_tests_on_families_outside_of_them(path):
    text = path.read_text(encoding="utf-8")
    if "Separable" not in text and "likewise.families." not in text:
        return  # it knows none of the types
    tree = ast.parse(text)
    assert not set(type_tests(tree)) & types_of_families(tree)


@pytest.mark.parametrize("name", FAMILY_NAMES)
def test_every_room_has_its_sign(name):
    room = SRC / "families" / name
    assert ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))
    assert (room / "family.py").exists()


def test_a_rule_is_of_one_family_or_of_all():
    owned = [rule for name in FAMILY_NAMES for rule in load_family(name).rules]
    assert len(set(owned)) == len(owned)
    assert not set(owned) & set(RULES)
    assert all(family_with_rule(rule).rules[rule] == words_of_rules()[rule] for rule in owned)
    assert all(family_with_rule(rule) is None for rule in RULES)


@pytest.mark.parametrize("name", FAMILY_NAMES)
def test_leaves_have_rules_that_their_family_says(name):
    """Every word in the place of a rule, in bounders and leaves of the room."""
    room = SRC / "families" / name
    said = {*RULES, *load_family(name).rules}
    for path in room.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.target.id == "rule"
            ):
                assert ast.literal_eval(node.value) in said
            if isinstance(node, ast.keyword) and node.arg == "rule" and isinstance(node.value, ast.Constant):
                assert node.value.value in said
