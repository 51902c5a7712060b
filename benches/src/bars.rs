//! A bar chart as SVG: panels side by side, a group of bars per row.
//!
//! Every panel has the same rows; every row has one bar per series. Values are
//! ratios to a reference, which is drawn as a line at 1.

use std::fmt::{self, Write};

/// What is drawn; its `Display` is the file's text.
///
/// ```
/// use benches::bars::{Chart, Panel, Row};
/// let row = Row { name: "a < b".into(), values: vec![Some(2.0), None] };
/// let chart = Chart {
///     title: "Speed".into(),
///     notes: vec!["longer is better".into()],
///     series: vec![("ours", "#1b6"), ("theirs", "#888")],
///     panels: vec![Panel { title: "2 workers".into(), rows: vec![row] }],
/// };
/// let text = chart.to_string();
/// assert!(text.starts_with("<svg ") && text.contains("a &lt; b") && text.contains("2.00"));
/// ```
#[derive(Clone, Debug)]
pub struct Chart {
    /// What stands above all.
    pub title: String,
    /// Lines below the title.
    pub notes: Vec<String>,
    /// Name and colour of the bars in each row, in order.
    pub series: Vec<(&'static str, &'static str)>,
    /// What stands side by side.
    pub panels: Vec<Panel>,
}

/// Rows under one title.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What stands above the rows.
    pub title: String,
    /// From top to bottom.
    pub rows: Vec<Row>,
}

/// The bars of one group.
#[derive(Clone, Debug)]
pub struct Row {
    /// What stands left of the bars.
    pub name: String,
    /// One value per series; `None` leaves its place empty.
    pub values: Vec<Option<f64>>,
}

// All in pixels, except the limit.
const NAMES: f64 = 230.0;
const BARS: f64 = 330.0;
const FIGURES: f64 = 50.0;
const MARGIN: f64 = 20.0;
const BAR: f64 = 9.0;
const GAP: f64 = 9.0;
const LINE: f64 = 18.0;
/// Longer bars are cut; their figure is written anyway.
const LIMIT: f64 = 6.0;

impl Chart {
    fn row_height(&self) -> f64 {
        self.series.len() as f64 * BAR + GAP
    }

    fn top(&self) -> f64 {
        MARGIN + LINE * (self.notes.len() as f64 + 4.0)
    }

    fn width(&self) -> f64 {
        2.0 * MARGIN + self.panels.len() as f64 * (NAMES + BARS + FIGURES)
    }

    fn height(&self) -> f64 {
        let rows = self.panels.iter().map(|panel| panel.rows.len()).max();
        self.top() + rows.unwrap_or(0) as f64 * self.row_height() + MARGIN
    }

    /// The end of the axis: the greatest value, as far as it is shown in full.
    fn axis(&self) -> f64 {
        let rows = self.panels.iter().flat_map(|panel| &panel.rows);
        let values = rows.flat_map(|row| row.values.iter().flatten());
        values.copied().fold(1.0, f64::max).ceil().clamp(2.0, LIMIT)
    }

    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut y = MARGIN + LINE;
        text(
            f,
            MARGIN,
            y,
            "font-size=\"17\" font-weight=\"bold\"",
            &self.title,
        )?;
        for note in &self.notes {
            y += LINE;
            text(f, MARGIN, y, "fill=\"#555\"", note)?;
        }
        y += LINE;
        let mut x = MARGIN;
        for (name, colour) in &self.series {
            rect(f, x, y - BAR, BAR, BAR, colour)?;
            text(f, x + BAR + 5.0, y, "", name)?;
            x += 40.0 + 7.0 * name.chars().count() as f64;
        }
        Ok(())
    }

    fn panel(&self, f: &mut fmt::Formatter<'_>, left: f64, panel: &Panel) -> fmt::Result {
        let (top, axis) = (self.top(), self.axis());
        let zero = left + NAMES;
        let x_of = |value: f64| zero + BARS * value.min(axis) / axis;
        text(f, zero, top - LINE, "font-weight=\"bold\"", &panel.title)?;
        let bottom = top + panel.rows.len() as f64 * self.row_height();
        for mark in 0..=axis as usize {
            let x = x_of(mark as f64);
            let colour = if mark == 1 { "#333" } else { "#ddd" };
            writeln!(
                f,
                r#"<line x1="{x:.1}" y1="{top:.1}" x2="{x:.1}" y2="{bottom:.1}" stroke="{colour}"/>"#
            )?;
            text(
                f,
                x,
                top - 4.0,
                "text-anchor=\"middle\" fill=\"#777\"",
                &mark.to_string(),
            )?;
        }
        for (index, row) in panel.rows.iter().enumerate() {
            let y = top + index as f64 * self.row_height() + GAP / 2.0;
            let middle = y + self.series.len() as f64 * BAR / 2.0 + 4.0;
            text(f, zero - 8.0, middle, "text-anchor=\"end\"", &row.name)?;
            for (place, (value, (_, colour))) in row.values.iter().zip(&self.series).enumerate() {
                let Some(value) = value else { continue };
                let y = y + place as f64 * BAR;
                let end = x_of(*value);
                rect(f, zero, y, end - zero, BAR - 1.0, colour)?;
                let style = "font-size=\"8\" fill=\"#555\"";
                text(f, end + 3.0, y + BAR - 2.0, style, &format!("{value:.2}"))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = (self.width(), self.height());
        writeln!(
            f,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" font-family="sans-serif" font-size="12">"#
        )?;
        rect(f, 0.0, 0.0, width, height, "#fff")?;
        self.head(f)?;
        for (index, panel) in self.panels.iter().enumerate() {
            let left = MARGIN + index as f64 * (NAMES + BARS + FIGURES);
            self.panel(f, left, panel)?;
        }
        writeln!(f, "</svg>")
    }
}

fn rect(
    f: &mut fmt::Formatter<'_>,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    colour: &str,
) -> fmt::Result {
    writeln!(
        f,
        r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{colour}"/>"#
    )
}

fn text(f: &mut fmt::Formatter<'_>, x: f64, y: f64, style: &str, words: &str) -> fmt::Result {
    write!(f, r#"<text x="{x:.1}" y="{y:.1}" {style}>"#)?;
    for c in words.chars() {
        match c {
            '<' => f.write_str("&lt;")?,
            '>' => f.write_str("&gt;")?,
            '&' => f.write_str("&amp;")?,
            c => f.write_char(c)?,
        }
    }
    writeln!(f, "</text>")
}
