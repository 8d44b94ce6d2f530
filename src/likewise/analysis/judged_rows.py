"""Judged rows: what is known of every row of the data, some bytes a row, beside the rows themselves.

Rows are judged in pieces (`row_pieces`). Of each row its verdict, gap, decisions and counterpart are kept (`spec.code_store`), in a file where they would be too many for the memory;
a checkpoint has the same of the pieces that are done. Only to bring all rows into order, the worst-treated first, is anything of all of them in memory at once: their gaps and places.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.decision_labels import UNCERTAIN_LABEL
from likewise.analysis.row_claim import RowClaim, imputed_tolerance_features, judge_data
from likewise.analysis.row_pieces import Piece, judge_pieces, piece_size
from likewise.errors import InternalError
from likewise.search.judgement import AS_FIRST, AS_SECOND, BIASED, FAIR, UNDECIDED, Judgement
from likewise.spec.code_store import RecordStore, code_dtype, unpack_codes
from likewise.spec.features import Continuous
from likewise.verifying.certification import take_up_analysis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.data_rows import DataRows
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

READ_ROWS = 1 << 20  # at a time, for what is asked of all rows
_RANKS = {BIASED: 0, UNDECIDED: 1, FAIR: 2}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedPiece:
    """Records of some rows, and what is counted."""

    records: NDArray[Any]
    reasons: Counter[str]
    redone: int
    gap_error: float
    gaps_not_proved: int
    floating: int  # rows that are not biased by floating point


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceCounts:
    """What is counted of a piece, and where in the data it ends."""

    stop: int
    undecided: int
    reasons: dict[str, int]
    redone: int
    gap_error: float
    gaps_not_proved: int
    floating: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRows:
    """Rows as a checkpoint has them: the bytes of the records, and what is counted of the pieces that they came in."""

    records: bytes
    pieces: tuple[PieceCounts, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _DataPiece:
    """Rows of the data by codes of the user's space, packed; as many others are `waiting`."""

    packed: NDArray[Any]
    waiting: int

    @property
    def codes(self) -> Floats:
        return unpack_codes(self.packed)

    def judged(self, judging: RowClaim) -> JudgedPiece:
        if judging.budget.over and judging.inquiry.moving and not imputed_tolerance_features(judging):
            return self._unjudged(judging)  # at once: of millions of rows there may be many pieces left
        codes = self.codes
        rows, found = judge_data(judging, codes, waiting=self.waiting)
        decided = judging.decisions(rows, found)
        undecided = np.flatnonzero(found.verdict == UNDECIDED).tolist()
        finite = found.gap_error[np.isfinite(found.gap_error)]
        return JudgedPiece(
            records=_records(judging, codes, found, decided),
            reasons=Counter(found.reasons.get(i, judging.budget.reason) for i in undecided),
            redone=found.redone,
            gap_error=float(finite.max(initial=0.0)),
            gaps_not_proved=int((~np.isfinite(found.gap_error)).sum()),
            floating=int((~found.proved[found.verdict == FAIR]).sum()),
        )

    def _unjudged(self, judging: RowClaim) -> JudgedPiece:
        """Nothing is known but decisions, as long as there is time for what is due at the end."""
        codes = self.codes
        count, found = len(codes), Judgement.open(*codes.shape)
        decided = judging.decisions(judging.recoding.coded(codes), found)
        return JudgedPiece(
            records=_records(judging, codes, found, decided),
            reasons=Counter({judging.budget.reason: count}),
            redone=0,
            gap_error=0.0,
            gaps_not_proved=count,
            floating=0,
        )


def _differing(judging: RowClaim) -> tuple[int, ...]:
    return tuple(k for k, relation in enumerate(judging.pairs.relations) if relation.kind != "same")


def _record_dtype(space: Space, differing: tuple[int, ...], *, ordered: bool) -> np.dtype[Any]:
    others = [(f"other_{k}", code_dtype(space[space.names[k]], nobody=True)) for k in differing]
    fields = [("verdict", "i1"), ("proved", "?"), ("gap", "f8"), ("decision", "i2"), ("other_decision", "i2")]
    sides = [("side", "i1")] if ordered else []
    return np.dtype([*fields, *sides, *others])


