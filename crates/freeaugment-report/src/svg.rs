//! A small writer of SVG. Colours and sizes of letters are classes, which [`STYLE`] gives their values by theme.

use std::fmt::Write as _;

use crate::escape::escape;

/// What the classes of figures look like, in a light and in a dark theme. The colours are those of Okabe and Ito, which
/// colour-blind people tell apart; in the dark they are lighter.
pub(crate) const STYLE: &str = "\
:root{--bg:#fff;--text:#1b1f24;--soft:#57606a;--line:#d0d7de;--c0:#0072b2;--c1:#d55e00;--c2:#007f5c;--c3:#b0578d;\
--c4:#a86f00;--c5:#3a8fc4;--c6:#6e6e6e}\
@media screen and (prefers-color-scheme:dark){:root{--bg:#14171c;--text:#e8eaed;--soft:#a3acb8;--line:#3a414b;--c0:#56b4e9;\
--c1:#ff9a52;--c2:#3ecfa0;--c3:#e59cc6;--c4:#f0c04a;--c5:#9ad0f0;--c6:#b8b8b8}}\
.fig{font:11px system-ui,sans-serif;color:var(--text)}.fig text{fill:var(--text)}.fig .t{font-size:12.5px;font-weight:600}\
.fig .e{text-anchor:end}.fig .m{text-anchor:middle}.fig .s{fill:var(--soft)}.fig .i{fill:var(--bg)}\
.fig .grid{stroke:var(--line);stroke-width:1;fill:none}.fig .axis{stroke:var(--soft);stroke-width:1;fill:none}\
.fig .l{fill:none;stroke-width:1.8;stroke-linejoin:round}.fig .d{stroke-dasharray:5 3}.fig .thin{stroke-width:1}\
.fig .p{fill:none;stroke:var(--text);stroke-width:1.4;stroke-dasharray:3 3}.fig .pf{fill:var(--text);fill-opacity:.09}\
.fig .k0{stroke:var(--c0)}.fig .k1{stroke:var(--c1)}.fig .k2{stroke:var(--c2)}.fig .k3{stroke:var(--c3)}\
.fig .k4{stroke:var(--c4)}.fig .k5{stroke:var(--c5)}.fig .k6{stroke:var(--c6)}\
.fig .f0{fill:var(--c0)}.fig .f1{fill:var(--c1)}.fig .f2{fill:var(--c2)}.fig .f3{fill:var(--c3)}\
.fig .f4{fill:var(--c4)}.fig .f5{fill:var(--c5)}.fig .f6{fill:var(--c6)}";

/// How many colours there are.
pub(crate) const COLOURS: usize = 7;
/// How wide a letter is on average, in units of a figure.
const LETTER: f64 = 6.1;

/// What a drawing is made of.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// A line through points, or the area between them where its class has a fill.
    Path {
        points: Vec<Point>,
        class: String,
        opacity: Option<f64>,
        title: String,
    },
    Rect {
        corner: Point,
        size: Point,
        class: String,
        opacity: f64,
        title: String,
    },
    Circle {
        centre: Point,
        radius: f64,
        class: String,
        title: String,
    },
    Text {
        at: Point,
        class: String,
        text: String,
    },
    /// Marks up to [`Mark::End`] share what is shown under the mouse.
    Group {
        title: String,
    },
    End,
}

pub(crate) type Point = (f64, f64);

/// A drawing.
#[derive(Clone, Debug)]
pub(crate) struct Svg {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// What is heard where nothing can be seen.
    label: String,
    pub(crate) marks: Vec<Mark>,
}

