"""From flags and claim file to a model, rows, a space and a claim, each checked against the others.

A claim file says everything; flags override its entries one by one (``--free`` the list of free features,
``--within`` the table of tolerances, ``--pairs`` the table of pairs of levels, ``--metric`` and
``--metric-radius`` the metric; ``--where`` adds a constraint, and rows that break it are left out).
``--data`` beside a claim file gives
other rows to check and to start from: the space stays the one that the file describes. Without a claim file
the space is what the data show.

Everything is checked here, before any search: errors name the file they are about, and nothing has been
printed yet.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from likewise.cli.claim_rows import (
    admit_rows,
    check_columns,
    check_stray_text,
    encode_rows,
    import_frames,
    infer_space,
    read_rows,
    restrict_rows,
    stream_rows,
    widen_space,
)
from likewise.cli.options import ClaimFlags, SearchFlags
from likewise.cli.similar_flags import (
    add_along,
    add_metric,
    add_pairs,
    check_something_differs,
    parse_flag,
    parse_tolerances,
    read_metric,
)
from likewise.errors import DataError, InternalError, LikewiseError, SpecError, UnsupportedModel
from likewise.spec.disk import open_file

if TYPE_CHECKING:
    from likewise.problem import Problem
    from likewise.progress import Listener
    from likewise.run import Run
    from likewise.spec.claim import WrittenClaim
    from likewise.spec.data_rows import DataRows
    from likewise.spec.display_names import DisplayNames
    from likewise.spec.model_reading import ModelReading
    from likewise.spec.outside import Outside
    from likewise.spec.population import Population
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedClaim:
    """The problem that the claim is, its model read; and the column that is predicted."""

    problem: Problem
    label: str | None
    data: DataRows | None = None  # all rows, where they are not in memory (`load_claim`, `streamed`)

    @property
    def rows(self) -> Any:
        """The rows of the data, or some of them where not all are in memory; None where there are none."""
        return self.problem.claim.X

    @property
    def space(self) -> Space:
        return self.problem.claim.space

    @property
    def similarity(self) -> Similarity:
        return self.problem.claim.similarity

    @property
    def property(self) -> Property:
        return self.problem.claim.property


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClaimRequest:
    """What flags and claim file together ask for, files still unopened."""

    model: str
    data: str | None
    label: str | None
    similarity: Similarity
    property: Property
    space: Space | None
    reading: ModelReading | None
    outside: Outside
    said: ModelReading


@contextmanager
def start_run(
    flags: ClaimFlags,
    look: SearchFlags,
    *,
    progress: bool | Listener,
    checkpoint: str | None = None,
    resume: bool = False,
) -> Iterator[Run]:
    """The run that the flags ask for."""
    from likewise.cli.cluster import connect
    from likewise.run import open_run

    with (
        nullcontext((None, -1)) if look.cluster is None else connect(look.cluster) as (executor, workers),
        open_run(
            budget=look.budget,
            import_budget=flags.import_budget,
            n_jobs=workers if look.jobs is None else look.jobs,
            executor=executor,
            random_state=look.seed,
            progress=progress,
            checkpoint=checkpoint,
            resume=resume,
        ) as run,
    ):
        yield run


def named_pairs(text: str | None) -> str | None:
    """A claim that says by its name whose gap is measured; others are refused, as they say how large it may
    be."""
    from likewise.spec.named_claims import parse_named_claim

    if text is not None and parse_flag("--property", parse_named_claim, text) is None:
        raise SpecError(
            f"--property {text} says how large a gap may be, not whose gap is measured",
            hint="leave it out: --of says what is measured; or a claim by its name, such as monotone:income",
        )
    return text


def load_claim(
    flags: ClaimFlags,
    run: Run,
    property_text: str | None = None,
    class_text: str | None = None,
    *,
    alone: bool = False,
    streamed: bool = False,
    steepness: bool = False,
) -> LoadedClaim:
    """Everything a search needs, and its clock set to 0; raises what is wrong with any of it. `alone`: also
    where nobody is similar to another. `streamed`: rows are
    read some at a time and kept as codes, where the claim file says what the space is. `steepness`: the
    claim is about how fast scores change."""
    wanted = _merge_request(flags, property_text)
    if steepness:
        wanted = replace(wanted, property=_steepness(wanted.property))
    if not alone:
        check_something_differs(wanted.similarity, flags)
    model = read_model(
        wanted.model, allow_pickle=flags.allow_pickle, trust=flags.trust, reading=wanted.reading
    )
    if streamed and wanted.data is not None and wanted.space is not None and not flags.widen:
        return _load_streamed(flags, run, wanted, model, class_text)
    if wanted.data is not None:
        import_frames()
    with run.budget.reading(str(wanted.data)):
        space, rows = _read_space(model, wanted, flags)
    wanted = _add_similarity(wanted, space, flags)
    _check_claim(space, wanted, flags, alone=alone)
    problem = _prepare_problem(model, space, rows, wanted, run, alone=alone)
    asked = _set_class(wanted.property, problem.imported.model, class_text, flags)
    run.budget.restart()
    return LoadedClaim(problem=problem.with_property(asked), label=wanted.label)


def _read_space(model: Any, wanted: _ClaimRequest, flags: ClaimFlags) -> tuple[Space, dict[str, Any]]:
    """The space, as it is written or as the rows show it, and what a claim is told of the rows."""
    frame = None if wanted.data is None else read_rows(wanted.data, wanted.label)
    space = wanted.space
    if space is None:
        space = infer_space(frame, wanted.data, wanted.label)
    if wanted.said.encoding is None:
        check_columns(model, space, wanted.data if wanted.space is None else "the space", wanted.model)
    if frame is not None and wanted.space is not None:
        check_stray_text(space, frame, str(wanted.data), declared=True)
    if flags.widen:
        space = widen_space(space, frame, wanted.data)
    outside = None
    if frame is not None and wanted.outside != "error":
        admitted = admit_rows(space, frame, wanted.outside, str(wanted.data))
        frame, outside = admitted.frame, admitted.stats
    codes = None if frame is None else encode_rows(space, frame, str(wanted.data), flags)
    if flags.where:
        space, frame, codes = restrict_rows(space, frame, codes, flags.where)
    return space, {"X": frame, "codes": codes, "outside": outside}


def _add_similarity(wanted: _ClaimRequest, space: Space, flags: ClaimFlags) -> _ClaimRequest:
    """The request with the pairs of the flags, what goes along, and the metric: one that pairs keep to by a
    radius, or that of a Lipschitz claim."""
    from likewise.spec.lipschitz import Lipschitz

    if flags.pairs:
        wanted = replace(wanted, similarity=add_pairs(wanted.similarity, space, flags))
    if flags.along:
        wanted = replace(wanted, similarity=add_along(wanted.similarity, space, flags))
    asked, similar = wanted.property, wanted.similarity
    if isinstance(asked, Lipschitz) and flags.metric is not None:
        asked = replace(asked, metric=read_metric(space, flags.metric))
    if flags.metric_radius or (flags.metric and not isinstance(asked, Lipschitz)):
        similar = add_metric(similar, space, flags)
    if isinstance(asked, Lipschitz):
        asked, similar = asked.beside(similar), asked.similarity(similar)
    return replace(wanted, property=asked, similarity=similar)


def _load_streamed(
    flags: ClaimFlags, run: Run, wanted: _ClaimRequest, model: Any, class_text: str | None
) -> LoadedClaim:
    """The same with rows that are gone through once, some at a time."""
    from likewise.analysis.data_claim import sample_fields

    path, space = str(wanted.data), wanted.space
    if space is None:
        raise InternalError("rows are read some at a time where there is a space")
    if wanted.said.encoding is None:
        check_columns(model, space, wanted.data if wanted.space is None else "the space", wanted.model)
    import_frames()
    with run.budget.reading(path):
        data, narrower = stream_rows(space, path, wanted.label, run, outside=wanted.outside, flags=flags)
    wanted = _add_similarity(wanted, narrower, flags)
    _check_claim(narrower, wanted, flags, alone=False)
    problem = _prepare_problem(model, narrower, sample_fields(data), wanted, run, alone=False)
    asked = _set_class(wanted.property, problem.imported.model, class_text, flags)
    run.budget.restart()
    return LoadedClaim(problem=problem.with_property(asked), label=wanted.label, data=data)


def load_other(path: str, problem: Problem, flags: ClaimFlags, run: Run) -> Problem:
    """The same claim about the model in another file."""
    from likewise.importers.files import reading_parts

    claim = None if flags.spec is None else _read_claim(flags.spec)
    model = read_model(
        path, allow_pickle=flags.allow_pickle, trust=flags.trust, reading=_reading_of(path, claim)
    )
    with reading_parts(path):
        other = problem.with_model(model, run)
    run.budget.restart()
    return other


def model_file(flags: ClaimFlags) -> str | None:
    """Where the model is, as far as the claim file can be read: `load` tells what is wrong with it."""
    if flags.model is not None or flags.spec is None:
        return flags.model
    try:
        return _read_claim(flags.spec).model_path
    except LikewiseError:
        return None


def read_population(flags: ClaimFlags) -> Population | None:
    """Who people are, as far as the claim file says it."""
    return None if flags.spec is None else _read_claim(flags.spec).population


def file_digests(flags: ClaimFlags) -> dict[str, str]:
    """SHA-256 of the files that a claim is about, by what they are and their names: the claim file, the
    model, the data."""
    import hashlib

    claim = None if flags.spec is None else _read_claim(flags.spec)
    files = {
        "claim file": flags.spec,
        "model file": flags.model or (claim.model_path if claim else None),
        "data": flags.data or (claim.data_path if claim else None),
    }
    found = {name: path for name, path in files.items() if path is not None and Path(path).is_file()}
    digests = {}
    for name, path in found.items():
        with open_file(path) as content:
            digests[f"{name} {Path(path).name}"] = hashlib.file_digest(content, "sha256").hexdigest()
    return digests


def display_names(flags: ClaimFlags) -> DisplayNames:
    """What the claim file says that readers call things; the model and the data by their files where it says
    nothing."""
    from likewise.spec.display_names import NO_NAMES

    claim = None if flags.spec is None else _read_claim(flags.spec)
    names = NO_NAMES if claim is None else claim.display
    model = flags.model or (claim.model_path if claim else None)
    data = flags.data or (claim.data_path if claim else None)
    return replace(
        names,
        model=names.model or (None if model is None else Path(model).name),
        data=names.data or (None if data is None else Path(data).name),
    )


def _reading_of(path: str, claim: WrittenClaim | None) -> ModelReading | None:
    """What the claim file says about how a model file is to be read; files other than its own may know
    themselves what their columns are."""
    from likewise.importers.files import NETWORKS

    own = claim is not None and (path == claim.model_path or path.lower().endswith(NETWORKS))
    return claim.reading if claim is not None and own else None


def read_model(
    path: str, *, allow_pickle: bool, trust: tuple[str, ...], reading: ModelReading | None = None
) -> Any:
    """The estimator in a file; what its library warns about goes to stderr in one line each."""
    from likewise.importers.files import is_named_in_code, load_model, load_named
    from likewise.spec.model_reading import READ_AS_IT_IS

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if is_named_in_code(path):
            return load_named(path)
        model = load_model(path, allow_pickle=allow_pickle, trust=trust, reading=reading or READ_AS_IT_IS)
    for text in dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught):
        click.echo(f"warning: {path}: {text}", err=True)
    return model


# -- what is asked for ----------------------------------------------------------------------------------


def _merge_request(flags: ClaimFlags, property_text: str | None) -> _ClaimRequest:
    from likewise.spec.lipschitz import Lipschitz
    from likewise.spec.named_claims import parse_named_claim
    from likewise.spec.outside import check_choice
    from likewise.spec.properties import SameDecision, parse_property
    from likewise.spec.similarity import Similarity

    claim = None if flags.spec is None else _read_claim(flags.spec)
    model = flags.model or (claim.model_path if claim else None)
    data = flags.data or (claim.data_path if claim else None)
    if model is None or (claim is None and data is None):
        _refuse_incomplete(flags, missing="--model" if model is None else "--data")
    within = parse_tolerances(flags.within)
    known = Similarity() if claim is None else claim.similarity
    free = flags.free or tuple(name for name in known.free if name not in within)
    kept = {name: t for name, t in known.within.items() if name not in flags.free}
    pairs = {name: p for name, p in known.pairs.items() if name not in flags.free and name not in within}
    property: Property = SameDecision() if claim is None else claim.property
    named = None if property_text is None else parse_flag("--property", parse_named_claim, property_text)
    if property_text is not None:
        given = parse_flag("--property", parse_property, property_text) if named is None else named.property()
        if isinstance(given, Lipschitz) and isinstance(property, Lipschitz):
            given = replace(given, metric=property.metric)
        property = replace(given, class_of_interest=property.class_of_interest)
    order = {name: way for name, way in known.order.items() if name in (*free, *(within or kept))}
    along = {name: one for name, one in known.along.items() if name not in flags.free}

    def similarity(_: object) -> Similarity:
        if named is None:
            return known.replace(free=free, within=within or kept, pairs=pairs, order=order, along=along)
        said: Similarity = named.similarity(Similarity(free=flags.free, within=within))
        return said

    return _ClaimRequest(
        model=model,
        data=data,
        label=flags.label or (claim.label if claim else None),
        similarity=parse_flag("--free and --within", similarity, None),
        property=property,
        space=None if claim is None else claim.space,
        reading=_reading_of(model, claim),
        outside=check_choice(flags.outside or ("error" if claim is None else claim.outside)),
        said=_said_of(claim, flags),
    )


def _said_of(claim: WrittenClaim | None, flags: ClaimFlags) -> ModelReading:
    """How rows are encoded for any model of the claim, and by which threshold it decides."""
    from likewise.spec.model_reading import READ_AS_IT_IS, ModelReading

    known = READ_AS_IT_IS if claim is None else claim.reading
    given = known.threshold if flags.threshold is None else flags.threshold
    return ModelReading(encoding=flags.encoding or known.encoding, threshold=given)


def _steepness(property: Property) -> Property:
    """The Lipschitz claim whose constant is measured: the one at hand, or one without a slack."""
    from likewise.spec.lipschitz import Lipschitz

    if isinstance(property, Lipschitz):
        return property
    return Lipschitz(0.0, class_of_interest=property.class_of_interest)


def _read_claim(spec: str) -> WrittenClaim:
    from likewise.spec.file import read_spec

    models = (".skops", ".json", ".ubj", ".cbm", ".onnx", ".npz", ".keras", ".h5")
    if spec.lower().endswith((".csv", ".csv.gz", ".parquet", *models)):
        flag = "--model" if spec.lower().endswith(models) else "--data"
        raise SpecError(
            f"{spec}: is not a claim file",
            hint=f"give it as {flag} {spec}; likewise init drafts a claim file",
        )
    return read_spec(spec)


def _refuse_incomplete(flags: ClaimFlags, missing: str) -> NoReturn:
    if flags.spec is not None:
        raise SpecError(
            f"{flags.spec}: model: path is missing",
            hint='[model] path = "model.skops", or --model model.skops',
        )
    raise click.UsageError(
        f"{missing} is missing: give a claim file, or --model, --data and --free (or --within)"
    )


def _check_claim(space: Space, wanted: _ClaimRequest, flags: ClaimFlags, *, alone: bool) -> None:
    try:
        wanted.similarity.relations(space)
        if not alone:
            wanted.similarity.resolve(space)
    except LikewiseError as error:
        flagged = (
            ("--free", flags.free),
            ("--within", flags.within),
            ("--pairs", flags.pairs),
            ("--along", flags.along),
            ("--metric", flags.metric),
        )
        given = [flag for flag, names in flagged if names]
        raise error.located(" and ".join(given) or str(flags.spec)) from None
    if wanted.label is not None and wanted.label in space:
        raise SpecError(
            f"label {wanted.label!r} is also a feature", hint="what is predicted is no part of the individual"
        )


# -- the model against the space --------------------------------------------------------------------------


def _prepare_problem(
    model: Any, space: Space, rows: dict[str, Any], wanted: _ClaimRequest, run: Run, *, alone: bool
) -> Problem:
    """The model read and compared with the original; a refusal names its file."""
    from likewise.importers.files import reading_parts
    from likewise.problem import Claim, prepare

    rows["reading"] = wanted.said
    claim = Claim(model=model, space=space, similarity=wanted.similarity, property=wanted.property, **rows)
    try:
        with reading_parts(wanted.model):
            return prepare(claim, run, alone=alone)
    except UnsupportedModel as error:
        if rows["X"] is not None:
            check_stray_text(space, rows["X"], str(wanted.data), declared=False)
        raise error.located(wanted.model) from None
    except DataError as error:
        raise error.located(wanted.model) from None


def _set_class(property: Property, model: Any, text: str | None, flags: ClaimFlags) -> Property:
    """The property with the label that is spelled so as its class of interest; refuses one that the model
    does not have."""
    from likewise.spec.properties import class_index

    labels = model.head.labels
    wanted: Any = property.class_of_interest
    if text is not None:
        spelled = {str(label): label for label in labels or () if not isinstance(label, str)}
        wanted = text if text in (labels or ()) else spelled.get(text, text)
    try:
        place = class_index(wanted, labels, model.family)
    except SpecError as error:
        where = "--class-of-interest" if text is not None else f"{flags.spec}: property.class_of_interest"
        raise error.located(where) from None
    return property if place is None else replace(property, class_of_interest=wanted)
