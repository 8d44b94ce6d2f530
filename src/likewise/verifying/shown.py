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
