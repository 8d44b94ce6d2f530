"""``likewise check-page``: the page is written; what it does is tested in a browser (tests/report/test_check_page.py)."""

import base64
import gzip
import re

from likewise.report.templating import template_file


def test_the_page_is_written_with_the_checker(run, tmp_path):
    done = run(f"check-page -o {tmp_path / 'page.html'}")
    assert done.exit_code == 0, done.output
    assert "drop a certificate" in done.output
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    packed = re.search(r'id="checker">([^<]*)<', text).group(1)
    assert gzip.decompress(base64.b64decode(packed)).decode() == template_file("checker.js")
    assert "default-src 'none'" in text.replace("&#39;", "'")


def test_where_nothing_can_be_written(run, tmp_path):
    done = run(f"check-page -o {tmp_path / 'nowhere' / 'page.html'}")
    assert done.exit_code == 2
    assert "cannot be written" in done.output
