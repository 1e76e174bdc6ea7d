//! Plain text: columns that align, bars, durations.

use std::fmt;

use unicode_width::UnicodeWidthStr as _;

/// Rows of cells; columns are as wide as their widest cell.
#[derive(Debug, Default)]
pub struct Table {
    /// One letter per column: `<` to the left, `>` to the right.
    alignment: &'static str,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table; `alignment` has a letter per column, `<` or `>`.
    pub fn new(alignment: &'static str) -> Self {
        Self { alignment, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        let columns: Vec<(char, usize)> =
            self.alignment.chars().enumerate().map(|(column, side)| (side, width(column))).collect();
        for (at, row) in self.rows.iter().enumerate() {
            let cells = row.iter().zip(&columns).map(|(cell, &(side, width))| {
                let space = " ".repeat(width - cell.width());
                if side == '>' { format!("  {space}{cell}") } else { format!("  {cell}{space}") }
            });
            let line: String = cells.collect();
            write!(f, "{}{}", if at == 0 { "" } else { "\n" }, line.trim_end())?;
        }
        Ok(())
    }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A bar of `share`, which is 0 to 1, in up to so many letters.
pub fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (8 * width) as f64).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// A duration for people.
pub fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {} min", whole / 3600, whole / 60 % 60),
        _ => format!("{} days {} h", whole / 86_400, whole / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_lines_have_no_trailing_spaces() {
        let mut table = Table::new("<>");
        table.row(["a", "1"]);
        table.row(["long", "23"]);
        table.row(["é", ""]);
        assert_eq!(table.to_string(), "  a      1\n  long  23\n  é");
    }

    #[test]
    fn letters_that_take_two_places_align_too() {
        let mut table = Table::new("<>");
        table.row(["犬", "1"]);
        table.row(["ねこ", "23"]);
        table.row(["dog", "4"]);
        assert_eq!(table.to_string(), "  犬     1\n  ねこ  23\n  dog    4");
    }

    #[test]
    fn durations_are_for_people() {
        let all = [0.04, 9.94, 9.96, 59.0, 61.4, 3600.0, 86_400.0 * 2.5].map(duration);
        assert_eq!(all, ["0.0 s", "9.9 s", "10 s", "59 s", "1 min 1 s", "1 h 0 min", "2 days 12 h"]);
    }

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!([0.0, 0.125, 0.5, 1.0, 7.0].map(|share| bar(share, 2)), ["", "▎", "█", "██", "██"]);
    }
}
