//! A goal, and whether it was reached.
//!
//! Strict: a shortfall of two per cent that comes back in every run is one. But one
//! that small may also be the noise of this run, and is called small.

use std::fmt;

use crate::json::Value;

/// What an executor may easily miss a goal by in one run and reach it by in the
/// next; not measured.
const NOISE: f64 = 1.03;

/// One goal and what became of it.
#[derive(Clone, Debug)]
pub struct Goal {
    what: String,
    /// The figure, in words.
    found: String,
    /// How many times the limit was needed; the goal is reached up to 1.
    excess: f64,
    /// Where it fell short.
    shortfalls: Vec<String>,
}

impl Goal {
    /// A value that must not exceed a limit.
    ///
    /// ```
    /// use benches::goal::Goal;
    /// assert!(!Goal::at_most("cost", " ns", 4.1, 4.0).is_reached());
    /// ```
    pub fn at_most(what: impl Into<String>, unit: &str, value: f64, limit: f64) -> Self {
        Self {
            what: what.into(),
            found: format!("{value:.2}{unit}, at most {limit:.2}{unit}"),
            excess: value / limit,
            shortfalls: Vec::new(),
        }
    }

    /// A value that must reach a limit.
    ///
    /// ```
    /// use benches::goal::Goal;
    /// assert!(Goal::at_least("speed", " ×", 2.1, 2.0).is_reached());
    /// ```
    pub fn at_least(what: impl Into<String>, unit: &str, value: f64, limit: f64) -> Self {
        Self {
            what: what.into(),
            found: format!("{value:.2}{unit}, at least {limit:.2}{unit}"),
            excess: limit / value,
            shortfalls: Vec::new(),
        }
    }

    /// Something that is to be so in every case, of each of which there is a verdict:
    /// how many times the limit is needed there, and that in words. `None` without
    /// cases.
    ///
    /// ```
    /// use benches::goal::Goal;
    /// let verdicts = [(0.8, "a: 0.80".into()), (1.5, "b: 1.50".into())];
    /// let goal = Goal::in_every_case("fast", verdicts).unwrap();
    /// assert!(!goal.is_reached() && goal.to_string().ends_with("b: 1.50"));
    /// ```
    pub fn in_every_case(
        what: &str,
        verdicts: impl IntoIterator<Item = (f64, String)>,
    ) -> Option<Self> {
        let verdicts: Vec<_> = verdicts.into_iter().collect();
        let total = verdicts.len();
        let excess = verdicts
            .iter()
            .map(|(excess, _)| *excess)
            .fold(0.0, f64::max);
        let shortfalls: Vec<_> = verdicts
            .into_iter()
            .filter(|(excess, _)| *excess > 1.0)
            .map(|(excess, text)| text + small(excess))
            .collect();
        (total > 0).then(|| Self {
            what: what.into(),
            found: format!("in {} of {total} cases", total - shortfalls.len()),
            excess,
            shortfalls,
        })
    }

    /// Returns whether the goal was reached.
    pub fn is_reached(&self) -> bool {
        self.excess <= 1.0
    }

    /// Returns the goal for programs.
    pub fn to_json(&self) -> Value {
        let shortfalls: Vec<_> = self.shortfalls.iter().map(|s| s.as_str().into()).collect();
        Value::object([
            ("goal", self.what.as_str().into()),
            ("found", self.found.as_str().into()),
            ("reached", self.is_reached().into()),
            ("shortfalls", shortfalls.into()),
        ])
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.is_reached() {
            "reached"
        } else {
            "NOT reached"
        };
        let small = small(self.excess);
        write!(f, "{}: {} — {word}{small}", self.what, self.found)?;
        for shortfall in &self.shortfalls {
            write!(f, "\n      {shortfall}")?;
        }
        Ok(())
    }
}

/// What to say of a shortfall that may be noise.
fn small(excess: f64) -> &'static str {
    if excess > 1.0 && excess <= NOISE {
        " (a small shortfall)"
    } else {
        ""
    }
}

/// Prints one line per goal under `title`, and one per shortfall.
pub fn print(title: &str, goals: &[Goal]) {
    if goals.is_empty() {
        return;
    }
    println!("{title}:");
    for goal in goals {
        println!("  {goal}");
    }
    let reached = goals.iter().filter(|goal| goal.is_reached()).count();
    println!("{reached} of {} goals reached.", goals.len());
}
