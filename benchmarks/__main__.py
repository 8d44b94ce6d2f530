"""List the benchmarks, or run those that are named: `python -m benchmarks [NAME ...]`, or one with `NAME --options`."""

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
    first_option = next((i for i, a in enumerate(arguments) if a.startswith("-")), len(arguments))
    chosen, options = arguments[:first_option], arguments[first_option:]
    if options and len(chosen) != 1:
        print("options go with one benchmark: python -m benchmarks NAME --option", file=sys.stderr)
        return 2
    for name in chosen:
        if name not in names():
            print(f"no benchmark {name!r}; there are: {', '.join(names())}", file=sys.stderr)
            return 2
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # one thread, said before NumPy is loaded
    for name in chosen:
        benchmark = importlib.import_module(f"benchmarks.{name}")
        if options:
            benchmark.main(options)
        else:
            benchmark.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
