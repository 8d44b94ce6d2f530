"""Tables of a claim file as TOML has them: keys and types are checked, and errors name the file and the
key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NoReturn

from likewise.errors import SpecError, suggest_name
from likewise.spec.disk import TOML_GROWTH, read_file
from likewise.spec.numbers import python_scalar, short_repr
from likewise.spec.toml_writer import toml_key

_TYPE_NAMES: dict[type, str] = {
    dict: "a table",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
}


def load_document(file: Path) -> dict[str, Any]:
    """The whole file, parsed."""
    import tomllib

    try:
        document = tomllib.loads(read_file(file, growth=TOML_GROWTH).decode("utf-8-sig"))
    except OSError as error:
        raise SpecError(f"{file}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise SpecError(f"{file}: is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise SpecError(
            f"{file}: is not TOML: {error}", hint="text needs quotes, names with blanks too"
        ) from None
    _check_sizes(file, "", document)
    return document


def _check_sizes(file: Path, where: str, value: Any) -> None:
    """Refuse whole numbers beyond all doubles, wherever they are."""
    if isinstance(value, dict):
        for key, entry in value.items():
            _check_sizes(file, f"{where}.{toml_key(key)}".lstrip("."), entry)
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            _check_sizes(file, f"{where}[{number}]", entry)
    elif isinstance(value, int):
        try:
            python_scalar(value)
        except SpecError as error:
            raise error.located(f"{file}: {where}") from None


def read_table(
    file: Path, document: dict[str, Any], key: str, allowed: tuple[str, ...] | None
) -> dict[str, Any]:
    """A table of the document, empty if it is missing; with `allowed`, no other keys."""
    table = document.get(key, {})
    if not isinstance(table, dict):
        refuse_type(file, key, "a table", table)
    if allowed is not None:
        check_keys(file, key, table, allowed)
    return table


def read_text(file: Path, table: dict[str, Any], where: str, key: str) -> str | None:
    """The text of a key, None if it is missing."""
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        refuse_type(file, f"{where}.{key}", "text", value)
    return value


def read_path(file: Path, table: dict[str, Any], where: str) -> str | None:
    """The path of a table, relative to the folder of the file."""
    text = read_text(file, table, where, "path")
    if text is None:
        return None
    if not text.strip() or "\0" in text:
        refuse(file, f"{where}.path", f"{text!r} is no path")
    return os.path.abspath(Path(file).parent / text)  # noqa: PTH100 - links are kept


def check_keys(file: Path, where: str, table: dict[str, Any], allowed: tuple[str, ...]) -> None:
    """Refuse unknown keys, with the closest right name."""
    for key in table:
        if key not in allowed:
            path = f"{where}.{toml_key(key)}" if where else toml_key(key)
            refuse(
                file, path, f"unknown key{suggest_name(key, allowed)}", hint=f"expected {', '.join(allowed)}"
            )


def refuse_type(file: Path, key: str, expected: str, value: object) -> NoReturn:
    """Refuse a value of another type."""
    kind = _TYPE_NAMES.get(type(value), "a date or time")
    refuse(file, key, f"expected {expected}, got {kind}: {short_repr(value)}")


def refuse(file: Path, key: str, message: str, *, hint: str | None = None) -> NoReturn:
    """Refuse what stands at a key."""
    raise SpecError(f"{file}: {key}: {message}", hint=hint)


def files_of_claim(path: str | Path) -> dict[str, str]:
    """The files of the model and the data, as a claim file writes them. None of them is looked at."""
    document = load_document(Path(path))
    tables = {name: document.get(name) for name in ("model", "data")}
    named = {name: table.get("path") for name, table in tables.items() if isinstance(table, dict)}
    return {name: text for name, text in named.items() if isinstance(text, str)}
