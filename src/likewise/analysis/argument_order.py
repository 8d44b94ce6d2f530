"""The order of arguments: all functions take model, space, similar, property, and rows as X=.

`audit` took its rows second, ``audit(model, X, space, similar)``. It does for one more release, with a warning: which order is meant is told by
where the space stands.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from likewise.errors import SpecError
from likewise.spec.space import Space

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def accepts_rows_second(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The function, called in the order of before as well."""
    name = function.__name__
    order = f"{name}(model, space, similar, X=X)"

    @wraps(function)
    def ordered(*given: Any, **options: Any) -> Any:
        spaces = [place for place, value in enumerate(given) if isinstance(value, Space)]
        if len(spaces) + ("space" in options) > 1:
            raise SpecError(f"{name}: more than one space is given", hint=order)
        if spaces == [2] or (len(given) == 2 and "space" in options):
            if "X" in options:
                raise SpecError(f"{name}: rows are given twice, in the second place and as X", hint=order)
            warnings.warn(
                f"{name}(model, X, space, similar) is deprecated: call {order}",
                DeprecationWarning,
                stacklevel=2,
            )
            model, rows, *others = given
            return function(model, *others, X=rows, **options)
        if len(given) > 1 and spaces != [1]:
            raise SpecError(f"{name}: the second argument is no space, and no later one is", hint=order)
        return function(*given, **options)

    return ordered
