//! A page: one HTML file that needs nothing else, without a script.

use std::fmt::Write as _;

use crate::escape::escape;
use crate::figure::Figure;
use crate::svg::STYLE;

/// How often a browser reads the page of an unfinished run again, in seconds.
const REFRESH: u32 = 20;

const LAYOUT: &str = "\
*{box-sizing:border-box}html{background:var(--bg);color:var(--text);color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:1480px;margin:0 auto;padding:16px;overflow-wrap:anywhere}\
h1{font-size:1.6rem;line-height:1.2;margin:.2em 0}h2{font-size:1.25rem;margin:2em 0 .4em;border-bottom:1px solid var(--line)}\
h3{font-size:1rem;margin:0 0 .3em}.heard{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}.lead{font-size:1.12rem;max-width:70ch}p{max-width:80ch}\
.soft,figcaption{color:var(--soft);font-size:.88rem}figcaption{max-width:80ch}.note{border-left:4px solid var(--c1);padding:.2em .8em;max-width:80ch}\
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:24px;align-items:start}\
figure{margin:0 0 20px;break-inside:avoid}.fig{display:block;width:100%;max-width:560px;height:auto}\
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:10px}\
.panels.small{grid-template-columns:repeat(auto-fill,minmax(min(100%,270px),1fr))}.panels.small .fig{max-width:400px}\
.scroll{overflow-x:auto;max-width:100%}table{border-collapse:collapse;font-size:.92rem}\
th,td{text-align:left;padding:.2em .8em .2em 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:break-word}\
td.n,th.n{text-align:right;white-space:nowrap}.wide td{overflow-wrap:anywhere}.wide td:first-child{white-space:nowrap}.row{display:flex;flex-wrap:wrap;gap:8px;margin:0 0 14px}\
.rows{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,600px),1fr));gap:0 32px}.rows h3{grid-column:1/-1}\
.row figure{margin:0;flex:1 1 104px;max-width:152px}.row img{width:100%;height:auto;display:block;border-radius:3px}.pixels img{image-rendering:pixelated}\
.row figcaption{font-size:.75rem;line-height:1.25;margin-top:2px}.row .first figcaption{color:var(--text);font-weight:600}\
.strip{display:block;max-width:100%;height:auto;margin:0 0 4px}summary{cursor:pointer;margin:.6em 0}\
@media (max-width:520px){body{padding:10px}.row figure{flex:none;width:calc((100% - 16px)/3)}\
.cards thead{display:none}.cards,.cards tbody{display:block;width:100%}.cards tr{display:block;padding:.4em 0;border-bottom:1px solid var(--line)}.cards td,.cards td.n{display:flex;justify-content:space-between;gap:1em;border:0;padding:0;white-space:normal}\
.cards td:first-child{font-weight:600}.cards td:not(:first-child)::before{content:attr(data-head);color:var(--soft)}.cards td:empty{display:none}}\
@media print{body{max-width:none;font-size:10pt}.scroll{overflow:visible}table{font-size:8pt}th,td{padding-right:.5em}tr{break-inside:avoid}h2{break-after:avoid}}";

/// A page as it grows.
#[derive(Debug, Default)]
pub(crate) struct Page {
    title: String,
    body: String,
    figures: Vec<Figure>,
    missing: Vec<String>,
    /// Whether more is to come, so that a browser should look again.
    pub(crate) grows: bool,
}

impl Page {
    pub(crate) fn new(title: &str) -> Self {
        Self { title: title.to_owned(), ..Self::default() }
    }

    /// Something that cannot be shown.
    pub(crate) fn miss(&mut self, what: impl Into<String>) {
        self.missing.push(what.into());
    }

    /// What could be read; what could not is written down.
    pub(crate) fn try_read<T>(&mut self, result: Result<T, freeaugment_search::Error>) -> Option<T> {
        result.map_err(|error| self.miss(error.to_string())).ok()
    }

    pub(crate) fn heading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escape(text));
    }

    pub(crate) fn lead(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p class=\"lead\">{}</p>", escape(text));
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
    }

    /// A warning.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p class=\"note\">{}</p>", escape(text));
    }

    /// Adds what is already HTML.
    pub(crate) fn html(&mut self, html: &str) {
        self.body.push_str(html);
        self.body.push('\n');
    }

    /// Figures beside each other where there is room; those of several drawings have the whole width.
    pub(crate) fn figures(&mut self, figures: impl IntoIterator<Item = Figure>) {
        let mut open = false;
        for figure in figures {
            let single = figure.panels.len() == 1;
            if single != open {
                self.body.push_str(if single { "<div class=\"figures\">" } else { "</div>\n" });
                open = single;
            }
            self.body.push_str(&figure.html());
            self.figures.push(figure);
        }
        if open {
            self.body.push_str("</div>\n");
        }
    }

    /// A table; columns from `numbers` on are numbers.
    pub(crate) fn table(&mut self, head: &[String], rows: &[Vec<String>], numbers: usize) {
        let line = |tag: &str, cells: &[String]| -> String {
            let cell = |(at, text): (usize, &String)| {
                let class = if at >= numbers { " class=\"n\"" } else { "" };
                // Where a line is a card, every number says what it is.
                let says = head.get(at).filter(|_| tag == "td");
                let says = says.map(|head| format!(" data-head=\"{}\"", escape(head))).unwrap_or_default();
                format!("<{tag}{class}{says}>{}</{tag}>", escape(text))
            };
            format!("<tr>{}</tr>", cells.iter().enumerate().map(cell).collect::<String>())
        };
        let class = if head.is_empty() { "wide" } else { "cards" };
        let _ = write!(self.body, "<div class=\"scroll\"><table class=\"{class}\">");
        if !head.is_empty() {
            let _ = write!(self.body, "<thead>{}</thead>", line("th", head));
        }
        let rows: String = rows.iter().map(|row| line("td", row)).collect();
        let _ = writeln!(self.body, "<tbody>{rows}</tbody></table></div>");
    }

    /// All figures, for files of their own.
    pub(crate) fn drawn(&self) -> &[Figure] {
        &self.figures
    }

    /// The whole page.
    pub(crate) fn finish(&self) -> String {
        let refresh = if self.grows {
            format!("<meta http-equiv=\"refresh\" content=\"{REFRESH}\">")
        } else {
            String::new()
        };
        let mut missing = String::new();
        if !self.missing.is_empty() {
            let items: Vec<String> = self.missing.iter().map(|what| escape(what)).collect();
            missing = format!("<h2>What is missing</h2>\n<ul><li>{}</li></ul>\n", items.join("</li><li>"));
        }
        let title = escape(&self.title);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\
             <link rel=\"icon\" href=\"data:,\">{refresh}<style>{STYLE}{LAYOUT}</style></head>\n<body><main><h1>{title}</h1>\n{}{missing}</main></body></html>\n",
            self.body
        )
    }
}
