"""List the benchmarks, or run those that are named: `python -m benchmarks [NAME ...]`."""

import importlib
import os
import pkgutil
import sys

import benchmarks


def names() -> list[str]:
    """The modules of this folder, without the ones that only help."""
    return sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_"))


def main(arguments: list[str]) -> int:
    """Run what is asked for; 2 where something is not known."""
    if not arguments:
        for name in names():
            first, *_ = (importlib.import_module(f"benchmarks.{name}").__doc__ or "").splitlines()
            print(f"{name:<12} {first}")
        print("\nrun one with: python -m benchmarks NAME")
        return 0
    for name in arguments:
        if name not in names():
            print(f"no benchmark {name!r}; there are: {', '.join(names())}", file=sys.stderr)
            return 2
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # one thread, said before NumPy is loaded
    for name in arguments:
        importlib.import_module(f"benchmarks.{name}").run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
