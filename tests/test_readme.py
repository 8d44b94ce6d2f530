"""The README's Python example runs as printed there."""

import re

from tests.pages import DOCS, ROOT, blocks

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_example_runs(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out.startswith("BIASED\n")


def test_the_exit_codes_are_listed():
    codes = [int(code) for code in re.findall(r"^\| (\d+) \|", README, flags=re.MULTILINE)]
    assert codes == [0, 1, 2, 3, 4, 101]


def test_the_commands_and_flags_exist():
    from likewise.cli.app import cli

    named = set(re.findall(r"likewise ([a-z][\w-]*)", "\n".join(_code())))
    assert named == set(cli.commands)
    options = {
        option for command in cli.commands.values() for param in command.params for option in param.opts
    }
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", README)) <= options


def test_the_first_screen_names_the_commands_that_do_everything_and_how_long_they_take():
    first = "\n".join(README.splitlines()[:25]).split("\n## ")[0]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    rows = dict(re.findall(r"^\| `make ([a-z-]+)` \|(.*)\|$", first, flags=re.MULTILINE))
    assert set(rows) == {"demo", "test"} <= set(targets)
    assert all(re.search(r"about (\d+|a) (second|minute)s?", said) for said in rows.values())


def test_the_first_verdict_is_that_of_the_first_page():
    verdicts = [
        [block.text for block in blocks(page) if block.kind == "text" and "verdict  BIASED" in block.text]
        for page in (ROOT / "README.md", DOCS / "index.md")
    ]
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) == 1


def _code() -> list[str]:
    shell = [block.text for block in blocks(ROOT / "README.md") if block.kind == "sh"]
    return [*shell, *re.findall(r"^\| `(.*?)` \|", README, flags=re.MULTILINE)]
