"""Joining: the columns of several models as those of one."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.model.embedding import Column


def one_embedding(
    embeddings: Sequence[tuple[Column, ...]],
) -> tuple[tuple[Column, ...], list[tuple[int, ...]]]:
    """The columns of all, and where each one's are among them."""
    if all(one == embeddings[0] for one in embeddings):
        return embeddings[0], [tuple(range(len(embeddings[0])))] * len(embeddings)
    found: dict[Column, int] = {}
    places = [tuple(found.setdefault(column, len(found)) for column in one) for one in embeddings]
    return tuple(found), places
