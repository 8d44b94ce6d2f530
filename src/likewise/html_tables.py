"""Tables for notebooks: small HTML that screen readers can follow, with nothing unescaped.

A caption says what the table is about; every heading says whether it heads a row or a column. There is no
style and no script: a notebook has its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import escape


def table(caption: str, rows: Iterable[Sequence[str]], *, columns: Sequence[str] = ()) -> str:
    """Rows of texts, the first of each its heading, below the names of the columns, if there are any; what is `Markup` stays as it is."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    head = f"<thead><tr>{head}</tr></thead>" if columns else ""
    body = "".join(_row(row) for row in rows)
    return f"<table><caption>{escape(caption)}</caption>{head}<tbody>{body}</tbody></table>"


def _row(row: Sequence[str]) -> str:
    first, *others = row
    cells = "".join(f"<td>{escape(text)}</td>" for text in others)
    return f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>'
