//! What to run and how long, by the command line.
//!
//! A benchmark is a `clap` parser that contains [`Options`], and adds its own options to
//! them. Its documentation is what `--help` says.

use std::fmt;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};

/// The options of every benchmark.
///
/// ```
/// use benches::options::{Effort, Options};
/// use clap::Parser;
/// #[derive(Parser)]
/// struct Args {
///     #[command(flatten)]
///     options: Options,
/// }
///
/// let options = |line: &str| Args::parse_from(line.split(' ')).options;
/// assert_eq!(options("name").effort(), Effort::Smoke);
/// assert_eq!(options("name --bench --bench").effort(), Effort::Full);
/// assert_eq!(options("name --quick --bench").effort(), Effort::Quick);
/// assert!(options("name drain fill --bench").selects("fill: push 256"));
/// assert!(!options("name drain --bench").selects("fill: push 256"));
/// assert!(options("name").selects("fill: push 256"));
/// ```
#[derive(Args, Clone, Debug)]
#[command(args_override_self = true)]
pub struct Options {
    /// Measure for a short time: figures for a first look.
    #[arg(long)]
    quick: bool,
    /// Measure at all. `cargo bench` passes it, `cargo test` does not.
    #[arg(long, hide = true)]
    bench: bool,
    /// Run only the cases with one of these words in their names.
    words: Vec<String>,
}

impl Options {
    /// Returns what the caller has time for.
    pub fn effort(&self) -> Effort {
        match (self.quick, self.bench) {
            (true, _) => Effort::Quick,
            (false, true) => Effort::Full,
            (false, false) => Effort::Smoke,
        }
    }

    /// Returns whether the case of this name is to run.
    pub fn selects(&self, case: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| case.contains(word))
    }

    /// Returns whether the run gave figures to show; says so if it did not.
    pub fn has_figures(&self) -> bool {
        let is_smoke = self.effort() == Effort::Smoke;
        if is_smoke {
            eprintln!("every case ran once; `cargo bench` measures them");
        }
        !is_smoke
    }
}

/// Parses a whole number above zero.
pub fn positive() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

/// Writes the name of a value on the command line, which is its name in tables, too.
///
/// # Errors
///
/// If the formatter has one.
pub fn write_name(value: &impl ValueEnum, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let value = value.to_possible_value().expect("no value is skipped");
    f.pad(value.get_name())
}

/// What the caller has time for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// `cargo bench`: figures to quote.
    Full,
    /// `cargo bench … -- --quick`: figures for a first look.
    Quick,
    /// `cargo test --benches`: every case once, to see that it works.
    Smoke,
}

impl Effort {
    /// Returns this effort's share of what a full run does: rounds, items.
    ///
    /// ```
    /// use benches::options::Effort;
    /// assert_eq!(Effort::Full.of(300), 300);
    /// assert_eq!(Effort::Smoke.of(300), 1);
    /// ```
    pub fn of(self, full: usize) -> usize {
        match self {
            Effort::Full => full,
            Effort::Quick => full.div_ceil(15),
            Effort::Smoke => 1,
        }
    }

    /// Returns how long one sample takes, if a full run's takes `full`.
    pub fn span(self, full: Duration) -> Duration {
        match self {
            Effort::Full | Effort::Quick => full,
            Effort::Smoke => Duration::from_micros(10),
        }
    }
}
