//! Checks any parker against the [contract](super#the-contract), in one call.
//!
//! ```
//! use ws_core::{ThreadParker, park::conformance};
//!
//! conformance::check(ThreadParker::new);
//! ```
//!
//! The suite runs these rules, the basic rules first, each on a thread and a parker of
//! its own. It panics at the first rule that is broken, with the rule's name. The
//! number is that of the rule of the contract.
//!
//! | rule | contract | what is checked |
//! |---|---|---|
//! | `token_before_park` | 2 | a token given before `park` by another thread ends it |
//! | `self_unpark` | 6 | so does a token that the parking thread gives itself |
//! | `wakes_parked_thread` | 2 | a token given to a sleeping thread wakes it |
//! | `blocks_without_token` | 4 | `park` blocks as a rule when there is no token |
//! | `short_timeout` | 5 | a timed park returns after its time, as a rule not before |
//! | `timeout_keeps_later_token` | 5 | a token that comes after a time-out is kept |
//! | `token_ends_one_park` | 2 | after a `park` took the token, the next blocks |
//! | `zero_timeout` | 5 | `park_timeout` of zero does not block, and takes a token |
//! | `longest_timeout` | 5 | `Duration::MAX` neither panics nor returns early, and is woken |
//! | `unpark_waits_for_nobody` | 6 | thousands of `unpark`s return although no thread parks |
//! | `two_unparks_one_token` | 1 | two `unpark`s end one `park`, not two |
//! | `ping_pong` | 2 | 10,000 hand-overs between two threads, with varying delays |
//! | `token_publishes` | 3 | what was written before `unpark` is seen after `park` |
//! | `many_unparkers` | 3 | the same for four threads that unpark at once |
//! | `moved_parker` | 6 | a parker and its token move between threads |
//! | `timeout_leaves_nothing` | 5 | after a time-out the parker blocks and wakes as before |
//! | `timeout_races_unpark` | 5 | a token that comes with the time-out is taken or kept |
//! | `unparker_outlives_parker` | 7 | `unpark` without a parker does nothing |
//! | `parker_outlives_unparkers` | 7 | a parker without unparkers still blocks, and makes more |
//! | `drop_gives_no_token` | 7 | dropping an unparker wakes no thread |
//! | `thread_local_destructor` | 6 | `unpark` works while a thread's locals are torn down |
//!
//! # How it judges
//!
//! - A wake-up that does not come is a hang. A watchdog turns the hang into a panic
//!   of the caller. The threads that hang are left behind.
//! - The contract allows spurious returns, so the suite judges over many rounds
//!   whether a call blocks. One round in six is enough. A parker that returns early
//!   from a random third of its calls passes. A parker that never blocks does not
//!   pass.
//! - Rule 8 is checked along the way: a panic in any rule breaks it.
//! - Real threads and real clocks are used, whatever `crate::sync` is. The suite finds
//!   a race only if the race happens on this machine. It varies the delays, but a model
//!   checker finds more.
//!
//! The suite takes about a second.

mod rule;
mod rules;
mod tools;

use core::time::Duration;
use std::sync::Arc;

use self::rule::Make;
use super::Park;

/// How long a rule may take before it counts as hanging. The slowest rule needs about
/// 0.1 s on two quiet cores. The rest is for machines that are not quiet.
const PATIENCE: Duration = Duration::from_secs(10);

/// Checks that the parkers returned by `make` keep the contract.
///
/// # Panics
///
/// Panics if a rule is broken. The message names the rule and says how it is broken.
///
/// ```
/// use std::time::Duration;
/// use ws_core::park::{Park, Unpark, conformance};
///
/// struct Busy;
///
/// impl Park for Busy {
///     type Unparker = Nobody;
///     fn unparker(&self) -> Nobody { Nobody }
///     fn park(&self) {} // never blocks
///     fn park_timeout(&self, _: Duration) {}
/// }
///
/// #[derive(Clone)]
/// struct Nobody;
///
/// impl Unpark for Nobody {
///     fn unpark(&self) {}
/// }
///
/// let verdict = std::panic::catch_unwind(|| conformance::check(|| Busy));
/// let message = *verdict.unwrap_err().downcast::<String>().unwrap();
/// assert!(message.contains("`blocks_without_token`"));
/// ```
pub fn check<P: Park + 'static>(make: impl Fn() -> P + Send + Sync + 'static) {
    check_within(PATIENCE, make);
}

/// Like [`check`], but a rule counts as hanging after `patience` instead of 10 s.
///
/// A shorter `patience` makes sense for parkers that are known to hang, a longer one
/// under an emulator or a sanitizer.
///
/// # Panics
///
/// Panics if a rule is broken. The message names the rule and says how it is broken.
///
/// ```
/// use std::time::Duration;
/// use ws_core::{ThreadParker, park::conformance};
///
/// conformance::check_within(Duration::from_secs(60), ThreadParker::new);
/// ```
pub fn check_within<P: Park + 'static>(
    patience: Duration,
    make: impl Fn() -> P + Send + Sync + 'static,
) {
    let make: Make<P> = Arc::new(make);
    for rule in rules::all() {
        if let Err(how) = rule.run(&make, patience) {
            panic!(
                "the parker breaks `{}` (rule {} of the contract): {how}",
                rule.name, rule.contract,
            );
        }
    }
}
