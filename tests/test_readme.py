"""The README's Python example runs as printed there."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_python_example_runs(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out.startswith("BIASED\n")


def test_the_exit_codes_are_listed():
    codes = [int(code) for code in re.findall(r"^\| (\d+) \|", README, flags=re.MULTILINE)]
    assert codes == [0, 1, 2, 3, 4, 101]
