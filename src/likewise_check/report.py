"""What a check found: a value, and the same in words."""

from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, Literal

from likewise_check.core.numbers import number_text, readable_number
from likewise_check.words import Details


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The checker's answer about one certificate.

    Attributes
    ----------
    accepted : bool
        Whether everything in it holds.
    readable : bool
        False if the file is no certificate of a known version.
    reason : str or None
        Why it is not accepted.
    line : int or None
        Where, counted from 1.
    kind : str or None
        'proof' or 'witness'.
    claim : str
        The claim, in words made from its data.
    details : Details or None
        The values of every feature, what may differ and the constraints: `details.lines(full=True)`.
    compared : tuple of str
        What is known to be as in a file of the user's: 'space', 'similarity', 'property', 'model'.
    cells : int
        How many nodes the proof has.
    rules : dict
        How many leaves each rule closes.
    packs : tuple of str
        Where what is accepted comes from: 'core', and the packs whose code reads the model or judges a leaf.
    clearance : fractions.Fraction or None
        The stated one, known to be right.
    covers_floating_point : bool
        Whether it exceeds the rounding error of the deployed program, as described in the certificate.
    digests : dict
        SHA-256 of space, similarity, property and model.
    refused : tuple of int
        Indexes (from 0, among the proof's nodes) of leaves that do not hold.
    seconds : float
        How long it took.
    finished : bool
        False where time or memory were over first: then nothing is known of the rest.
    decided : int or None
        The place (from 0) of the label that every individual of the space gets, where the proof shows that.
    """

    accepted: bool
    readable: bool = False
    reason: str | None = None
    line: int | None = None
    kind: Literal["proof", "witness"] | None = None
    claim: str = ""
    details: Details | None = field(default=None, repr=False)
    compared: tuple[str, ...] = ()
    cells: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    packs: tuple[str, ...] = ()
    clearance: Fraction | None = None
    covers_floating_point: bool = False
    decided: int | None = None
    digests: dict[str, str] = field(default_factory=dict)
    refused: tuple[int, ...] = ()
    seconds: float = 0.0
    finished: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values; the clearance is a text such as "3/8"."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            **{name: list(value) if isinstance(value, tuple) else value for name, value in values.items()},
            "details": self.details.lines(full=True) if self.details else [],
            "clearance": None if self.clearance is None else number_text(self.clearance),
        }

    def in_words(self, *, full: bool = False) -> str:
        """The report for people: a few lines and the claim's own, all of them if `full`."""
        said = [f"claim: {self.claim}"] if self.claim else []
        said += [f"  {line}" for line in (self.details.lines(full=full) if self.details else ())]
        if self.accepted:
            what = "" if self.kind == "proof" else ": a proof that the claim of fairness is false"
            said.append(f"ACCEPTED: the {self.kind} holds, in exact arithmetic{what}")
        else:
            where = "" if self.line is None else f" (line {self.line})"
            answer = "REJECTED" if self.readable else "UNREADABLE"
            said.append(f"{answer if self.finished else 'NOT FINISHED'}{where}: {self.reason}")
        if self.accepted and self.compared:
            said.append(f"as in your file: {', '.join(self.compared)}")
        if self.packs:
            said.append(f"rules used: {', '.join(self.packs)}")
        if self.decided is not None:
            said.append(f"besides: every individual of the space gets decision {self.decided}, from 0")
        if self.clearance is not None:
            used = ", ".join(f"{count} {name}" for name, count in sorted(self.rules.items()))
            covered = "covers" if self.covers_floating_point else "does not cover"
            said.append(f"proof: {self.cells} cell{'s' * (self.cells != 1)}; leaves by rule: {used}")
            rounding = f"{covered} the rounding of the deployed program"
            if set(self.rules) == {"independent"}:
                rounding = "similar individuals have the same score, and get it from a program that reads nothing of what may differ; the rounding of any other is not covered"
            said.append(f"clearance: {readable_number(self.clearance)}; {rounding}")
        return "\n".join([*said, f"time: {self.seconds:.2f} s"])
