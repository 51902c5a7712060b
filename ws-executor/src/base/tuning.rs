//! The numbers of the scheduler, with their reasons.

use std::time::Duration;

/// How often in a row the LIFO slot may be used before the ring has its turn. Two
/// tasks that wake each other would otherwise starve all others.
pub(crate) const LIFO_CAP: u32 = 3;

/// If polls take longer than this on average, in nanoseconds, a hot cache gains nothing. Then
/// tasks run in the order in which they were woken, which is fairer. With this bound, 1,000
/// tasks from outside beside chains of 10 µs polls (`busy2`) take a hundredth of the time.
pub(crate) const LIFO_WORTH: f64 = 2_000.0;

/// The fewest and the most ticks between two looks at the injector while there is
/// local work. The upper bound is the promise to tasks from outside.
pub(crate) const INJECTOR_INTERVAL: (u32, u32) = (1, 61);

/// How long a task from outside should wait at most while there is local work. The interval is
/// this time, divided by the mean time of a poll. A look at an empty injector and a clock read
/// take some 40 ns, so this costs a fifth of a percent.
pub(crate) const INJECTOR_LATENCY: Duration = Duration::from_micros(20);

/// How long the local polls of an interval must have taken for the injector's turn to be
/// measured in time. After shorter polls the turn is a batch. A turn that is measured in time
/// lasts for [`INJECTOR_LATENCY`] at least, so the injector gets at most two thirds of a
/// worker's time. It runs one job at least. See `scheduler/worker/pace.rs`.
pub(crate) const fn turn_worth() -> Duration {
    Duration::from_micros(10)
}

/// How long a turn of the injector lasts at most: a local task should not wait longer. Not
/// measured.
pub(crate) const LONGEST_TURN: Duration = Duration::from_millis(1);

/// How long a worker that has tasks to run does not look at the driver, if no other thread is
/// in it. A look at the reactor is a system call: a look at every tick made an echo of one
/// message a fifth slower.
pub(crate) const DRIVER_LATENCY: Duration = Duration::from_micros(100);

/// The same bound as a number of polls, whatever they take. Not measured: it matters only if
/// polls take less than 100 ns.
pub(crate) const DRIVER_INTERVAL: u64 = 1_000;

/// How much work must be queued on a worker before others are told of it, in nanoseconds: the
/// cost of waking one. See `scheduler/worker/share.rs`.
pub(crate) const fn share_worth() -> f64 {
    20_000.0
}

/// How many tasks in a ring are a backlog, if they are there at two looks of the monitor.
pub(crate) const BACKLOG: usize = 2;

/// How many jobs are taken from the injector at once, at most. Half of the ring, so
/// that there is room left for what they spawn.
pub(crate) const INJECTOR_BATCH: usize = 128;

/// How often an idle worker looks everywhere before it parks: at least and at most. The number
/// adapts between the two. A futex call costs as much as some hundred looks. But on a machine
/// that has nothing to do the looks are a waste, and with many workers each round is many
/// looks.
pub(crate) const fn search_rounds(workers: usize) -> (u32, u32) {
    let most = 300 / workers as u32;
    if most < 8 { (1, 8) } else { (8, most) }
}

/// How long the monitor sleeps between two looks while something is at risk that a parked
/// worker could do. A task that is stuck in a slot is found after one to two of these pauses,
/// and Linux adds some 60 µs to each: with 450 µs a rescue took 1.1 ms. The other pauses, and
/// when each is used, are in `scheduler/monitor/look.rs`.
pub(crate) const PERIOD: Duration = Duration::from_micros(350);

/// The longest pause while nothing is at risk, but something was not long ago. With a look every 350 µs, a stream of one message a millisecond cost more looks
/// than messages.
pub(crate) const CALM_PERIOD: Duration = Duration::from_micros(4 * 350);

/// How long the monitor looks more often after it had to act. Not measured: long beside the
/// pauses between the requests of a busy server, of which now and then one blocks.
pub(crate) const WARY: Duration = Duration::from_secs(1);

/// The longest pause while tasks are queued and no worker is parked. With it and [`KEPT`], a
/// task that finds every worker kept is polled within 20 ms. A look costs some 10 µs of CPU
/// time.
pub(crate) const BUSY_PERIOD: Duration = Duration::from_millis(4);

/// The longest pause while nothing is at risk, and nothing was for a while. As long as that of
/// Go's `sysmon`.
pub(crate) const QUIET_PERIOD: Duration = Duration::from_millis(10);

/// How long no worker must have begun a poll before a spare thread does. Before that, the
/// workers' threads may only be waiting for a core. Two ticks of a system with 250 ticks a
/// second.
pub(crate) const KEPT: Duration = Duration::from_millis(8);

/// How many looks in a row must find nothing before the monitor sleeps, if its last sleep was
/// short. With one, every message of a sparse stream called it anew.
pub(crate) const QUIET_LOOKS: u32 = 3;

/// A poll that takes longer is a stall. The tools of tokio and Go use different bounds; this
/// one is what a user notices.
pub(crate) const STALL: Duration = Duration::from_millis(100);

/// How many spare threads there may be. Not measured: enough for a few tasks that block in
/// their polls, where they should not.
pub(crate) const SPARES: usize = 8;

/// How many nested calls of `block_on` on one worker run other tasks while they wait, if it is
/// not known how much of the stack is used.
pub(crate) const MAX_NESTING: u32 = 32;

/// How often a `block_on` outside of workers looks whether it was woken, before it sleeps: at
/// least and at most. The number adapts between the two.
pub(crate) const BLOCK_ON_SPINS: (u32, u32) = (10, 100);

/// A sleep that is over sooner than this was not worth it. This is about what the longest
/// search takes, and what falling asleep and waking cost. With 50 µs, and searches to match, a
/// lone task spawned from outside now and then cost ten times the CPU time.
pub(crate) const SPIN_WORTH: Duration = Duration::from_micros(10);

/// How often a worker that waits for a fork looks for others before it sleeps: first so many
/// times without a pause, then so many times with a yield. Not measured beyond two workers.
pub(crate) const HELP_ROUNDS: (u32, u32) = (200, 64);

/// How many polls go by, inside a nested `block_on`, before a fork from the worker's own lane
/// has its turn although tasks are due. As often as the injector at the least; not measured.
pub(crate) const FORK_INTERVAL: u64 = 61;

/// How many intervals of polls go by before a computation has its turn although tasks are due.
/// 16 intervals are some 300 µs of polls: under full load of tasks, one computation starts
/// after each such time.
pub(crate) const COMPUTATION_INTERVALS: u32 = 16;

/// How often a worker looks everywhere once more before it parks, after it has run a fork or
/// while another worker is in a join. Forks come in bursts, and the worker that pushes them
/// pays for waking others. The searching worker yields between the looks, as rayon does,
/// because a thread that waits for the join may need the core. All looks take some 30 µs.
pub(crate) const FORK_YIELDS: u32 = 64;

/// How long a fork must have been in a lane before it is stolen. A steal makes every other
/// thread of the process pass a fence (`ws_core::sync::asymmetric`). That takes 10 µs here if
/// the threads run on other cores of a virtual machine, and costs the victim 5 µs. A fork that
/// is taken back sooner is not worth a steal. One that is still there after this time is as a
/// rule the larger part of the work that is left.
pub(crate) const RIPE: Duration = Duration::from_micros(10);