def _records(
    judging: RowClaim, codes: Floats, found: Judgement, decided: tuple[Any, Any] | None
) -> NDArray[Any]:
    given, differing = judging.recoding.given, _differing(judging)
    ordered = judging.inquiry.question.one_way
    records = np.empty(len(codes), dtype=_record_dtype(given, differing, ordered=ordered))
    if ordered:
        records["side"] = found.side
    records["verdict"], records["gap"] = found.verdict, found.gap
    records["proved"] = (found.verdict != UNDECIDED) & found.proved
    own, other = (UNCERTAIN_LABEL, UNCERTAIN_LABEL) if decided is None else decided
    records["decision"], records["other_decision"] = own, other
    counterparts = _counterpart_codes(judging, codes, found)
    for k in differing:
        feature, there = given[given.names[k]], ~np.isnan(counterparts[k])
        nobody = np.nan if isinstance(feature, Continuous) else feature.code_range[1] + 1
        kept = np.where(there, counterparts[k], nobody)
        records[f"other_{k}"] = kept
        if not np.array_equal(records[f"other_{k}"].astype(np.float64), kept, equal_nan=True):
            raise InternalError(f"a counterpart has a code that is none of {given.names[k]!r}")
    return records


def _counterpart_codes(judging: RowClaim, codes: Floats, found: Judgement) -> dict[int, Floats]:
    """What may differ, by feature: the counterparts' codes of the user's own space, NaN where there is nobody."""
    recoding = judging.recoding
    others = {k: recoding.raw_part(k, found.counterpart[:, k]) for k in _differing(judging)}
    given, missing = recoding.given, judging.source.missing_codes(codes)
    for k in imputed_tolerance_features(judging):
        if k in others:
            gone, code = missing[:, k], given[given.names[k]].missing_code
            others[k] = np.where(gone & ~np.isnan(others[k]), np.nan if code is None else code, others[k])
    return others


class JudgedRows:
    """All rows of the data. `labels` are the classes, None for a regressor; `differing` are the features that a counterpart may differ in; `ordered` whether it matters on which side of a pair a row
    stands, and `biased_sides` how many biased ones are shown as the first and as the second."""

    def __init__(self, data: DataRows, judging: RowClaim) -> None:
        head = judging.posed.imported.model.head
        self.data, self.space = data, judging.recoding.given
        self.labels = None if head.labels is None else tuple(head.classes)
        self.differing = _differing(judging)
        self.biased = self.undecided = self.redone = self.gaps_not_proved = self.floating = 0
        self.gap_error, self.reasons = 0.0, Counter[str]()
        self.ordered, self.biased_sides = judging.inquiry.question.one_way, np.zeros(2, dtype=np.int64)
        self._dtype = _record_dtype(self.space, self.differing, ordered=self.ordered)
        self._store = RecordStore(self._dtype)
        self._pieces: list[PieceCounts] = []
        self._whole = 0  # of these, those that were done before time was over

    def __len__(self) -> int:
        return len(self._store)

    def add(self, piece: JudgedPiece) -> None:
        """The rows that come next."""
        verdict = piece.records["verdict"]
        undecided = int((verdict == UNDECIDED).sum())
        self._pieces.append(
            PieceCounts(
                stop=len(self) + len(verdict),
                undecided=undecided,
                reasons=dict(piece.reasons),
                redone=piece.redone,
                gap_error=piece.gap_error,
                gaps_not_proved=piece.gaps_not_proved,
                floating=piece.floating,
            )
        )
        self.biased += int((verdict == BIASED).sum())
        if self.ordered:
            sides = piece.records["side"][verdict == BIASED]
            self.biased_sides += [(sides == side).sum() for side in (AS_FIRST, AS_SECOND)]
        self.undecided += undecided
        self.redone, self.floating = self.redone + piece.redone, self.floating + piece.floating
        self.gaps_not_proved += piece.gaps_not_proved
        self.gap_error = max(self.gap_error, piece.gap_error)
        self.reasons += piece.reasons
        self._store.add(piece.records)

    @property
    def state(self) -> SavedRows:
        """What is known of the pieces that were done in time."""
        pieces = tuple(self._pieces[: self._whole])
        records = self.read(0, pieces[-1].stop if pieces else 0)
        return SavedRows(records=np.ascontiguousarray(records).tobytes(), pieces=pieces)

    def done_in_time(self) -> None:
        """All pieces so far may be written down."""
        self._whole = len(self._pieces)

    def pieces_of(self, state: SavedRows) -> Iterator[tuple[int, int, JudgedPiece | None]]:
        """Where pieces of before begin and end, and what was known of them; None of those in which somebody was left undecided."""
        records, start = np.frombuffer(state.records, dtype=self._dtype), 0
        for counts in state.pieces:
            known = None
            if not counts.undecided:
                known = JudgedPiece(
                    records=records[start : counts.stop],
                    reasons=Counter(counts.reasons),
                    redone=counts.redone,
                    gap_error=counts.gap_error,
                    gaps_not_proved=counts.gaps_not_proved,
                    floating=counts.floating,
                )
            yield start, counts.stop, known
            start = counts.stop

    def worst(self, most: int | None) -> Places:
        """Places of the first so many in that order (None: of all); few of many are had without ordering all."""
        return self.worst_biased[:most] if most is not None and most <= self.biased else self.order[:most]

    @cached_property
    def worst_biased(self) -> Places:
        """Places of the biased rows, by their gaps."""
        places, depths = [np.empty(0, dtype=np.intp)], [np.empty(0)]
        for start in range(0, len(self), READ_ROWS):
            records = self.read(start, start + READ_ROWS)
            some = np.flatnonzero(records["verdict"] == BIASED)
            places.append(start + some)
            depths.append(-records["gap"][some])
        found = np.concatenate(places)
        return found[np.argsort(np.concatenate(depths), kind="stable")]

    @cached_property
    def order(self) -> Places:
        """Places of all rows, the worst-treated first: biased by their gaps, undecided, then the others by their gaps."""
        rank, depth = np.empty(len(self), dtype=np.int8), np.empty(len(self))
        for start in range(0, len(self), READ_ROWS):
            records = self.read(start, start + READ_ROWS)
            some = slice(start, start + len(records))
            verdict, gap = records["verdict"], records["gap"]
            rank[some] = np.select([verdict == value for value in _RANKS], list(_RANKS.values()))
            depth[some] = np.where(np.isnan(gap), np.inf, -gap)
        return np.lexsort((depth, rank))

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """The records between two places."""
        return self._store.read(start, stop)

    def take(self, places: Places) -> NDArray[Any]:
        """The records at these places."""
        return self._store.take(places)

    def counterparts(self, records: NDArray[Any]) -> dict[int, Floats]:
        """By feature that may differ: codes, NaN where there is nobody."""
        found: dict[int, Floats] = {}
        for k in self.differing:
            feature, codes = self.space[self.space.names[k]], records[f"other_{k}"].astype(np.float64)
            nobody = np.nan if isinstance(feature, Continuous) else feature.code_range[1] + 1
            found[k] = np.where(codes == nobody, np.nan, codes)
        return found


