"""Checks one certificate from its first byte to its last (sections 1 and 12) and reports what was found."""

import hashlib
import os
from collections.abc import Callable
from contextlib import ExitStack
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO, TypeAlias

from likewise_check.core.claim import Claim, read_model
from likewise_check.core.common_decision import decision_of_all
from likewise_check.core.deadline import OutOfTime, deadline_at
from likewise_check.core.fields import Rejected, anything, choice, record, text
from likewise_check.core.leaves import Jury, Tally
from likewise_check.core.line_reader import LONGEST_LINE, Lines
from likewise_check.core.proof import check_end, check_nodes
from likewise_check.core.properties import read_property
from likewise_check.core.registry import CORE, PACKS, pack_of
from likewise_check.core.space import joint_limit, read_similarity, read_space
from likewise_check.core.witness import check_witness, check_witness_end
from likewise_check.report import CheckReport
from likewise_check.words import Details, claim_in_words

VERSION = 1
PARTS = ("space", "similarity", "property", "model")
_VERSION_KEY = "likewise-certificate"

Place: TypeAlias = str | os.PathLike[str]


def check(
    source: Place | BinaryIO,
    *,
    model: Place | None = None,
    claim: Place | None = None,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
    refusals: int = 1,
    seconds: float = inf,
) -> CheckReport:
    """Checks a certificate, in exact arithmetic.

    Parameters
    ----------
    source : path or binary file
        The certificate, or a file open for reading.
    model : path, optional
        A file that holds the model line; its digest must be the certificate's.
    claim : path, optional
        A file that holds the four lines of the claim: space, similarity, property and model (`likewise export --whole` writes it). The certificate must be about
        these.
    jobs : int
        Worker processes.
    progress : callable, optional
        Is told the number of nodes read, now and then.
    refusals : int
        Up to so many leaves that do not hold are collected in the report before giving up.
    seconds : float, optional
        What takes longer is not accepted; the clock is looked at before every line and every leaf, and within long ones.

    Returns
    -------
    CheckReport
        Whether it is accepted, and if not, where and why.
    """
    if jobs < 1 or refusals < 1:
        raise ValueError("jobs and refusals must be at least 1")
    began = perf_counter()
    found: dict[str, Any] = {}  # fields of the report, as they become known
    tally = Tally()
    lines: Lines | None = None
    try:
        with ExitStack() as stack:
            stack.enter_context(deadline_at(began + seconds))
            own = _own_digests(model, claim)
            if isinstance(source, str | os.PathLike):
                source = stack.enter_context(Path(source).open("rb"))
            lines = Lines(source)
            claimed = _read_claim(lines, found, own)
            if found["kind"] == "proof":
                until = began + seconds
                jury = stack.enter_context(Jury(claimed, tally, jobs=jobs, refusals=refusals, until=until))
                cells, end = check_nodes(lines, jury, claimed, progress or _no_progress)
                clearance, covered = check_end(end, lines, claimed, tally, cells)
                stated = {"cells": cells, "clearance": clearance, "covers_floating_point": covered}
                stated["decided"] = decision_of_all(claimed, tally.sides)
            else:
                check_witness(lines.value("the witness"), claimed)
                check_witness_end(lines.value("the end"), lines)
                stated = {}
            if lines.following() is not None:
                raise Rejected("something follows the end")
            found.update(stated, accepted=True, packs=_packs_used(claimed, tally))
    except OutOfTime as late:
        found.update(accepted=False, finished=False, reason=str(late), line=lines.number if lines else None)
    except MemoryError:
        found.update(
            accepted=False, finished=False, reason="there was not enough memory to look at all of it"
        )
    except OSError as error:
        found.update(readable=False, accepted=False, reason=f"cannot be read: {error.strerror or error}")
    except Rejected as rejection:
        line = rejection.line or (lines.number if lines else None)
        found.update(accepted=False, reason=rejection.reason, line=line, finished=rejection.finished)
    refused = tuple(index for index, _, _ in tally.refused)
    return CheckReport(**found, rules=tally.rules, refused=refused, seconds=perf_counter() - began)


def _read_claim(lines: Lines, found: dict[str, Any], own: dict[str, str]) -> Claim:
    """The header and the four lines of the claim, whose digests it states; those that the user knows must be the same."""
    header = lines.value("the header")
    version = header.get(_VERSION_KEY) if type(header) is dict else None
    if type(version) is not int or version != VERSION:
        raise Rejected(f"not a certificate of version {VERSION}")
    found["readable"] = True
    kinds = choice("proof", "witness")
    _, found["kind"], _, _, digests = record(
        header, "the header", **{_VERSION_KEY: anything}, kind=kinds, tool=text, words=text, digests=anything
    )
    stated = record(digests, "the digests", space=text, similarity=text, property=text, model=text)
    found["digests"] = dict(zip(PARTS, stated, strict=True))

    def sealed(name: str) -> object:
        value = lines.value(f"the {name}")
        if lines.digest() != found["digests"][name]:
            raise Rejected(f"the {name} line is not the one that the header's digest stands for")
        return value

    space = read_space(sealed("space"))
    similarity = read_similarity(sealed("similarity"), space)
    one_way = any(relation.one_way for relation in similarity)
    asked = read_property(sealed("property"), space, one_way=one_way)
    model = read_model(sealed("model"), space, asked)
    limit = joint_limit(similarity)
    if asked.allowance is not None and limit is not None and limit.pack == "along":
        raise Rejected("a property lipschitz is not about pairs that change along")
    claim = Claim(space=space, similarity=similarity, model=model, asked=asked)
    found["claim"] = claim_in_words(claim, refuted=found["kind"] == "witness")
    found["details"] = Details(space=space, similarity=similarity, allowance=asked.allowance)
    for name, digest in own.items():
        if digest != found["digests"][name]:
            raise Rejected(f"the certificate speaks of another {name} than the file given")
    found["compared"] = tuple(own)
    return claim


def _packs_used(claim: Claim, tally: Tally) -> tuple[str, ...]:
    """Whose code the answer relies on: of what the model is made of, and of the rules of the leaves."""
    used = {CORE, *claim.model.packs, *(pack_of("RULES", name) for name in tally.rules)}
    limit = joint_limit(claim.similarity)
    if limit is not None:
        used.add(limit.pack)
    if claim.asked.allowance is not None:
        used |= {"distance", "lipschitz"}
    return tuple(pack for pack in PACKS if pack in used)


def _own_digests(model: Place | None, claim: Place | None) -> dict[str, str]:
    """SHA-256 of what the user's own files hold, by the parts of a claim: lines with their line feeds, of the last one with or without."""
    own: dict[str, str] = {}
    for place, parts in ((claim, PARTS), (model, ("model",))):
        if place is None:
            continue
        with Path(place).open("rb") as file:
            content = file.read(len(parts) * (LONGEST_LINE + 1) + 1)
        lines = content.removesuffix(b"\n").split(b"\n") if content else []
        if len(lines) != len(parts):
            wanted = f"a claim file has {len(parts)} lines" if place is claim else "a model file has one line"
            raise Rejected(f"{wanted}, {', '.join(parts)}, not {len(lines)}")
        for name, line in zip(parts, lines, strict=True):
            digest = hashlib.sha256(line).hexdigest()
            if own.setdefault(name, digest) != digest:
                raise Rejected(f"the two files given speak of two different {name}s")
    return own


def _no_progress(_: int) -> None:
    """Tells nobody."""
