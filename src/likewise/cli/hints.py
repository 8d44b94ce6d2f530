"""Hints meant for Python, said for the command line.

Errors are raised by layers that do not know who asks, and their hints speak Python. Where a flag or an entry of the claim file does the
same, this table says so; a hint that is in no row stays as it is: how a model is fitted and saved is said in Python to everybody.
"""

from __future__ import annotations

import re

_NAME = r"""['"]([^'"]*)['"]"""  # a feature's, quoted
_KINDS = r"(Continuous|Integer|Categorical|Ordinal)"
_TRANSLATIONS = tuple(
    (re.compile(pattern), said)
    for pattern, said in (
        # what is asked for
        (r"ask for SameDecision or ScoreGap", "ask for --property decision or --property score:DELTA"),
        (r"SameDecision\(\)", "--property decision"),
        (r"ScoreGap\(delta\)", "--property score:DELTA (in measure: --of score)"),
        (r"ProbabilityGap\(delta\)", "--property probability:DELTA"),
        (r"ScoreGap\(([^)]*)\)", r"--property score:\1"),
        (r"leave class_of_interest out", "leave --class-of-interest out"),
        # the rows
        (r"pass the rows that it belongs to as X", "give --data with the column of labels"),
        (r"audit\(model, space, similar, X=X\)", "--data rows.csv"),
        (
            r"(?:regions|share)\(\.\.\., over='marginals', X=X\)|over='marginals'(?= with X)",
            "--over marginals with --data rows.csv",
        ),
        (r"groups\(\.\.\., over='rows', X=X, y=y\)", "--over data, with --label"),
        (r"groups\(\.\.\., X=X\)", "--data rows.csv"),
        (r'groups\(model, space, by="sex"\)', "--by sex"),
        (r"verify\(\.\.\., X=X, like_data=True\)", "--data rows.csv"),
        (r"near\(\.\.\., X=X\)", "--data rows.csv"),
        (r"over='rows'", "--over data"),
        (r"over='(\w+)'", r"--over \1"),
        (r"over=X", "--over data"),
        (r"weights='observed' with X", "--weights observed with --data rows.csv"),
        (rf"reference=\{{{_NAME}: \.\.\.\}}, or X", r"--reference \1=VALUE, or --data rows.csv"),
        (r"for instance X\[:1\]", "--around ROW, or a rule"),
        (r"\bpass X, rows as\b", "give --data, a Parquet file with the rows as"),
        (r"\bpass X, a (?:pandas )?frame\b", "give --data, a Parquet file"),
        (r"\bpass rows as X\b", "give --data with rows"),
        (r"\bpass X\b", "give --data rows.csv"),
        (r"space\.widen\(frame\)", "--widen"),
        (r"space\.admit\(frame\)", "--outside ignore"),
        (
            r'constant="keep" keeps it with this one value, exclude=\[[^\]]*\] leaves it out',
            "drop the column; or draft a claim file with likewise init and list it there",
        ),
        (r"exclude=\[[^\]]*\] leaves it out", "drop the column from the file"),
        (r"leave it out \(exclude=\)", "drop it from the file"),
        (
            r"(leave it out of the space) \([^:]*?\)(?=:|, or)",
            r"\1 (drop the column, or its entry in the claim file)",
        ),
        (r'name the columns: frame\.columns = \["age", \.\.\.\]', "the first line names the columns"),
        (r", for instance frame\.astype\(\{\.\.\.: str\}\)", ""),
        (
            r"\bpass encoding='get_dummies'",
            'give --encoding get_dummies, or write encoding = "get_dummies" below [model] in the claim file',
        ),
        # the space
        (
            r'Space\.from_data\(X, missing="include"\).*',
            "draft a claim file with likewise init, where missing = true says that it may be missing",
        ),
        (
            r"(?<=missing values: )(Continuous|Integer)\([^,)]*, [^,)]*, missing=True\)|the level None among those of .*",
            "missing = true in the feature's entry of the claim file",
        ),
        (
            rf"space\.replace\(\{{{_NAME}: (?:Continuous|Integer)\((?!lo)([^,)]*), ([^,)]*)\)\}}\)",
            r"[features.\1] with lo = \2 and hi = \3 in the claim file",
        ),
        (
            rf"space\.replace\(\{{{_NAME}: {_KINDS}\((?:\[\.\.\.\]|lo, hi)[^}}]*\}}\)",
            lambda found: f'[features.{found[1]}] with kind = "{found[2].lower()}" in the claim file',
        ),
        (rf"space\.replace\(\{{{_NAME}: [^}}]*\}}\)", r"[features.\1] in the claim file"),
        (
            r"Integer\(lo, hi, missing=True\), or a Categorical with None",
            'kind = "integer" with missing = true, or "categorical", in the claim file',
        ),
        (r"Integer\(lo, hi, missing=True\)", 'kind = "integer" with missing = true in the claim file'),
        (
            rf"{_KINDS}\((?:lo, hi|\[[\d., ]*\.\.\.\])\)",
            lambda found: f'kind = "{found[1].lower()}" in the claim file',
        ),
        # who is similar
        (
            r'Similarity\(within=\{"age": 2\}\), or radius\(\.\.\., feature="age"\)',
            "--within age=2, or --feature age",
        ),
        (
            r'Similarity\(free=\["sex"\][^)]*\)',
            '--free sex, or free = ["sex"] in the claim file\'s [similarity]',
        ),
        (rf"within=\{{{_NAME}: 2\}} allows", r"--within \1=2 allows"),
        (
            r'Lipschitz\(0\.5, Metric\("l1", weights=\{"age": 0\.1\}\)\), or a Similarity with a metric',
            "--metric l1:age=0.1, or [property.metric] in the claim file",
        ),
        (
            r'(?:metric=)?Metric\("l1", weights=\{"age": 0.1\}\)',
            '[similarity.metric] with kind = "l1" and weights = { age = 0.1 } in the claim file',
        ),
        (rf"weights=\{{{_NAME}: 0.1\}}", r"weights = { \1 = 0.1 } in the claim file's [similarity.metric]"),
        (rf"name it in free: free=\[{_NAME}\]", r"give --free \1"),
        (
            r'Along\("?[^",]*"?, table=\{\("male", "female"\): \{"engineer": "teacher"\}\}\)',
            'table = [["male", "female", "engineer", "teacher"]] in the claim file\'s [similarity.along]',
        ),
        (
            r'where=\{"sector": \["public"\]\}, or where=\{"age": \{"from": 18, "to": 30\}\}',
            'where = { sector = ["public"] }, or where = { age = { from = 18, to = 30 } } in the claim file\'s [similarity.along]',
        ),
        (rf'list them: where=\{{{_NAME}: \["..."\]\}}', r'list them: where = { \1 = ["..."] }'),
        (
            r'(?:along=\{"income": )?Along\("sex", \{\("male", "female"\): -3000\}\)\}?',
            "--along income=sex:male:female:-3000, or [similarity.along.income] in the claim file",
        ),
        (
            rf"Along\({_NAME}, rate=1\) goes along",
            r'with = "\1" and rate = 1 in the claim file\'s [similarity.along] goes along',
        ),
        (rf"let it differ: free=\[{_NAME}\]", r"let it differ: --free \1"),
        (rf"within=\{{{_NAME}: ([12])\}}", r"--within \1=\2"),
        (r'order=\{"income": "up"\}', '[similarity.order] with income = "up" in the claim file'),
        (r'within=\{"age": 2, "income": "5%"\}', "--within age=2, or --within income=5%"),
        (r"make it free, or Ordinal", "make it --free, or ordinal"),
        # the run
        (r"method='(\w+)'", r"--method \1"),
        (r"import_budget=", "--import-budget "),
        (r"\bbudget=", "--budget "),
        (r"resume=True", "--resume"),
        (r'checkpoint="FILE"', "--checkpoint FILE"),
        (r"call fit\(X, y\) first", "call fit(X, y) before saving it"),
        (r", or use LogisticRegression$", "; a LogisticRegression gives probabilities"),
    )
)


def translate_hint(hint: str) -> str:
    """The hint in the words of the command line."""
    for pattern, said in _TRANSLATIONS:
        hint = pattern.sub(said, hint)
    return hint
