"""The independent checker of certificates: standard library only, and nothing of `likewise`.

It reads a certificate (`spec/certificate-v1.md`), and accepts it only if every step of its proof, or its witness, holds in exact
arithmetic. No float takes part in a decision, and there is no tolerance.

How to read it in an afternoon. `core` is all that a proof about a linear model needs; a proof about another model takes one or two of the `packs` besides, and the
report names them (`rules used: core, trees`). In this order, with the section of the specification at hand that each module names:

1. the file        `core.fields`, `core.numbers` (doubles too), `core.line_reader`: bytes to lines to values, from a file that may be hostile
2. the claim       `core.space`, `core.properties` (with `logarithm`), `core.body`, `core.head`, `core.claim` (with the model line); `core.affine` is the one body of the core
3. the proof       `core.cells` (the tree), `core.proof` (the walk), `core.leaves` (who judges), `core.lemma` (what a leaf has to show)
4. the rules       `core.bound` (how every bound begins and ends), `core.independent`, `core.enumerated`, `core.separable` with `line` and `maxima`; `core.rules` lists them
5. the answer      `core.rounding`, `core.witness`, `core.common_decision`, then `checking`, `words` and `report`
6. the packs       `core.registry` says which there are and how they are found; the docstring of a pack says what its modules are for
"""

TYPE_CHECKING = False  # not from `typing`: `python -m` still looks for modules in the current folder
if TYPE_CHECKING:
    from likewise_check.checking import check
    from likewise_check.report import CheckReport

__all__ = ["check", "CheckReport"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'likewise_check' has no attribute {name!r}")
    from likewise_check.checking import check
    from likewise_check.report import CheckReport

    globals().update(check=check, CheckReport=CheckReport)
    return globals()[name]
