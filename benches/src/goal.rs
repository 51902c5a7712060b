//! A goal, and whether it was reached.
//!
//! Strict: a shortfall of two per cent that comes back in every run is one. But one
//! that small may also be the noise of this run, and is called small.

use std::fmt;

use serde::Serialize;

/// What an executor may easily miss a goal by in one run and reach it by in the
/// next; not measured.
const NOISE: f64 = 1.03;

/// One goal and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    goal: String,
    /// The figure, in words.
    found: String,
    reached: bool,
    /// How many times the limit was needed; the goal is reached up to 1.
    excess: f64,
    /// Where it fell short.
    shortfalls: Vec<String>,
}

impl Goal {
    fn new(goal: impl Into<String>, found: String, excess: f64, shortfalls: Vec<String>) -> Self {
        Self {
            goal: goal.into(),
            found,
            reached: excess <= 1.0,
            excess,
            shortfalls,
        }
    }

    /// A value that must not exceed a limit.
    ///
    /// ```
    /// use benches::goal::Goal;
    /// assert!(!Goal::at_most("cost", " ns", 4.1, 4.0).is_reached());
    /// ```
    pub fn at_most(goal: impl Into<String>, unit: &str, value: f64, limit: f64) -> Self {
        let found = format!("{value:.2}{unit}, at most {limit:.2}{unit}");
        Self::new(goal, found, value / limit, Vec::new())
    }

    /// A value that must reach a limit.
    ///
    /// ```
    /// use benches::goal::Goal;
    /// assert!(Goal::at_least("speed", " ×", 2.1, 2.0).is_reached());
    /// ```
    pub fn at_least(goal: impl Into<String>, unit: &str, value: f64, limit: f64) -> Self {
        let found = format!("{value:.2}{unit}, at least {limit:.2}{unit}");
        Self::new(goal, found, limit / value, Vec::new())
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
        goal: impl Into<String>,
        verdicts: impl IntoIterator<Item = (f64, String)>,
    ) -> Option<Self> {
        let (mut total, mut worst, mut shortfalls) = (0, 0.0_f64, Vec::new());
        for (excess, text) in verdicts {
            total += 1;
            worst = worst.max(excess);
            if excess > 1.0 {
                shortfalls.push(text + small(excess));
            }
        }
        let found = format!("in {} of {total} cases", total - shortfalls.len());
        (total > 0).then(|| Self::new(goal, found, worst, shortfalls))
    }

    /// Returns whether the goal was reached.
    pub fn is_reached(&self) -> bool {
        self.reached
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.reached { "" } else { "NOT " };
        let small = small(self.excess);
        write!(f, "{}: {} — {not}reached{small}", self.goal, self.found)?;
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
