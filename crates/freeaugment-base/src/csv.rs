//! Tables as comma-separated values (RFC 4180), to be read by programs.

/// Lines of comma-separated values.
#[derive(Clone, Debug, Default)]
pub struct Csv(String);

impl Csv {
    /// With its first line.
    pub fn new<'a>(head: impl IntoIterator<Item = &'a str>) -> Self {
        let mut csv = Self::default();
        csv.row(head.into_iter().map(str::to_owned));
        csv
    }

    /// Adds a line.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| quoted(&cell)).collect();
        self.0.push_str(&cells.join(","));
        self.0.push('\n');
    }

    /// All lines so far.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A number as it is; nothing where there is none.
pub fn cell(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_quotes_stay_one_cell() {
        let mut csv = Csv::new(["name", "share"]);
        csv.row(["a, \"b\"".to_owned(), cell(Some(0.5))]);
        csv.row(["c".to_owned(), cell(None)]);
        assert_eq!(csv.as_str(), "name,share\n\"a, \"\"b\"\"\",0.5\nc,\n");
    }
}
