"""The report: an answer as one HTML file for people who do not run Likewise.

Shows the answers of `likewise.answers`, made of a `Result` and of documents (what `to_dict` of the analyses makes), and so knows neither
searches nor model families.

    documents   the analyses as documents, and the answers that they become; the space as a table
    pictures    where lines and bars of the drawings go
    score_path  what each differing feature makes of the gap of a pair
    names       what readers call features and labels
    summary     the report in three sentences
    provenance  when, with what, by which command; the certificate
    region_map  boxes as numbers, for the map that the reader chooses the axes of
    page        the template filled in, within a size, onto disk
    check_page  a page that checks certificates, for whoever has no report
    templating  where templates are found; the content security policy; the second checker, packed
    templates   HTML, style and scripts; checker.js is made of checker-js
"""

from likewise.report.documents import Analyses
from likewise.report.page import write_report

__all__ = ["Analyses", "write_report"]
