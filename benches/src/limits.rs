//! How long a case may take, and how many rounds.

use std::time::Duration;

use crate::options::Effort;

/// How long a case may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time for all rounds of all contenders.
    budget: Duration,
    /// Taken even if the time is over.
    least_rounds: usize,
    most_rounds: usize,
}

impl Limits {
    /// Returns the limits of an effort, with so many `seconds` instead of the effort's own,
    /// if given.
    pub fn new(effort: Effort, seconds: Option<usize>) -> Self {
        let (own, least_rounds, most_rounds) = match effort {
            Effort::Full => (6.0, 5, 200),
            Effort::Quick => (0.7, 1, 40),
            Effort::Smoke => (0.0, 1, 1),
        };
        Self {
            budget: Duration::from_secs_f64(seconds.map_or(own, |seconds| seconds as f64)),
            least_rounds,
            most_rounds,
        }
    }

    /// Returns whether there is time for one more round that takes as long as the
    /// others did.
    pub fn allow(&self, done: usize, elapsed: Duration) -> bool {
        if done < self.least_rounds {
            return true;
        }
        let next = elapsed / done as u32;
        done < self.most_rounds && elapsed + next <= self.budget
    }
}
