"""``likewise init``: a commented claim file drafted from the data.

Kinds, bounds and levels are what the data show, missing values too. What may differ between similar
individuals is never
guessed: without ``--free`` the draft has a marked place to fill in, names that sound protected are
mentioned in a comment, and `verify` refuses the file until someone has decided. Nor is it said who can be:
with ``--mine``, rules that the rows obey
stand in the draft as comments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likewise.errors import DataError, LikewiseError, SpecError, UnsupportedModel, suggest_name

if TYPE_CHECKING:
    from likewise.analysis.mined_rules import MinedRule
    from likewise.spec.claim import WrittenClaim
    from likewise.spec.space import Space

# Words in column names that often stand for what the law protects, or for something close to it.
PROTECTED_WORDS = frozenset(
    {"sex", "gender", "pregnant", "pregnancy", "orientation"}
    | {"race", "ethnicity", "ethnic", "colour", "color", "caste", "religion"}
    | {"nationality", "citizenship", "citizen", "foreign", "origin"}
    | {"age", "birth", "marital", "married", "disability", "disabled"}
)

READING_SECONDS = 30.0  # that a draft may wait for what is wrong with the model


def init(**given: Any) -> int:
    """Draft a commented claim file from the rows in DATA.

    \b
    likewise init credit.csv --model credit.skops --label good -o claim.toml
    likewise verify claim.toml
    """
    from likewise.cli.exits import Exit
    from likewise.cli.hints import translate_hint
    from likewise.cli.output import emit
    from likewise.cli.steps import init_step

    output = None if given["output"] is None else Path(given["output"])
    if output is not None and output.exists() and not given["force"]:
        raise SpecError(f"{output}: already exists", hint="another name, or --force to overwrite it")
    drafted = draft_claim(given)
    claim = drafted.claim
    text = draft_text(drafted, folder=output.parent if output else Path.cwd())
    if output is None:
        emit(text.rstrip("\n"))
        return Exit.DONE
    _write(output, text, force=given["force"])
    undecided = not claim.similarity.free
    click.echo(f"wrote {output}: {claim.space.describe()}", err=True)
    refusal = None if drafted.model is None else _find_refusal(drafted)
    if refusal is not None:
        click.echo(f"warning: verify refuses {given['model']}: {refusal.message}", err=True)
        if refusal.hint is not None:
            click.echo(f"hint: {translate_hint(refusal.hint)}", err=True)
        return Exit.DONE
    step = init_step(str(output), given, undecided=undecided)
    click.echo(f"next: {step.why}\n  {step.how}", err=True)
    return Exit.DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A claim read off the data, in which nobody has decided yet what may differ; and what a reader should
    know of it: the columns that the
    model has no use for, those that are the same in every row, what is in doubt about the reading of the
    model, its classes if there are more than two, and rules that the
    rows obey, where these were asked for."""

    claim: WrittenClaim
    left_out: Sequence[str]
    constant: Sequence[str]
    doubts: Sequence[str]
    classes: Sequence[Any]
    model: Any = None  # where it was opened
    rules: Sequence[MinedRule] | None = None


def draft_claim(given: Mapping[str, Any]) -> Draft:
    """The draft that the options of `init` ask for."""
    model = _open_model(given)
    claim, left_out, constant = _draft_claim(given, model)
    claim, doubts = _draft_reading(claim, given)
    return Draft(
        claim=claim,
        left_out=left_out,
        constant=constant,
        doubts=doubts,
        classes=_class_labels(model),
        model=model,
        rules=_mined_rules(claim, given) if given.get("mine") else None,
    )


def find_label(given: Mapping[str, Any]) -> tuple[list[str], str | None]:
    """The columns of the data, and the one that looks like what is predicted: the only one that the model
    was not fitted on."""
    from likewise.spec.frames import read_table

    frame, model = read_table(given["data"]), _open_model(given)
    columns = [str(name) for name in frame.columns]
    encoded = _encoded_columns(frame, columns, model, None)
    unused = (
        _unused_columns(columns, model, {**given, "label": None})
        if encoded is None
        else [name for name in columns if name not in encoded]
    )
    return columns, unused[0] if len(unused) == 1 else None


def _draft_claim(given: Mapping[str, Any], model: Any) -> tuple[WrittenClaim, list[str], list[str]]:
    """The claim, the columns left out because the model has no use for them, and the constant ones."""
    from dataclasses import replace

    from likewise.spec.claim import WrittenClaim
    from likewise.spec.columns import as_table
    from likewise.spec.frames import read_table
    from likewise.spec.model_reading import GET_DUMMIES, ModelReading
    from likewise.spec.properties import SameDecision
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

    path, label = given["data"], given["label"]
    frame = read_table(path)
    columns = [str(name) for name in frame.columns]
    encoded = _encoded_columns(frame, columns, model, label)
    if label is not None and label not in columns:
        raise DataError(f"{path}: no column {label!r} to be the label{suggest_name(label, columns)}")
    left_out = (
        _unused_columns(columns, model, given)
        if encoded is None
        else [name for name in columns if name not in encoded and name != label]
    )
    try:
        exclude = [*left_out, *([] if label is None else [label])]
        space = Space.from_data(frame, exclude=exclude, constant="keep", missing="include")
    except LikewiseError as error:
        raise error.located(path) from None
    property = SameDecision()
    try:
        claim = WrittenClaim(
            space,
            Similarity(free=given["free"]),
            property,
            model_path=given["model"],
            data_path=path,
            label=label,
            reading=ModelReading(encoding=None if encoded is None else GET_DUMMIES),
        )
    except LikewiseError as error:
        raise error.located("--free") from None
    claim = replace(claim, space=_with_dummy_rules(space, frame))
    constant = [name for name in space.names if as_table(frame).get_column(name).n_unique() == 1]
    return claim, left_out, constant


