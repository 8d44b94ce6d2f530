"""Names of categories that XGBoost has cut off, and the names that a frame has for them.

XGBoost keeps the names of a column's categories as the bytes of all of them, one after the other in the
order of their codes, and where each
one ends. It counts letters there, not bytes: of names with letters beyond ASCII, which take several bytes
each, the ends are wrong and the last bytes are lost,
in memory and in files (seen in 3.1 and 3.2). What is left neither tells the names, nor whether it is right:
other names may be what is read.

So where one byte is no ASCII, the names are those of a frame of the user, whose categories must explain
every end and every byte that XGBoost has kept, by
letters or, as it should be, by bytes. Then the program is asked about the rows of that frame as they are,
and must treat them as their codes (`self_check`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from likewise.errors import DataError, UnsupportedModel

if TYPE_CHECKING:
    from likewise.importers.xgboost.model_file import StoredXGBoost

FRAME_HINT = (
    "pass X, a pandas frame with the categories that the model was fitted on, in their order; "
    "or fit it on names in ASCII letters; or let the pipeline encode them (OrdinalEncoder)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutNames:
    """What XGBoost has kept of a column's names: `letters` are the bytes, `ends` where it says that names
    begin and end."""

    letters: bytes
    ends: tuple[int, ...]

    @property
    def is_cut(self) -> bool:
        """Whether they may be cut off."""
        return not self.letters.isascii()

    @property
    def parts(self) -> tuple[bytes, ...]:
        """What XGBoost takes for the names."""
        return tuple(self.letters[start:end] for start, end in pairwise(self.ends))

    def matches_names(self, names: tuple[Any, ...]) -> bool:
        """Whether these names, in this order, leave exactly this."""
        if not all(isinstance(name, str) for name in names):
            return False
        whole = "".join(names).encode("utf-8")
        by_letters = tuple(accumulate(map(len, names), initial=0))
        by_bytes = tuple(accumulate((len(name.encode("utf-8")) for name in names), initial=0))
        return self.ends in (by_letters, by_bytes) and self.letters == whole[: self.ends[-1]]


def take_frame_names(
    stored: StoredXGBoost, frame: Any, columns: tuple[str, ...], family: str
) -> tuple[StoredXGBoost, tuple[str, ...]]:
    """The model with the names that the frame has for categories whose own are cut off, and the columns of
    these."""
    found: dict[int, tuple[Any, ...]] = {}
    for column, kept in stored.cut.items():
        name = columns[column]
        names = frame_categories(frame).get(name)
        if names is None:
            raise UnsupportedModel(
                f"{family} was fitted on categories of {name!r} with letters beyond ASCII, and XGBoost "
                f"{'.'.join(map(str, stored.version))} itself cuts such names off when it stores them, so that nobody can tell them",
                hint=FRAME_HINT,
            )
        if not kept.matches_names(names):
            raise DataError(
                f"the categories of {name!r} in the data are not those that {family} was fitted on: they do not explain what "
                "XGBoost has kept of their names, which it cuts off after letters beyond ASCII",
                hint=FRAME_HINT,
            )
        found[column] = names
    named = replace(stored, levels={**stored.levels, **found}, cut={})
    return named, tuple(columns[column] for column in found)


def frame_categories(frame: Any) -> Mapping[str, tuple[Any, ...]]:
    """The columns of a pandas frame that hold categories, with these in the order of their codes."""
    dtypes: Any = getattr(frame, "dtypes", None)
    if not hasattr(dtypes, "items"):
        return {}
    return {
        str(name): tuple(kind.categories.tolist()) for name, kind in dtypes.items() if str(kind) == "category"
    }
