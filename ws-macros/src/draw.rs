//! A picture of the graph as SVG, for the documentation.
//!
//! The layout is the simplest one that shows the order. A step is one row below the lowest step
//! that it waits for, and near the middle of all steps that it waits for. Lines and text have
//! the colour of the surrounding text, so the picture fits every theme.

use std::fmt::Write;

use crate::lower::Graph;
use crate::parse::Kind;

const CHAR: usize = 8;
const HEIGHT: usize = 28;
const ROW: usize = 64;
const GAP: usize = 24;
const MARGIN: usize = 8;

struct Place {
    /// Of the middle.
    x: usize,
    y: usize,
    width: usize,
}

/// The picture, in one line: in documentation, an empty line ends raw HTML.
pub(crate) fn svg(graph: &Graph) -> String {
    let places = places(graph);
    let right = places
        .iter()
        .map(|place| place.x + place.width / 2)
        .max()
        .unwrap_or(0)
        + MARGIN;
    let bottom = places.iter().map(|place| place.y).max().unwrap_or(0) + HEIGHT / 2 + MARGIN;
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{right}" height="{bottom}" viewBox="0 0 {right} {bottom}" font-family="sans-serif" font-size="13" fill="none" stroke="currentColor">"#
    );
    for (to, lower) in places.iter().enumerate() {
        for from in graph.nearest_needs(to) {
            let upper = &places[from];
            let (x1, y1) = (upper.x, upper.y + HEIGHT / 2);
            let (x2, y2) = (lower.x, lower.y - HEIGHT / 2);
            let middle = y1.midpoint(y2);
            // Writing to a string does not fail.
            let _ = write!(
                svg,
                r#"<path d="M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}" stroke-opacity="0.6"/><path d="M{} {}L{x2} {y2}L{} {}"/>"#,
                x2.saturating_sub(4),
                y2 - 6,
                x2 + 4,
                y2 - 6
            );
        }
    }
    for (step, place) in graph.steps().iter().zip(&places) {
        let (x, y) = (place.x - place.width / 2, place.y - HEIGHT / 2);
        let (width, radius, dash) = match &step.kind {
            Kind::Node(_) => (place.width, 4, ""),
            Kind::Fence(_) => (place.width, 0, r#" stroke-dasharray="4 3""#),
            Kind::Tail(_) => (place.width, HEIGHT / 2, ""),
        };
        let _ = write!(
            svg,
            r#"<rect x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="{radius}"{dash}/>"#
        );
        if step.options.graph.is_some() {
            let _ = write!(
                svg,
                r#"<rect x="{}" y="{}" width="{}" height="{}" rx="2"/>"#,
                x + 3,
                y + 3,
                width - 6,
                HEIGHT - 6
            );
        }
        let _ = write!(
            svg,
            r#"<text x="{}" y="{}" text-anchor="middle" fill="currentColor" stroke="none">{}</text>"#,
            place.x,
            place.y + 5,
            escape(&step.name)
        );
    }
    svg.push_str("</svg>");
    svg
}

fn places(graph: &Graph) -> Vec<Place> {
    let count = graph.steps().len();
    let mut rows = vec![0; count];
    for &step in &graph.order {
        rows[step] = graph.needs[step]
            .iter()
            .map(|&need| rows[need] + 1)
            .max()
            .unwrap_or(0);
    }
    let mut places: Vec<Place> = (0..count)
        .map(|step| Place {
            x: 0,
            y: MARGIN + HEIGHT / 2 + rows[step] * ROW,
            width: graph.steps()[step].name.chars().count() * CHAR + 2 * GAP / 2 + 8,
        })
        .collect();
    for row in 0..=rows.iter().copied().max().unwrap_or(0) {
        // Near the middle of the steps that it waits for; the rows above are placed already.
        let wish = |step: usize| {
            let needs = graph.nearest_needs(step);
            needs.iter().map(|&need| places[need].x).sum::<usize>() / needs.len().max(1)
        };
        let steps = (0..count).filter(|&step| rows[step] == row);
        let mut wishes: Vec<(usize, usize)> = steps.map(|step| (wish(step), step)).collect();
        wishes.sort_unstable();
        let mut left = MARGIN;
        for (wish, step) in wishes {
            let half = places[step].width / 2;
            places[step].x = wish.max(left + half);
            left = places[step].x + half + GAP;
        }
    }
    places
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