def _with_dummy_rules(space: Space, frame: Any) -> Space:
    """The space with a constraint for each group of columns that look like the categories of one column."""
    from likewise.spec.dummy_groups import undeclared_groups

    for group in undeclared_groups(space, space.encode(frame, allow_extra=True)):
        space = space.where(group.rule)
    return space


def _draft_reading(claim: WrittenClaim, given: Mapping[str, Any]) -> tuple[WrittenClaim, list[str]]:
    """The claim with what must be said of a model file without names, and what about that is in doubt."""
    from dataclasses import replace

    from likewise.importers.files import NETWORKS, draft_reading
    from likewise.spec.columns import as_table
    from likewise.spec.frames import read_table

    path, label = given["model"], given["label"]
    if Path(path).suffix.lower() not in NETWORKS:
        return claim, []
    labels = [] if label is None else as_table(read_table(given["data"])).get_column(label).unique().to_list()
    reading, doubts = draft_reading(path, claim.space, labels, external_data=given["external_data"])
    return replace(claim, reading=reading), doubts


def _mined_rules(claim: WrittenClaim, given: Mapping[str, Any]) -> list[MinedRule]:
    from likewise.analysis.mined_rules import mine_rules
    from likewise.spec.frames import read_table

    return mine_rules(claim.space, read_table(given["data"]), exceptions=given["exceptions"])


def _open_model(given: Mapping[str, Any]) -> Any:
    """The model, where it can be opened; None for a pickle that must stay closed."""
    from likewise.cli.claims import read_model
    from likewise.importers.files import NETWORKS, PICKLES, check_model_path, is_named_in_code

    path = given["model"]
    if is_named_in_code(path):
        raise SpecError(
            f"{path}: a claim file names files, and no code to run",
            hint="draft it with a model file or write it by hand, and pass --model module:function to the commands",
        )
    check_model_path(path)
    if Path(path).suffix.lower() in PICKLES and not given["allow_pickle"]:
        return None  # a name is all that is needed here
    if Path(path).suffix.lower() in NETWORKS:
        return None  # it knows no names; what it takes is drafted from the file
    model = read_model(path, allow_pickle=given["allow_pickle"], trust=given["trust"])
    _refuse_unreadable(model, path)
    return model


def _refuse_unreadable(model: Any, path: str) -> None:
    """Refuse a model that can be neither read nor asked, whatever a claim file says: what `verify` would
    say, before a draft is filled in for nothing."""
    from likewise.importers.black_box import can_be_asked
    from likewise.importers.files import reading_parts
    from likewise.importers.registry import check_known, find_forest_reader
    from likewise.importers.unfold import unfold

    try:
        with reading_parts(path):
            final = unfold(model).final
            if find_forest_reader(final) is None:
                check_known(final)
    except LikewiseError as error:
        if can_be_asked(model):
            return
        raise error.located(path) from None


def _find_refusal(drafted: Draft) -> UnsupportedModel | None:
    """What `verify` would refuse of the model behind the columns of the draft; None where that is nothing,
    or takes long to find out."""
    from likewise.cli.claim_rows import read_rows
    from likewise.importers.files import reading_parts
    from likewise.problem import Claim, prepare
    from likewise.run import open_run

    claim = drafted.claim
    try:
        asked = Claim(
            model=drafted.model,
            space=claim.space,
            similarity=claim.similarity,
            property=claim.property,
            X=read_rows(str(claim.data_path), claim.label),
            reading=claim.reading,
        )
        with open_run(import_budget=READING_SECONDS) as run, reading_parts(claim.model_path or ""):
            prepare(asked, run, alone=True)
    except UnsupportedModel as error:
        return error
    except LikewiseError:
        return None  # of the draft, which is to be read and changed, or of time
    return None


def _class_labels(model: Any) -> list[Any]:
    """The labels of a classifier of more than two classes."""
    labels = [] if isinstance(model, type) else getattr(model, "classes_", [])
    plain = [label.item() if hasattr(label, "item") else label for label in labels]
    return plain if len(plain) > 2 and all(isinstance(p, (str, int, float)) for p in plain) else []


