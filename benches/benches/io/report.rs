//! The figures as a table.

use benches::table::{Table, figure};

use crate::run::Outcome;

pub(crate) fn print(outcomes: &[Outcome]) {
    let head = [
        "µs per message or timer",
        "p50",
        "p99",
        "wall",
        "CPU",
        "switches",
        "calls",
    ];
    let mut table = Table::new(&head);
    for outcome in outcomes {
        table.section(outcome.case);
        for figures in &outcome.figures {
            let some = |value: Option<f64>| figure(value.unwrap_or(f64::NAN));
            table.row([
                figures.kind.name().to_owned(),
                some(figures.p50),
                some(figures.p99),
                figure(figures.each),
                figure(figures.cpu),
                figure(figures.switches),
                some(figures.calls),
            ]);
        }
    }
    println!("\n{table}");
}
