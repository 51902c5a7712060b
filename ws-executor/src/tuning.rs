//! The numbers of the scheduler, with their reasons.

use std::time::Duration;

/// How often in a row the LIFO slot may be used before the ring has its turn. Two
/// tasks that wake each other would otherwise starve all others.
pub(crate) const LIFO_CAP: u32 = 3;

/// Polls that take longer than this on the mean, in nanoseconds, gain nothing from a
/// hot cache: then tasks run in the order they were woken in, which is fairer. With it,
/// 1,000 tasks from outside beside chains of 10 µs polls (`busy2`) take a hundredth.
pub(crate) const LIFO_WORTH: f64 = 2_000.0;

/// The fewest and the most ticks between two looks at the injector while there is
/// local work. The upper bound is the promise to tasks from outside.
pub(crate) const INJECTOR_INTERVAL: (u32, u32) = (1, 61);

/// How long a task from outside should wait at most while there is local work: the
/// interval is this, divided by the mean time of a poll. A look at an empty injector
/// and a clock read take some 40 ns, so this costs a fifth of a percent.
pub(crate) const INJECTOR_LATENCY: Duration = Duration::from_micros(20);

/// How long the local polls of an interval must have taken for the injector's turn to be
/// measured in time; after shorter ones it is a batch. Such a turn lasts for
/// [`INJECTOR_LATENCY`] at the least, so the injector gets at most two thirds of a worker's
/// time, and one job at the least. See `worker/pace.rs`.
pub(crate) const fn turn_worth() -> Duration {
    Duration::from_micros(10)
}

/// How long a turn of the injector lasts at most: a local task should not wait longer. Not
/// measured.
pub(crate) const LONGEST_TURN: Duration = Duration::from_millis(1);

/// How long a worker with tasks to run leaves the driver alone, if no one else is in it.
/// A look at the reactor is a system call: at every tick it made an echo of one message
/// a fifth slower.
pub(crate) const DRIVER_LATENCY: Duration = Duration::from_micros(100);

/// The same in polls, whatever they take. Not measured: it is beyond the other bound
/// unless polls take less than 100 ns.
pub(crate) const DRIVER_INTERVAL: u64 = 1_000;

/// How much work must be queued on a worker before others are told of it, in nanoseconds:
/// what it costs to wake one. See `worker/share.rs`.
pub(crate) const fn share_worth() -> f64 {
    20_000.0
}

/// How many tasks in a ring are a backlog, if they are there at two looks of the monitor.
pub(crate) const BACKLOG: usize = 2;

/// How many jobs are taken from the injector at once, at most. Half of the ring, so
/// that there is room left for what they spawn.
pub(crate) const INJECTOR_BATCH: usize = 128;

/// How often an idle worker looks everywhere before it parks: at least and at most, as it
/// proves useful. A futex call costs as much as some hundred looks; but on a machine that
/// has nothing to do they are a waste, and with many workers each round is many looks.
pub(crate) const fn search_rounds(workers: usize) -> (u32, u32) {
    let most = 300 / workers as u32;
    if most < 8 { (1, 8) } else { (8, most) }
}

/// How long the monitor sleeps between two looks while something is at risk that a parked
/// worker could do. A task that is stuck in a slot is found after one to two of them, and Linux
/// adds some 60 µs to each: with 450 µs a rescue took 1.1 ms. The other pauses, and when each
/// is used, are in `monitor/look.rs`.
pub(crate) const PERIOD: Duration = Duration::from_micros(350);

/// The longest pause while slots and the driver are used, but nothing is at risk. With a
/// look every 350 µs, a message a millisecond cost more looks than messages.
pub(crate) const CALM_PERIOD: Duration = Duration::from_micros(8 * 350);

/// The longest pause while tasks are queued and no worker is parked. With it and [`KEPT`], a
/// task that finds every worker kept is polled within 20 ms. A look costs some 10 µs of CPU
/// time.
pub(crate) const BUSY_PERIOD: Duration = Duration::from_millis(4);

/// The longest pause while a worker is in one poll for long and nothing else happens. As long
/// as that of Go's `sysmon`.
pub(crate) const QUIET_PERIOD: Duration = Duration::from_millis(10);

/// How long nobody must have begun a poll before a spare thread does: the workers' threads
/// may only be waiting for a core. Two ticks of a system with 250 of them a second.
pub(crate) const KEPT: Duration = Duration::from_millis(8);

/// How many looks in a row must find nothing before the monitor sleeps. With one, every
/// message of a sparse stream called it anew.
pub(crate) const QUIET_LOOKS: u32 = 3;

/// A poll that takes longer is a stall. What tokio's and Go's tools take for one differs; this
/// is what a user notices.
pub(crate) const STALL: Duration = Duration::from_millis(100);

/// How many spare threads there may be. Not measured: enough for a few tasks that block in
/// their polls, where they should not.
pub(crate) const SPARES: usize = 8;

/// How many calls of `block_on` on one worker run other tasks while they wait, one
/// inside the other, where it is not known how much of the stack is used.
pub(crate) const MAX_NESTING: u32 = 32;

/// How often a `block_on` outside of workers looks whether it was woken, before it
/// sleeps: between these, as it proves useful.
pub(crate) const BLOCK_ON_SPINS: (u32, u32) = (10, 100);

/// A sleep that is over sooner than this was not worth it: it is about what the longest
/// search takes, and what falling asleep and waking cost. With 50 µs, and searches to
/// match, a lone task spawned from outside now and then cost ten times the CPU time.
pub(crate) const SPIN_WORTH: Duration = Duration::from_micros(10);

/// How often a worker that waits for a fork looks for others before it sleeps: so often
/// without a pause, then so often with a yield. Not measured beyond two workers.
pub(crate) const HELP_ROUNDS: (u32, u32) = (200, 64);

/// How many polls go by, on top of a `block_on`, before a fork of the worker's own has its
/// turn although tasks are due. As often as the injector at the least; not measured.
pub(crate) const FORK_INTERVAL: u64 = 61;

/// How many intervals of polls go by before a computation has its turn although tasks
/// are due: 16 are some 300 µs of polls, so that beside tasks that take all the time
/// there is, computations get what they take in pieces of such a distance.
pub(crate) const COMPUTATION_INTERVALS: u32 = 16;

/// How often a worker looks everywhere once more before it parks, after it has run a fork
/// or while another worker is in a join: forks come in bursts, and whoever forks pays for
/// waking others. It yields in between, as rayon does: a thread that waits for the join
/// may need the core. Some 30 µs.
pub(crate) const FORK_YIELDS: u32 = 64;

/// How long a fork has to be in a lane before it is stolen. A steal makes every other
/// thread of the process pass a fence (`ws_core::sync::asymmetric`): that takes 10 µs here
/// if they run on other cores of a virtual machine, and costs its victim 5. A fork that is
/// taken back sooner is not worth it, and one that is still there after such a time is as
/// a rule the larger part of what is left.
pub(crate) const RIPE: Duration = Duration::from_micros(10);
