//! An aligned text table, in sections, and how figures are written.

use comfy_table::{CellAlignment, presets};

pub use comfy_table::Table;

/// Makes a table without lines: the first column is text and stands left, all others are
/// figures and stand right.
///
/// ```
/// use benches::table::{figure, ratio, section, table};
/// let mut table = table(["queue", "ns", "ratio"]);
/// section(&mut table, "a pop");
/// table.add_row(["  mine".into(), figure(1.5), ratio(1.5, 3.0)]);
/// let text = table.trim_fmt();
/// assert_eq!(text, " queue     ns  ratio\n\n a pop\n   mine  1.50   0.50");
/// ```
pub fn table(head: impl IntoIterator<Item = impl ToString>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(head.into_iter().collect::<Vec<_>>());
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Starts a section.
pub fn section(table: &mut Table, title: &str) {
    table.add_rows([[""], [title]]);
}

/// Prints a table that has rows.
pub fn print(table: &Table) {
    if !table.is_empty() {
        println!("{}\n", table.trim_fmt());
    }
}

/// Writes a figure with two decimals; nothing for `NaN`.
///
/// ```
/// assert_eq!(benches::table::figure(1.0 / 3.0), "0.33");
/// assert_eq!(benches::table::figure(f64::NAN), "");
/// ```
pub fn figure(value: f64) -> String {
    unless_nan(value, format!("{value:.2}"))
}

/// Writes three digits that count: a unit behind the figure would be hard to compare.
///
/// ```
/// assert_eq!(benches::table::digits(12.345), "12.3");
/// assert_eq!(benches::table::digits(1234.5), "1234");
/// ```
pub fn digits(value: f64) -> String {
    let decimals = usize::from(value < 100.0);
    unless_nan(value, format!("{value:.decimals$}"))
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
    unless_nan(share, format!("{:.0} %", share * 100.0))
}

fn unless_nan(value: f64, text: String) -> String {
    if value.is_nan() { String::new() } else { text }
}

/// Writes how many workers there are.
///
/// ```
/// assert_eq!(benches::table::workers(1), "1 worker");
/// ```
pub fn workers(count: usize) -> String {
    format!("{count} worker{}", if count == 1 { "" } else { "s" })
}
