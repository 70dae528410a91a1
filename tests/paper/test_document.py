"""How a document is written down, as Markdown and as HTML."""

import re

from isotherm.paper import pictures
from isotherm.paper.document import Block, Document, Picture, Section, Table, to_html
from isotherm.paper.experiment import Summary


class TestDocument:
    def document(self) -> Document:
        figure, (axes,) = pictures.panels(1)
        pictures.curve(axes, "centered", [(1, Summary(0.5, 0.1, 10)), (2, Summary(0.25, 0.1, 10))])
        pictures.hollow(axes, "centered", [1, 2], [0.5, 0.25])
        axes.set_title("p = 0.005 & <q>")
        blocks: list[Block] = [
            "1 < 2 & `code` and **bold**",
            Table("a | b", ["x", "<y>"], [["1", "a phrase <script> | more"], ["2", ""]]),
            Picture("picture", figure, 'said of "it"'),
        ]
        return Document("T & T", [Section("Table 1: one, two", blocks)])

    def test_html_escapes_all_text(self) -> None:
        document = self.document()
        text = to_html(str(document), {"picture": b"<svg/>"})
        assert "<title>T &amp; T</title>" in text
        assert "<p>1\xa0&lt;\xa02 &amp; <code>code</code> and <strong>bold</strong></p>" in text
        assert "<table><caption>a | b</caption>" in text
        assert "<th>&lt;y&gt;</th>" in text
        assert "&lt;script&gt;" in text
        assert '<figure><img src="data:image/svg+xml;base64,PHN2Zy8+" alt="said of &quot;it&quot;"' in text
        assert "<figcaption>said of &quot;it&quot;</figcaption></figure>" in text
        assert 'id="table-1-one-two"' in text

    def test_numbers_and_their_signs_are_not_parted(self) -> None:
        text = to_html("# T\n\n(x - 1) and 5 % at n = 10, p < 0.05", {})
        assert "<p>(x\xa0-\xa01) and 5\xa0% at n\xa0=\xa010, p\xa0&lt;\xa00.05</p>" in text

    def test_numbers_are_aligned_right_and_words_left(self) -> None:
        rows = [["cora", "0.1 ± 0.2", "✓ within", "**0.5**"], ["dblp", "", "", "0.4"]]
        text = str(Table("", ["graph", "score", "verdict", "best"], rows))
        assert "| --- | ---: | --- | ---: |" in text
        assert '<td style="text-align:right"><strong>0.5</strong></td>' in to_html(f"# T\n\n{text}", {})

    def test_a_folded_table_is_shown_on_demand(self) -> None:
        document = Document("T", [Section("S", [Table("All p < 1", ["x"], [["1"]], folded=True)])])
        text = to_html(str(document), {})
        assert '<details><summary>All p\xa0&lt;\xa01</summary>\n<div class="scroll"><table>' in text
        assert "</table></div>\n</details>" in text
        assert "| 1 |" in str(document)

    def test_markdown_escapes_bars(self) -> None:
        text = str(self.document())
        assert '![said of "it"](figures/picture.svg)' in text
        assert "| x | <y> |\n| --- | --- |\n| 1 | a phrase <script> \\| more |" in text

    def test_pictures_are_rounded_but_not_their_words(self) -> None:
        (picture,) = self.document().pictures
        text = pictures.svg(picture.figure).decode()
        assert "p = 0.005 &amp; &lt;q&gt;" in text
        assert text == pictures.svg(picture.figure).decode()
        assert not re.search(r'="[^"]*\d\.\d{3,}', text)
        assert 'style="fill: #0072b2"' in text  # measured
        assert 'style="fill-opacity: 0"' in text  # published
