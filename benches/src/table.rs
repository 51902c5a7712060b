//! An aligned text table, in sections.

use std::fmt;

/// Rows of cells under one head: the first column is text and stands left, all
/// others are figures and stand right.
///
/// ```
/// use benches::table::{Table, figure, ratio};
/// let mut table = Table::new(&["queue", "ns", "ratio"]);
/// table.section("a pop");
/// table.row(["mine".into(), figure(1.5), ratio(1.5, 3.0)]);
/// let text = table.to_string();
/// assert_eq!(text, "queue     ns  ratio\n\na pop\n  mine  1.50   0.50\n");
/// ```
#[derive(Debug)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Debug)]
enum Row {
    Section(String),
    Cells(Vec<String>),
}

/// What the rows of a section are set in by.
const INDENT: &str = "  ";

impl Table {
    /// Makes a table without rows.
    pub fn new(head: &[&str]) -> Self {
        Self {
            head: head.iter().map(|&cell| cell.into()).collect(),
            rows: Vec::new(),
        }
    }

    /// Starts a section.
    pub fn section(&mut self, title: impl Into<String>) {
        self.rows.push(Row::Section(title.into()));
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// If it has more or fewer cells than the head.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<_> = cells.into_iter().collect();
        assert_eq!(
            cells.len(),
            self.head.len(),
            "a row has as many cells as the head"
        );
        cells[0].insert_str(0, INDENT);
        self.rows.push(Row::Cells(cells));
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<_> = self.head.iter().map(|cell| cell.chars().count()).collect();
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = cell.chars().count().max(*width);
                }
            }
        }
        widths
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let line = |f: &mut fmt::Formatter<'_>, cells: &[String]| {
            let mut text = format!("{:<1$}", cells[0], widths[0]);
            for (cell, width) in cells.iter().zip(&widths).skip(1) {
                text += &format!("{INDENT}{cell:>width$}");
            }
            writeln!(f, "{}", text.trim_end())
        };
        line(f, &self.head)?;
        for row in &self.rows {
            match row {
                Row::Section(title) => writeln!(f, "\n{title}")?,
                Row::Cells(cells) => line(f, cells)?,
            }
        }
        Ok(())
    }
}

/// Writes a figure with two decimals; nothing for `NaN`.
///
/// ```
/// assert_eq!(benches::table::figure(1.0 / 3.0), "0.33");
/// assert_eq!(benches::table::figure(f64::NAN), "");
/// ```
pub fn figure(value: f64) -> String {
    if value.is_nan() {
        String::new()
    } else {
        format!("{value:.2}")
    }
}

/// Writes how many times `reference` a value is.
///
/// ```
/// assert_eq!(benches::table::ratio(3.0, 2.0), "1.50");
/// assert_eq!(benches::table::ratio(3.0, f64::NAN), "");
/// ```
pub fn ratio(value: f64, reference: f64) -> String {
    figure(value / reference)
}

/// Writes a share as whole per cents; nothing for `NaN`.
///
/// ```
/// assert_eq!(benches::table::per_cent(0.256), "26 %");
/// ```
pub fn per_cent(share: f64) -> String {
    if share.is_nan() {
        String::new()
    } else {
        format!("{:.0} %", share * 100.0)
    }
}