def _encoded_columns(frame: Any, columns: list[str], model: Any, label: str | None) -> list[str] | None:
    """The columns that the model was fitted on behind pandas.get_dummies, None where it was not."""
    if isinstance(model, type) or not hasattr(model, "feature_names_in_"):
        return None
    from likewise.importers.get_dummies import encoded_features

    return encoded_features(model, frame, [name for name in columns if name != label])


def _unused_columns(columns: list[str], model: Any, given: Mapping[str, Any]) -> list[str]:
    """The columns that the model was not fitted on, where it knows its columns."""
    path, label = given["model"], given["label"]
    if isinstance(model, type) or not hasattr(model, "feature_names_in_"):
        return []
    known = [str(name) for name in model.feature_names_in_]
    for name in known:
        if name not in columns:
            raise DataError(
                f"{given['data']}: no column {name!r}, which {path} was fitted on{suggest_name(name, columns)}"
            )
    return [name for name in columns if name not in known and name != label]


def draft_text(drafted: Draft, *, folder: Path) -> str:
    """The claim file with the comments that a draft needs."""
    from likewise.spec.toml_writer import INPUTS_TOML, MISSING_TOML, SIMILAR_COMMENT, spec_text, toml_key

    lines = spec_text(drafted.claim, folder=folder).splitlines()
    marked = {f"[features.{toml_key(name)}]" for name in drafted.constant}
    noted = list(drafted.left_out)
    draft: list[str] = []
    for number, line in enumerate(lines):
        if number == 0:
            draft += ["# A claim for Likewise, drafted by likewise init. Read it, change it, then:"]
            draft += ["#   likewise verify THIS-FILE"]
        elif number == 1 and not drafted.claim.similarity.free:
            continue  # "differ in nothing" is what nobody claims
        elif line in marked:
            draft += ["# The same in every row of the data: give it its real bounds or levels.", line]
        elif line.startswith("rule = "):
            draft += ["# These columns look like the categories of one column: no row has two of them.", line]
        elif line == MISSING_TOML:
            draft.append(f"{line}    # as in some rows of the data; without it, individuals who miss nothing")
        elif line == INPUTS_TOML:
            draft += [*(f"# {doubt}" for doubt in drafted.doubts), line]
        elif line == SIMILAR_COMMENT:
            draft += [*_rule_comments(drafted.rules), line]
        elif line == "free = []":
            draft += [*_fill_in_comment(drafted.claim.space), line]
        elif line.startswith("features = ") and noted:
            draft += [f"# The model was not fitted on: {_comment_text(noted)}", line]
        else:
            draft.append(line)
    return "\n".join((*draft, *_class_comment(list(drafted.classes)))) + "\n"


def _rule_comments(rules: Sequence[MinedRule] | None) -> list[str]:
    """Rules that the rows obey, each one ready to be taken by removing its marks."""
    from likewise.spec.toml_writer import toml_string

    if rules is None:
        return []
    if not rules:
        return ["# No rule between two features was found that the rows obey and that says much.", ""]
    lines = [
        "# Rules that the rows obey, and would not by chance. None of them applies: is it true of whoever comes next? Then remove its marks.",
    ]
    for rule in rules:
        broken = "none breaks it" if not rule.exceptions else f"broken by {rule.exceptions}"
        lines += [
            f"# {rule.rows:,} rows, {broken}; about {rule.expected:,.0f} would break it if its two features were independent",
            "# [[constraints]]",
            f"# rule = {toml_string(rule.rule)}",
        ]
    return [*lines, ""]


def _class_comment(classes: list[Any]) -> list[str]:
    """How the claim, whose last lines are its property, can be narrowed to one class."""
    from likewise.spec.toml_writer import toml_value

    if not classes:
        return []
    labels = [toml_value(label) for label in classes]
    shown = ", ".join(labels[:12]) + (", ..." if len(labels) > 12 else "")
    return [f"# class_of_interest = {labels[0]}    # only this class counts then; the classes: {shown}"]


def _fill_in_comment(space: Space) -> list[str]:
    from likewise.spec.toml_writer import toml_string

    found = [name for name in space.names if sounds_protected(name)]
    hints = [
        "# FILL IN: what may differ between two individuals who should be treated alike.",
        '# For instance free = ["sex"], and below it within = { age = 2, income = "5%" }.',
    ]
    if found:
        names = ", ".join(toml_string(name) for name in found)
        hints += [f"# By their names alone these might be: {names}. Likewise does not decide that."]
    return hints


def sounds_protected(name: str) -> bool:
    """Whether a word of a column name is one that often stands for a protected attribute."""
    words = re.split(r"[^A-Za-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))
    return any(word.lower() in PROTECTED_WORDS for word in words)


def _comment_text(names: list[str]) -> str:
    text = ", ".join(names)
    return "".join(char if char.isprintable() else " " for char in text)


def _write(output: Path, text: str, *, force: bool) -> None:
    try:
        with output.open("w" if force else "x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        raise SpecError(f"{output}: already exists", hint="another name, or --force") from None
    except OSError as error:
        raise SpecError(f"{output}: cannot be written: {error.strerror or error}") from None
