//! The figures as a table.

use benches::table::{self, figure, section, table};

use crate::run::Outcome;

pub(crate) fn print(outcomes: &[Outcome]) {
    let title = "µs per message or timer";
    let mut table = table([title, "p50", "p99", "wall", "CPU", "switches", "calls"]);
    for outcome in outcomes {
        section(&mut table, &outcome.case);
        for measured in &outcome.contenders {
            let (more, p99) = (&measured.more, measured.p99);
            let p50 = if p99.is_nan() {
                f64::NAN
            } else {
                measured.median
            };
            let figures = [p50, p99, more.wall, measured.cpu, more.switches, more.calls];
            let name = format!("  {}", measured.kind);
            table.add_row([name].into_iter().chain(figures.map(figure)));
        }
    }
    println!();
    table::print(&table);
}
