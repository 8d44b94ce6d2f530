"""A plugin for pytest: ``assert_fair`` fails a test unless the model is proved to be fair.

    def test_sex_does_not_matter(assert_fair):
        assert_fair(model, "claims/sex.toml", budget=60)

Loaded by pytest wherever Likewise is installed, so nothing but pytest is imported before the fixture is used.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from likewise.spec.claim import WrittenClaim
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.result import Result

VERDICT = "likewise_verdict"  # among the test's properties, which JUnit reports show


class AssertFair(Protocol):
    """What the fixture gives."""

    def __call__(
        self,
        model: Any,
        spec_or_space: str | PathLike[str] | WrittenClaim | Space,
        similar: Similarity | None = None,
        property: Property | None = None,
        *,
        allow_unknown: bool = False,
        **options: Any,
    ) -> Result: ...


@pytest.fixture
def assert_fair(request: pytest.FixtureRequest) -> AssertFair:
    """``assert_fair(model, spec_or_space, similar=None, property=None, **options)``: passes if the verdict is FAIR.

    The claim is a claim file, or a space with a similarity; `similar` and `property` take the place of what the
    file says, and None as the model stands for the model that the file names. Options are those of
    `likewise.verify`. UNKNOWN fails too, unless ``allow_unknown=True``. The `Result` is returned.
    """

    def judge(
        model: Any,
        spec_or_space: Any,
        similar: Any = None,
        property: Any = None,
        *,
        allow_unknown: bool = False,
        **options: Any,
    ) -> Result:
        __tracebackhide__ = True
        from likewise.answers import terminal
        from likewise.answers.audience import Audience
        from likewise.answers.verdict import verdict_answer
        from likewise.verifying import verify

        asked = _verify_arguments(model, spec_or_space, similar, property, options)
        result = verify(**asked)
        request.node.user_properties.append((VERDICT, str(result.verdict)))
        told = terminal.render(verdict_answer(result, Audience(same=None), steps=False))
        if result.verdict == "BIASED":
            pytest.fail(told, pytrace=False)
        if result.verdict == "UNKNOWN" and not allow_unknown:
            said = "UNKNOWN is no proof: give a larger budget, or allow_unknown=True"
            pytest.fail(f"{told}\n{said}", pytrace=False)
        return result

    return judge


def _verify_arguments(
    model: Any, spec_or_space: Any, similar: Any, property: Any, options: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of `verify`."""
    from likewise.errors import SpecError
    from likewise.spec.claim import WrittenClaim
    from likewise.spec.file import read_spec

    claim = spec_or_space
    if isinstance(claim, str | PathLike):
        claim = read_spec(str(claim))
    if not isinstance(claim, WrittenClaim):
        if similar is None:
            raise SpecError(
                "nothing says who is similar", hint='assert_fair(model, space, Similarity(free=["sex"]))'
            )
        return {"model": model, "space": claim, "similar": similar, "property": property, **options}
    if model is None:
        model = _claim_name(claim)
    if "X" not in options and claim.data_path is not None:
        from likewise.spec.frames import read_table

        options = {**options, "X": read_table(claim.data_path)}
    return {
        "model": model,
        "space": claim.space,
        "similar": claim.similarity if similar is None else similar,
        "property": claim.property if property is None else property,
        **options,
    }


def _claim_name(claim: WrittenClaim) -> Any:
    from likewise.errors import SpecError
    from likewise.importers.files import load_model

    if claim.model_path is None:
        raise SpecError("there is no model: neither given nor named by the claim file")
    return load_model(claim.model_path, reading=claim.reading)
