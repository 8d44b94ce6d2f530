"""Displays: pictures of answers, in scikit-learn's manner.

`PairDisplay`        two individuals side by side, and how the model treats them (`verify`)
`DisparityDisplay`   the bracket around the largest gap while the search closes it (`measure`)
`RadiusDisplay`      which tolerances are proved and which are refuted (`radius`)
`RegionDisplay`      the largest regions by kind and share (`regions`)

Each is made by ``from_estimator``, which asks the question, or by ``from_result``, which takes an answer or its
`to_dict` document, so that pictures can be made of what was stored; ``plot(ax=None)`` draws it and keeps `ax_` and
`figure_`. matplotlib is needed for `plot` only: the extra `plot`.
"""

from likewise.displays.disparity import DisparityDisplay
from likewise.displays.pair import PairDisplay
from likewise.displays.radius import RadiusDisplay
from likewise.displays.region import RegionDisplay

__all__ = ["DisparityDisplay", "PairDisplay", "RadiusDisplay", "RegionDisplay"]
