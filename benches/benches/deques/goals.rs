//! The goals, and which of them were reached.

use benches::goal::Goal;
use benches::outcome::Measured;

use crate::{Case, Kind, Outcome, Stolen};

/// Holds the outcome of a case against the goals:
/// 1. the ring's push+pop: no slower than the best peer, at most twice the floor;
/// 2. the ring's half-steal: at most a third of st3's;
/// 3. the deque's push+pop from bursts of 64: no slower than the best peer;
/// 4. both with a thief: no slower than the best peer.
pub(crate) fn all(kind: Kind, case: Case, outcome: &Outcome) -> Vec<Goal> {
    let [ours, crossbeam, st3, ..] = &outcome.contenders[..] else {
        return Vec::new();
    };
    let goal = |role: &str, other: &Measured<&str, Stolen>, limit| {
        let mut goal = format!("{}, {case}, over {role} ({})", ours.kind, other.kind);
        // With a thief the best samples are those in which it was asleep.
        if !matches!(case, Case::Duel(_)) {
            goal += &format!(", by the best {:.2} ×", ours.best / other.best);
        }
        Goal::at_most(goal, " ×", ours.median / other.median, limit)
    };
    let peer = outcome.best_peer().unwrap_or(crossbeam);
    let best_peer = || Some(goal(&format!("best peer {kind}"), peer, 1.0));
    let floor = || {
        outcome
            .contenders
            .get(4)
            .map(|floor| goal("the floor", floor, 2.0))
    };
    let goals = match (kind, case) {
        (Kind::Fifo, Case::Pairs(_)) => [best_peer(), floor()],
        (Kind::Fifo, Case::HalfSteal) => [Some(goal("the same steal", st3, 1.0 / 3.0)), None],
        (Kind::Lifo, Case::Pairs(64 | 256)) | (_, Case::Duel(_)) => [best_peer(), None],
        (Kind::Lifo, Case::Pairs(_) | Case::HalfSteal) | (_, Case::Fill | Case::Drain) => {
            [None, None]
        }
    };
    goals.into_iter().flatten().collect()
}
