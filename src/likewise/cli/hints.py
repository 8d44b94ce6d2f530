"""Hints meant for Python, said for the command line.

Errors are raised by layers that do not know who asks, and their hints speak Python. Where a flag or an
entry of the spec file does the same, this table says so; a hint that is in no row stays as it is.
"""

from __future__ import annotations

import re

_TRANSLATIONS = tuple(
    (re.compile(pattern), said)
    for pattern, said in (
        (r"ScoreGap\(delta\)", "--property score:DELTA (in measure: --of score)"),
        (r"space\.widen\(frame\)", "--widen"),
        (r"space\.admit\(frame\)", "--outside ignore"),
        (r"method='(\w+)'", r"--method \1"),
        (r"weights='observed' with X", "--weights observed"),
        (
            r"space\.replace\(\{'([^']*)': (Continuous|Integer)\(([^,)]*), ([^,)]*)\)\}\)",
            r"[features.\1] with lo = \3 and hi = \4 in the spec file",
        ),
        (r"space\.replace\(\{'([^']*)': [^}]*\}\)", r"[features.\1] in the spec file"),
        (
            r'constant="keep" keeps it with this one value, exclude=\[[^\]]*\] leaves it out',
            "drop the column; or draft a spec file with likewise init and list it there",
        ),
        (
            r'Space\.from_data\(X, missing="include"\).*',
            "draft a spec file with likewise init, where missing = true says that it may be missing",
        ),
        (
            r"(?<=missing values: )(Continuous|Integer)\([^,)]*, [^,)]*, missing=True\)|the level None among those of .*",
            "missing = true in the feature's entry of the spec file",
        ),
        (r"leave it out \(exclude=\)", "drop it from the file"),
        (r'Similarity\(free=\["sex"\]\)', '--free sex, or free = ["sex"] in the spec file\'s [similarity]'),
        (r"call fit\(X, y\) first", "call fit(X, y) before saving it"),
        (r", or use LogisticRegression$", "; a LogisticRegression gives probabilities"),
    )
)


def translate_hint(hint: str) -> str:
    """The hint in the words of the command line."""
    for pattern, said in _TRANSLATIONS:
        hint = pattern.sub(said, hint)
    return hint