def judge_all_data(judging: RowClaim, data: DataRows) -> JudgedRows:
    """Every row of the data; those that a checkpoint knows are not judged again, but for whom it leaves undecided."""
    judged, checkpoint = JudgedRows(data, judging), judging.run.checkpoint
    known: list[tuple[int, int, JudgedPiece | None]] = []
    if checkpoint is not None:
        asked = f"rows {judging.source.claim.property!r}".encode()
        begun = take_up_analysis(judging.posed, checkpoint, asked, _data_digest(data))
        known = list(judged.pieces_of(begun)) if isinstance(begun, SavedRows) else []
        checkpoint.follow_analysis(lambda: judged.state)
    first = known[-1][1] if known else 0
    size = piece_size(judging, len(data))
    ends = [
        *((start, stop) for start, stop, found in known if found is None),
        *((start, min(start + size, len(data))) for start in range(first, len(data), size)),
    ]

    def piece(start: int, stop: int) -> tuple[int, Callable[[], Piece[JudgedPiece]]]:
        waiting = len(data) - stop
        return stop - start, lambda: _DataPiece(packed=data.store.packed(start, stop), waiting=waiting)

    fresh = judge_pieces(judging, [piece(start, stop) for start, stop in ends])
    before: list[JudgedPiece | None] = [found for _, _, found in known]
    for found in (*before, *([None] * (len(ends) - before.count(None)))):
        judged.add(next(fresh) if found is None else found)
        if checkpoint is not None and not judging.budget.over:
            judged.done_in_time()
            checkpoint.look()
    if checkpoint is not None:
        checkpoint.end()
    return judged


def _data_digest(data: DataRows) -> bytes:
    digest = hashlib.sha256()
    for start, stop in data.slices(READ_ROWS):
        digest.update(data.store.codes(start, stop).tobytes())
    return digest.digest()
