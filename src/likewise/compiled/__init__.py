"""Compiled loops: what numba makes of a function, compiled once and kept on disk.

    @compiled
    def add_up(numbers: Floats) -> float: ...

entry      a function as Python calls it, and as other compiled functions do
kept       what was compiled, on disk: found again by a digest of all that went into it
lowering   arguments as they came, named tuples by reference
indexing   elements and rows of arrays, and loops over ranges, in few instructions
resolving  which function is meant, found out once an entry
beside     compilation beside the main thread, so that Ctrl-C is obeyed meanwhile

Brings in numba; imported by modules with compiled functions only.
"""

from likewise.compiled.beside import need_memory

need_memory()  # numba and LLVM end the program where they have not enough

from likewise.compiled.entry import compiled  # noqa: E402 (after what it needs)

__all__ = ["compiled"]