/// Where a drawing and its parts stand: a hundredth is finer than any screen.
fn n(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // Rounding must not print a negative zero.
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

/// Opacity by a share.
pub(crate) fn shade(share: f64) -> String {
    format!("{:.2}", share.clamp(0.0, 1.0))
}

/// About how wide a text is.
pub(crate) fn width_of(text: &str) -> f64 {
    LETTER * text.chars().count() as f64
}

impl Svg {
    pub(crate) fn new(width: f64, height: f64, label: &str) -> Self {
        Self { width, height, label: label.to_owned(), marks: Vec::new() }
    }

    pub(crate) fn line(&mut self, from: Point, to: Point, class: &str) {
        self.polyline(&[from, to], class, "");
    }

    /// A rectangle of some opacity; `title` is shown under the mouse.
    pub(crate) fn rect(&mut self, corner: Point, size: Point, class: &str, opacity: f64, title: &str) {
        let size = (size.0.max(0.0), size.1.max(0.0));
        let (class, title) = (class.to_owned(), title.to_owned());
        self.marks.push(Mark::Rect { corner, size, class, opacity, title });
    }

    pub(crate) fn circle(&mut self, centre: Point, radius: f64, class: &str, title: &str) {
        let (class, title) = (class.to_owned(), title.to_owned());
        self.marks.push(Mark::Circle { centre, radius, class, title });
    }

    pub(crate) fn polyline(&mut self, points: &[Point], class: &str, title: &str) {
        let (points, class, title) = (points.to_vec(), class.to_owned(), title.to_owned());
        self.marks.push(Mark::Path { points, class, opacity: None, title });
    }

    /// An area between its points.
    pub(crate) fn area(&mut self, points: &[Point], class: &str, opacity: f64, title: &str) {
        let (points, class, title) = (points.to_vec(), class.to_owned(), title.to_owned());
        self.marks.push(Mark::Path { points, class, opacity: Some(opacity), title });
    }

    pub(crate) fn text(&mut self, at: Point, class: &str, text: &str) {
        self.marks.push(Mark::Text { at, class: class.to_owned(), text: text.to_owned() });
    }

    /// Marks that share what is shown under the mouse.
    pub(crate) fn group(&mut self, title: &str, inside: impl FnOnce(&mut Self)) {
        self.marks.push(Mark::Group { title: title.to_owned() });
        inside(self);
        self.marks.push(Mark::End);
    }

    fn element(&self, place: &str) -> String {
        let (w, h, label) = (n(self.width), n(self.height), escape(&self.label));
        let mut body = String::new();
        self.marks.iter().for_each(|mark| mark.write(&mut body));
        format!(
            r#"<svg class="fig"{place} viewBox="0 0 {w} {h}" role="img" aria-label="{label}">{body}</svg>"#
        )
    }

    /// As part of a page.
    pub(crate) fn inline(&self) -> String {
        self.element("")
    }

    /// A file of several drawings, so many beside each other.
    pub(crate) fn file(panels: &[Self], columns: usize) -> String {
        let Layout { places, size: (width, height) } = Layout::new(panels, columns);
        let mut body = String::new();
        for (panel, (left, top)) in panels.iter().zip(places) {
            let [x, y, w, h] = [left, top, panel.width, panel.height].map(n);
            body.push_str(&panel.element(&format!(r#" x="{x}" y="{y}" width="{w}" height="{h}""#)));
        }
        let (w, h) = (n(width), n(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\"><style>{STYLE}</style>\
             <rect width=\"{w}\" height=\"{h}\" style=\"fill:var(--bg)\"/>{body}</svg>\n"
        )
    }
}

impl Mark {
    fn write(&self, body: &mut String) {
        // Writing into a string cannot fail.
        let _ = match self {
            Self::Path { points, class, opacity, title } => {
                let mut d = String::new();
                for (at, point) in points.iter().enumerate() {
                    let _ = write!(d, "{}{} {}", if at == 0 { 'M' } else { 'L' }, n(point.0), n(point.1));
                }
                let opacity = opacity.map(|of| format!(r#" fill-opacity="{}""#, shade(of)));
                let opacity = opacity.unwrap_or_default();
                write!(body, r#"<path class="{class}" d="{d}"{opacity}{}"#, end("path", title))
            }
            Self::Rect { corner, size, class, opacity, title } => {
                let [x, y, w, h] = [corner.0, corner.1, size.0, size.1].map(n);
                let opacity = if *opacity < 0.995 {
                    format!(r#" fill-opacity="{}""#, shade(*opacity))
                } else {
                    String::new()
                };
                let end = end("rect", title);
                write!(
                    body,
                    r#"<rect class="{class}" x="{x}" y="{y}" width="{w}" height="{h}"{opacity}{end}"#
                )
            }
            Self::Circle { centre: (x, y), radius, class, title } => {
                let ([x, y, r], end) = ([*x, *y, *radius].map(n), end("circle", title));
                write!(body, r#"<circle class="{class}" cx="{x}" cy="{y}" r="{r}"{end}"#)
            }
            Self::Text { at, class, text } => {
                let class = if class.is_empty() { String::new() } else { format!(r#" class="{class}""#) };
                write!(body, r#"<text{class} x="{}" y="{}">{}</text>"#, n(at.0), n(at.1), escape(text))
            }
            Self::Group { title } => write!(body, "<g><title>{}</title>", escape(title)),
            Self::End => write!(body, "</g>"),
        };
    }
}

/// The end of an element, with what is shown under the mouse.
fn end(tag: &str, title: &str) -> String {
    if title.is_empty() {
        return "/>".to_owned();
    }
    format!("><title>{}</title></{tag}>", escape(title))
}

/// Where several drawings stand in a file.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) places: Vec<Point>,
    pub(crate) size: Point,
}

impl Layout {
    pub(crate) fn new(panels: &[Svg], columns: usize) -> Self {
        const GAP: f64 = 12.0;
        let widest = panels.iter().map(|panel| panel.width).fold(0.0, f64::max);
        let columns = columns.clamp(1, panels.len().max(1));
        let (mut places, mut top) = (Vec::new(), GAP);
        for row in panels.chunks(columns) {
            places.extend((0..row.len()).map(|at| (GAP + at as f64 * (widest + GAP), top)));
            top += GAP + row.iter().map(|panel| panel.height).fold(0.0, f64::max);
        }
        Self { places, size: (GAP + columns as f64 * (widest + GAP), top) }
    }
}
