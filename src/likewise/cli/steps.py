"""Next steps as commands that can be pasted: with every flag that the claim or the model needs, quoted for a shell.

A command about the same claim repeats the claim file and all flags of the claim that were given, of the model too (``--trust``,
``--allow-pickle``, ``--import-budget``, ``--max-memory``); the same command repeats its own options as
well, but for those that only say what is printed or
written. A search that was written to a checkpoint goes on from there when it is to take longer.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from likewise.answers.answer import Step
from likewise.answers.audience import Audience
from likewise.cli import options as o
from likewise.cli.optional_values import OptionalValue

if TYPE_CHECKING:
    from likewise.cli.claims import LoadedClaim
    from likewise.spec.properties import Property

CLAIM_OPTIONS = (*(option.name for option in o.CLAIM), "property", "class_of_interest")
# What says how an answer is printed or where it is written, and so belongs to one run alone.
RUN_OPTIONS = (
    *("certificate", "certificates", "output", "junit", "sarif"),
    *("as_json", "quiet", "all_features", "all_regions", "share", "checkpoint", "resume"),
)


def command_audience(
    command: str,
    given: Mapping[str, Any],
    loaded: LoadedClaim,
    *,
    spec: str | None,
    proof: str | None = None,
    boxes: int | None = None,
) -> Audience:
    """How a command tells its answer about a claim."""
    from likewise.importers.settled_estimators import can_repair

    def speak(question: str, **options: Any) -> str | None:
        return shlex.join(repeat_command(question, command, given, spec, loaded.property, options))

    return Audience(
        speak=speak,
        rest="--all shows them",
        same=None if given.get("all_features") else Audience().same,
        boxes=boxes,
        rows=loaded.rows is not None,
        repairs=can_repair(loaded.problem.claim.model, loaded.problem.imported.model),
        budget=given["budget"],
        certify="--certificate FILE",
        proof=proof,
    )


def repeat_command(
    question: str,
    command: str,
    given: Mapping[str, Any],
    spec: str | None,
    claimed: Property | None,
    new: Mapping[str, Any],
) -> list[str]:
    """The words of the next command, in the order of its options."""
    from likewise.cli.table import options_of

    wanted = {name: _flag_value(value) for name, value in new.items() if name != "class_of_interest"}
    if new.get("property") == claimed:
        wanted.pop("property", None)
    elif "property" in wanted and _is_named(given.get("property")):
        wanted["property"] = _limited(given["property"], wanted["property"])
    if question == command and "budget" in new and given.get("checkpoint") is not None:
        wanted |= {"checkpoint": given["checkpoint"], "resume": True}  # the same search, for longer
    line = ["likewise", question, *([] if spec is None else [spec])]
    asked = {**given, "property": _repeated_property(question, given.get("property"))}
    for option in options_of(question):
        name = str(option.name)
        if name in wanted:
            line += _option_words(option, wanted[name], always=True)
        elif name in CLAIM_OPTIONS or (question == command and name not in (*RUN_OPTIONS, "budget")):
            line += _option_words(option, asked.get(name))
    return line


def _repeated_property(question: str, text: str | None) -> str | None:
    """A property as it was given; to be measured only a claim that says by its name who is similar."""
    return text if question != "measure" or _is_named(text) else None


def _is_named(text: str | None) -> bool:
    """Whether a flag names a claim that says who is similar."""
    from likewise.spec.named_claims import parse_named_claim

    return text is not None and parse_named_claim(text) is not None


def _limited(text: str, asked: str) -> str:
    """A claim by its name with another limit: ``monotone:income`` with ``score:0.5`` is ``monotone:income,score=0.5``."""
    from likewise.spec.named_claims import SHARED

    *parts, last = text.split(",")
    said = last.partition("=")[0].strip() in SHARED
    return ",".join([*parts, *([] if said else [last]), asked.replace(":", "=", 1)])


def _flag_value(value: Any) -> Any:
    """A property as flags spell it, a number in its shortest form."""
    if hasattr(value, "spell"):
        return value.spell()
    if not isinstance(value, float):
        return value
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def _option_words(option: click.Option, value: Any, *, always: bool = False) -> list[str]:
    """An option with its value; nothing where it was not given, but what is asked for is said always."""
    if value is None or value is False or value == () or (value == option.default and not always):
        return []
    flag = max(option.opts, key=len)
    if option.is_flag:
        return [flag]
    if isinstance(option, OptionalValue):
        return [flag if value == option.bare else f"{flag}={value}"]
    values = value if option.multiple else (value,)
    return [word for one in values for word in _flag_words(flag, str(_flag_value(one)))]


def _flag_words(flag: str, value: str) -> list[str]:
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


def init_step(output: str, given: Mapping[str, Any], *, undecided: bool) -> Step:
    """What to do with a drafted claim file: the model is opened as it was opened here."""
    needed = {name: given[name] for name in ("allow_pickle", "trust", "max_memory")}
    line = repeat_command("verify", "init", needed, output, None, {})
    why = "fill in what may differ, then" if undecided else "is it fair?"
    return Step(why=why, how=shlex.join(line))
