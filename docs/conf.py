"""Sphinx settings. Nothing is downloaded, neither to build the pages nor to read them."""

import sys
from importlib.util import find_spec
from pathlib import Path

import kgroups
from kgroups.plotting.style import PALETTE

sys.path.append(str(Path(__file__).parent))

project = "kgroups"
author = "The kgroups developers"
copyright = author
version = release = kgroups.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "drawn",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5", "images/*.md"]
templates_path = ["_templates"]

myst_enable_extensions = [
    "amsmath",
    "attrs_block",
    "attrs_inline",
    "colon_fence",
    "deflist",
    "dollarmath",
]
myst_heading_anchors = 3
math_number_all = False
# MathJax comes from a package, so that formulas are set without a network. Of its files, this one
# alone is enough: it draws symbols as paths and loads no fonts.
_mathjax = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
mathjax_path = "tex-svg.js"
html_static_path = ["_static", str(_mathjax / mathjax_path)]
# The menu of a formula offers settings that MathJax would load from elsewhere.
mathjax3_config = {"options": {"enableMenu": False}}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = "$ "
extlinks = {"doi": ("https://doi.org/%s", "doi:%s")}

autosummary_generate = True
autodoc_typehints = "none"
# scikit-learn gives its estimators a method that points into its own glossary.
autodoc_default_options = {"exclude-members": "set_fit_request, set_score_request"}
numpydoc_show_class_members = False

nitpicky = True
# Other projects' names are not resolved: that would need their inventories from the network. A
# named tuple can only get further attributes through a base class, and entries of the catalog,
# semimetrics, estimators and methods share one; none of these has a page.
nitpick_ignore_regex = [
    (r"py:.*", r"(abc|collections|dataclasses|os|pathlib|typing)(\..*)?"),
    (r"py:.*", r"(igraph|matplotlib|networkx|np|numba|numpy|pandas|pyarrow|scipy|sklearn)(\..*)?"),
    (r"py:class", r"kgroups\.generators\.planted\._GraphAndLabels"),
    (r"py:class", r"kgroups\.datasets\.(Entry|_Source)"),
    (r"py:class", r"kgroups\.search\.settings\.Method"),
    (r"py:class", r"kgroups\.energy\.semimetrics\.(_Radial|_Scaled)"),
    (r"py:class", r"kgroups\.backends\.sklearn\.estimators\.(_Clusterer|_KernelClusterer)"),
]

_SECTIONS = ("start", "evidence", "packages", "points")
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "subsection_order": [f"../examples/{name}" for name in _SECTIONS],
    "within_subsection_order": "gallery_style.Order",
    "reset_modules": ("gallery_style.use_style",),
    "image_scrapers": ("matplotlib",),
    "thumbnail_size": (480, 320),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"kgroups {version}"
html_logo = html_favicon = "_static/logo.svg"
# The blue of the first community, lighter where the page is dark.
_accents = {"light": f"#{PALETTE[0]}", "dark": "#5cb3ea"}
html_theme_options = {
    f"{theme}_css_variables": {
        "color-brand-primary": accent,
        "color-brand-content": accent,
        "color-brand-visited": accent,
    }
    for theme, accent in _accents.items()
}
html_css_files = ["kgroups.css"]
html_copy_source = False
