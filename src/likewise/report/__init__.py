"""The report: an answer as one HTML file for people who do not run Likewise.

Works from a `Result` and from documents (what `to_dict` of the analyses makes), and so knows neither searches nor model families.

    documents   what is shown, as plain values: analyses, pair, space, provenance
    pictures    where lines and bars of the drawings go
    regionmap   boxes as numbers, for the map that the reader chooses the axes of
    writing     the template filled in, within a size, onto disk
    templates   HTML, style and script
"""

from likewise.report.documents import Analyses
from likewise.report.writing import write_report

__all__ = ["Analyses", "write_report"]
