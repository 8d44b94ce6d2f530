"""How the documentation is built: `make docs`, without a network and with warnings as errors."""

import sys
from pathlib import Path

import likewise
from likewise.report.check_page import write_check_page

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Likewise"
author = "Likewise contributors"
version = release = likewise.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "commands",  # {commands}: the command line, from the program itself
    "mathml",  # formulas that need no script and no network
    "names",  # `verify` in a docstring is a link, `X` is code
]

exclude_patterns = ["build", "examples", "notebooks"]
templates_path = ["_templates"]
nitpicky = True
highlight_language = "text"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

default_role = "name"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_title = "Likewise"
html_static_path = ["_static"]
html_css_files = ["likewise.css"]
html_show_sourcelink = False
html_copy_source = False
# Pages without any below them need no list of these.
html_sidebars = {page: [] for page in ("index", "comparison", "what-a-proof-says", "the-paper-reproduced")}
html_theme_options = {
    "logo": {"text": "Likewise"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
project_copyright = "Likewise contributors, MIT licence"

# Pages link to these files as they are in the repository; in the documentation they are pages of their own.
OUTSIDE = {
    "../spec/certificate-v1.md": "reference/certificate.md",
    "../../spec/certificate-v1.md": "../reference/certificate.md",
    "../README.md": "index.md",
}

# What users get and never make: a signature would only list the attributes once more.
ANSWERS = {
    *("Result", "Verdict", "Disparity", "Radius", "Regions", "Region", "Comparison", "Audit", "Share"),
    *("Repaired", "Certificate", "CheckReport", "Dataset"),
}


def _links_inside(_app, _page, source):
    for outside, inside in OUTSIDE.items():
        source[0] = source[0].replace(f"]({outside}", f"]({inside}")


def _without_signature(_app, what, name, *_more):
    return ("", None) if what == "class" and name.rpartition(".")[2] in ANSWERS else None


def _skip_routing(_app, _what, name, _object, skip, _options):
    """scikit-learn gives every estimator `set_score_request` and the like."""
    return True if name.startswith("set_") and name.endswith("_request") else skip


def _write_check_page(app, error):
    """likewise-check.html, which pages link to."""
    if error is None and app.builder.format == "html":
        write_check_page(Path(app.outdir) / "likewise-check.html")


def setup(app):
    """Called by Sphinx."""
    app.connect("build-finished", _write_check_page)
    app.connect("source-read", _links_inside)
    app.connect("autodoc-process-signature", _without_signature)
    app.connect("autodoc-skip-member", _skip_routing)
