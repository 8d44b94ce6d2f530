"""Solves one semidefinite program by clarabel: arrays on stdin, arrays on stdout. `moments` runs this file."""

from __future__ import annotations

import io
import sys

import numpy as np


def main() -> None:
    """Read, solve, write."""
    import clarabel
    from scipy.sparse import csc_matrix

    given = np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False)
    rows, columns = len(given["right"]), len(given["objective"])
    matrix = csc_matrix((given["value"], (given["row"], given["column"])), shape=(rows, columns))
    cones = [clarabel.ZeroConeT(int(given["zeros"]))] if int(given["zeros"]) else []
    cones += [clarabel.PSDTriangleConeT(int(side)) for side in given["sides"]]
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.time_limit = float(given["seconds"])
    empty = csc_matrix((columns, columns))
    solver = clarabel.DefaultSolver(empty, given["objective"], matrix, given["right"], cones, options)
    solution = solver.solve()
    solved = solution.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
    answer = io.BytesIO()
    np.savez(
        answer,
        allow_pickle=False,
        solved=np.array(solved),
        status=np.array(str(solution.status)),
        dual=np.array(solution.obj_val_dual),
        x=np.array(solution.x),
    )
    sys.stdout.buffer.write(answer.getvalue())


if __name__ == "__main__":
    main()
