"""Shown results: what a result is as text and in a notebook. What shows it is imported when it is shown."""

from __future__ import annotations


class ShownResult:
    """A result of `verify` or of an analysis, which has an answer (`likewise.answers`)."""

    __slots__ = ()

    def __str__(self) -> str:
        from likewise.answers.result_views import result_text

        return result_text(self)

    def _repr_html_(self) -> str:
        from likewise.answers.result_views import result_html

        return result_html(self)


class ShownPair(ShownResult):
    """A result with a pair. That is a plain frame, in the columns that the model was fitted on: it can be handed to `predict`, which another order of columns could not."""

    __slots__ = ()

    def side_by_side(self) -> str:
        """Both individuals of the pair as text to print: what differs comes first and is marked, how the model treats them last."""
        from likewise.answers.result_views import pair_text

        return pair_text(self)
