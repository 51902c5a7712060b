//! A bar chart as SVG: panels side by side, a group of bars per row.
//!
//! Every panel has the same rows; every row has one bar per series. Values are
//! ratios to a reference, which is drawn as a line at 1.

use std::error::Error;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub use plotters::style::RGBColor;

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What stands above all.
    pub title: String,
    /// Lines below the title.
    pub notes: Vec<String>,
    /// Name and colour of the bars in each row, in order.
    pub series: Vec<(String, RGBColor)>,
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

// All in pixels, except the limit. The size of a font is 1.24 times that of its letters.
const NAMES: i32 = 230;
const PANEL: i32 = 610;
const BAR: i32 = 9;
const LINE: i32 = 18;
/// Longer bars are cut; their figure is written anyway.
const LIMIT: f64 = 6.0;

impl Chart {
    /// Returns the text of the file.
    ///
    /// ```
    /// use benches::bars::{Chart, Panel, RGBColor, Row};
    /// let row = Row { name: "a < b".into(), values: vec![Some(2.0), None] };
    /// let chart = Chart {
    ///     title: "Speed".into(),
    ///     notes: vec!["longer is better".into()],
    ///     series: vec![("ours".into(), RGBColor(0, 90, 40)), ("theirs".into(), RGBColor(9, 9, 9))],
    ///     panels: vec![Panel { title: "2 workers".into(), rows: vec![row] }],
    /// };
    /// let text = chart.to_svg();
    /// assert!(text.starts_with("<svg ") && text.contains("a &lt; b") && text.contains("2.00"));
    /// ```
    pub fn to_svg(&self) -> String {
        let rows = self.panels.iter().map(|panel| panel.rows.len());
        let rows = rows.max().unwrap_or(0);
        let bars = (rows * (self.series.len() + 1)) as i32;
        let height = self.head() + 3 * LINE + bars * BAR;
        let width = self.panels.len().max(1) as i32 * PANEL;
        let mut svg = String::new();
        let backend = SVGBackend::with_string(&mut svg, (width as u32, height as u32));
        let drawn = self.draw(backend, rows as f64);
        drawn.expect("a string takes all that is drawn");
        svg
    }

    fn head(&self) -> i32 {
        LINE * (self.notes.len() as i32 + 3)
    }

    /// The end of the axis: the greatest value, as far as it is shown in full.
    fn axis(&self) -> f64 {
        let rows = self.panels.iter().flat_map(|panel| &panel.rows);
        let values = rows.flat_map(|row| row.values.iter().flatten());
        values.copied().fold(1.0, f64::max).ceil().clamp(2.0, LIMIT)
    }

    fn draw<'a>(&self, backend: SVGBackend<'a>, rows: f64) -> Result<(), Box<dyn Error + 'a>> {
        let root = backend.into_drawing_area();
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(self.head());
        let mut y = LINE / 2;
        let notes = self.notes.iter().map(|note| (note, 15));
        for (line, size) in [(&self.title, 21)].into_iter().chain(notes) {
            head.draw(&Text::new(&**line, (LINE, y), ("sans-serif", size)))?;
            y += LINE;
        }
        let mut x = LINE;
        for (name, colour) in &self.series {
            let corners = [(x, y), (x + BAR, y + BAR)];
            head.draw(&Rectangle::new(corners, colour.filled()))?;
            head.draw(&Text::new(&**name, (x + BAR + 5, y), ("sans-serif", 15)))?;
            x += 40 + 7 * name.chars().count() as i32;
        }
        let areas = body.split_evenly((1, self.panels.len().max(1)));
        for (area, panel) in areas.iter().zip(&self.panels) {
            let mut chart = ChartBuilder::on(area)
                .caption(&panel.title, ("sans-serif", 16))
                .set_label_area_size(LabelAreaPosition::Top, LINE)
                .set_label_area_size(LabelAreaPosition::Left, NAMES)
                .margin_right(3 * LINE)
                .build_cartesian_2d(0.0..self.axis(), 0.0..rows)?;
            let mut mesh = chart.configure_mesh();
            mesh.disable_y_mesh()
                .y_labels(0)
                .max_light_lines(0)
                .draw()?;
            self.draw_rows(chart.plotting_area(), rows, panel)?;
        }
        root.present()?;
        Ok(())
    }

    fn draw_rows<'a, C>(
        &self,
        area: &DrawingArea<SVGBackend<'a>, C>,
        rows: f64,
        panel: &Panel,
    ) -> Result<(), Box<dyn Error + 'a>>
    where
        C: CoordTranslate<From = (f64, f64)>,
    {
        let style = |size: i32, side| {
            TextStyle::from(("sans-serif", size)).pos(Pos::new(side, VPos::Center))
        };
        area.draw(&PathElement::new([(1.0, 0.0), (1.0, rows)], BLACK))?;
        for (index, row) in panel.rows.iter().enumerate() {
            let top = rows - index as f64;
            let name = Text::new(row.name.clone(), (-8, 0), style(15, HPos::Right));
            area.draw(&(EmptyElement::at((0.0, top - 0.5)) + name))?;
            // A bar is a part of the row's height; half a part stays free at each end.
            let part = 1.0 / (self.series.len() + 1) as f64;
            for (place, (value, (_, colour))) in row.values.iter().zip(&self.series).enumerate() {
                let Some(value) = value else { continue };
                let (top, end) = (top - (place as f64 + 0.5) * part, value.min(LIMIT));
                let bar = [(0.0, top), (end, top - part)];
                area.draw(&Rectangle::new(bar, colour.filled()))?;
                let figure = Text::new(format!("{value:.2}"), (3, 0), style(10, HPos::Left));
                area.draw(&(EmptyElement::at((end, top - part / 2.0)) + figure))?;
            }
        }
        Ok(())
    }
}
