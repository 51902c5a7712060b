//! The sleep protocol: which workers are parked, which ones search, and which one a push
//! notifies.
//!
//! # The problem
//!
//! A worker that finds nothing to do parks. A thread that pushes a task notifies a parked
//! worker, but only if none is searching already: a notification is a system call. Two pairs of
//! steps race: a worker looks at the queues and then parks; a pusher pushes and then looks for
//! a worker to notify. If both sides lose, a task in the injector waits for ever: workers sleep
//! without a timeout, and the monitor looks only at slots, rings and the driver.
//!
//! # States of a worker
//!
//! ```text
//!            finds work                       finds nothing
//!   running ◄────────── searching ─────────────────────────► parked
//!      │                    ▲ ▲                                 │
//!      └────────────────────┘ └─────────────────────────────────┘
//!        out of local work      notified: counted as searching
//!        (if few search)        before it wakes, unless in the driver
//! ```
//!
//! The workers share the number of searching workers, the *wake table* with one bit for each
//! parked worker (`table.rs`), and a flag for each worker that says whether it was notified.
//!
//! # The protocol
//!
//! A pusher ([`Sleepers::after_push`]):
//! 1. (P1) has published the task in a queue;
//! 2. (P2) fences;
//! 3. (P3) if a worker is searching, stops: that searcher is responsible;
//! 4. (P4) takes a worker out of the wake table; if there is none, calls the
//!    [monitor](crate::scheduler::monitor) and stops;
//! 5. (P5) counts that worker as searching, marks it notified, unparks it. A worker that sleeps
//!    in the driver is not counted: the reactor may run long tasks of its own there.
//!
//! A worker that found nothing ([`Sleepers::start_parking`]):
//! 1. (W1) enters the wake table;
//! 2. (W2) stops searching, if it was searching: lowers the count;
//! 3. (W3) fences; with the heavy fence, if some worker is in a join (see below);
//! 4. (W4) looks at every queue once more. If one has a task, the worker takes itself out of
//!    the table and searches ([`Sleepers::cancel_parking`]). If its bit is already clear, a pusher
//!    has taken the worker and is at P5: then the worker waits for that notification, as if it
//!    had seen no task;
//! 5. (W5) parks until it is marked notified ([`Sleepers::wake_up`]), however often the parker
//!    returns. A worker that was notified in the driver counts itself as searching.
//!
//! A searcher that finds a task ([`Sleepers::found_work`]):
//! 1. (S1) lowers the count; if others still search, that is all;
//! 2. (S2) fences;
//! 3. (S3) if any queue has a task, acts as a pusher at P4. It does the same if the driver was
//!    left and must not be without a worker.
//!
//! All these fences are `fence(SeqCst)`, which costs some 2 ns. The asymmetric pair of
//! [`asymmetric`] would save the fence at P2 and make W3 a system call. That call takes 0.4 µs,
//! and 11 to 14 µs while another thread of the process runs. A worker that parks for I/O makes
//! about one push a park: with the pair, an echo over tokio's I/O took 10 % more CPU time.
//!
//! Forks are the exception: a join pushes one every few nanoseconds. That push uses the light
//! fence ([`Sleepers::after_fork`]), and W3 the heavy one. Only a worker in a join pushes forks in
//! this way. So a parking worker reads whether any worker is in a join, and makes the system
//! call only then. A worker sets that flag and then fences: if the parking worker reads the
//! flag too early, the pushes that follow see the parking worker in the table.
//!
//! # Why no task is forgotten
//!
//! Consider the pusher of a task. There are three cases.
//!
//! - The pusher went through P5. The notified worker searches, and a search looks at every
//!   queue. If that is the worker in the driver, then no other was parked, except perhaps one
//!   on its way into the driver; that one does not turn the driver then. A worker that parks
//!   before the turn ends sees the task at W4.
//! - The pusher stopped at P4: the table was empty. Consider any worker. If it had not reached
//!   W1, its fence W3 comes after this P2, because otherwise P4 would have seen its bit. So its
//!   W4 sees the task. If another thread had taken the worker before, that thread notifies it,
//!   and the worker searches.
//! - The pusher stopped at P3: a worker was searching. That worker lowers the count later, at
//!   W2 or S1. The last searcher to do so fences. P2 comes before that fence, because otherwise
//!   P3 would have seen the lower count. So W4 or S3 sees the task: the worker searches itself,
//!   or notifies another. If S3 finds no worker parked, it calls the monitor. Its fence comes
//!   before the W3 of each worker that parks later, so that worker sees the task at W4.
//!
//! The count must never be too high: that would hide pushes for ever. It never is, because a
//! worker that a pusher has counted lowers the count once, and not before it is marked
//! notified, which comes after the counting. A worker that is notified in its parker is counted
//! by the pusher. One that is notified in the driver counts itself. Both sides agree where the
//! worker sleeps, because it does not leave the driver before it was marked.
//!
//! # What takes no part
//!
//! "Every queue" is the injector, the computations, the lanes, the rings whose backlog is worth
//! sharing, and the queue of tasks that are pinned to the worker. LIFO slots, and rings with a
//! few short tasks, are pushed to quietly, without P2 to P5: the [monitor](crate::scheduler::monitor)
//! watches them.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `sleep.fence` | fence at P2, S2 | fence at W3, S2 | the task, the count, the table; both ways |
//! | `sleep.fork` | light fence after a fork was pushed | heavy fence at W3 | the fork, the table; both ways |
//! | `sleep.forking` | fence after the first join of a worker has begun | fence at W3 | that forks may be pushed, or the table |
//! | `sleep.closed` | fence at P2 | fence before a worker that waits in a closed executor looks | the pinned task, that the executor is closed; both ways |
//! | `sleep.entered` | W1 | P4 | where the worker sleeps: parker or driver |
//! | `sleep.notified` | P5 | W5 | that the count was raised, or that it was not: that the pusher has seen which worker is in the driver |
//! | `sleep.departures` | taking a worker out of the table | `all_parked_while` | that it is not in the table |
//! | `sleep.departed` | the end of W4 or W5 | `all_parked_while` | that the worker has left the table |
//! | `sleep.raised` | the thread that raises the count | P3 | that the searcher has left the table |
//! | `sleep.searched` | W2, S1 | W2, S1 of the last searcher | what the searcher moved or handed on |
//!
//! No model shows what fails without `sleep.raised`. Such a failure needs a pusher that reads
//! the raised count, and a drain that sees the end of this pusher but misses the departure
//! before it. Nor does a model show what fails without the second fence of `all_parked_while`:
//! loom accepts the first one as enough, but the memory model does not.

#[cfg(all(
    test,
    target_os = "linux",
    target_arch = "x86_64",
    not(any(ws_loom, ws_shuttle, miri))
))]
mod litmus;
mod table;

use ws_core::chaos;
use ws_core::sync::CachePadded;
use ws_core::sync::asymmetric;
use ws_core::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

use self::table::WakeTable;

/// No worker has this number.
const NO_ONE: usize = usize::MAX;

/// The shared side of the protocol; see the module docs for the names of the steps.
pub struct Sleepers {
    /// How many workers search, or were notified in their parker and are about to.
    searching: CachePadded<AtomicUsize>,
    table: WakeTable,
    /// Set by the thread that took the worker out of the table, cleared by the worker.
    notified: Box<[CachePadded<AtomicBool>]>,
    /// The worker that sleeps in the driver. It is notified only if no other worker can be.
    in_driver: AtomicUsize,
    /// How many workers may search without having been notified.
    limit: usize,
}

/// A worker that counts as searching.
///
/// Only [`Sleepers::found_work`], [`Sleepers::found_work_beside`] and [`Sleepers::start_parking`] end
/// this state.
#[must_use = "a searcher that is forgotten keeps all others asleep"]
#[derive(Debug)]
pub struct Searching(());

/// A worker that is in the wake table, or that another thread took out and is about to notify.
#[must_use = "the last look at the queues is still to come"]
#[derive(Debug)]
pub struct Parking {
    worker: usize,
}

/// A parked worker that a pusher took out of the wake table.
#[must_use = "a worker that is not unparked sleeps for ever"]
#[derive(Debug)]
pub struct Sleeper(pub usize);

impl Sleepers {
    /// A protocol for `workers` workers, all of them running. Up to `limit` of them may search
    /// without having been notified.
    pub fn new(workers: usize, limit: usize) -> Self {
        let unset = |_| CachePadded::new(AtomicBool::new(false));
        Self {
            searching: CachePadded::new(AtomicUsize::new(0)),
            table: WakeTable::new(workers),
            notified: (0..workers).map(unset).collect(),
            in_driver: AtomicUsize::new(NO_ONE),
            limit,
        }
    }

    /// As [`new`](Self::new), but all workers count as searching: each is about to search for
    /// the first time, with its [`newborn`](Self::newborn). So a push that comes before they
    /// have begun does not take them for busy.
    pub fn of_newborn(workers: usize, limit: usize) -> Self {
        let sleep = Self::new(workers, limit);
        sleep.searching.store(workers, Ordering::Relaxed);
        sleep
    }

    /// The state of a worker that has not begun. To be called once for each worker.
    pub fn newborn(&self) -> Searching {
        Searching(())
    }

    /// Steps P2 to P5, except the unparking. Returns the worker that the caller must unpark.
    #[inline]
    pub fn after_push(&self) -> Option<Sleeper> {
        chaos::point("sleep.push.published");
        // ORDERING(sleep.fence): P2; without it a task and a parked worker may miss each other.
        fence(Ordering::SeqCst);
        // ORDERING(sleep.raised): acquire side; without it a drain may see the end of this push,
        // but neither the task nor the departure of the worker that this relies on.
        if self.searching.load(Ordering::Acquire) > 0 {
            return None;
        }
        self.take_sleeper()
    }

    /// As [`after_push`](Self::after_push), for `count` tasks at once: notifies as many workers
    /// as there are tasks, less those that search already.
    pub fn after_batch(&self, count: usize, mut notify: impl FnMut(Sleeper)) {
        // ORDERING(sleep.fence): P2.
        fence(Ordering::SeqCst);
        // ORDERING(sleep.raised): acquire side.
        let searching = self.searching.load(Ordering::Acquire);
        for _ in searching..count {
            match self.take_sleeper() {
                Some(sleeper) => notify(sleeper),
                None => return,
            }
        }
    }

    /// Step P2 after a push of a fork, and a first look at both tables: that of the helpers
    /// here, and that of the workers in `idle`. Returns whether there is a worker to notify.
    #[inline(always)]
    pub fn after_fork(&self, idle: &Self) -> bool {
        chaos::point("sleep.fork.published");
        // ORDERING(sleep.fork): P2, for both tables.
        asymmetric::light();
        !self.table.is_empty() || !idle.table.is_empty()
    }

    /// Between W3 and W4 of a worker that parks while some worker is in a join: the other half
    /// of the fence in [`after_fork`](Self::after_fork).
    pub fn fence_against_forks(&self) {
        // ORDERING(sleep.fork): W3.
        asymmetric::heavy();
    }

    /// Steps P3 to P5 for a fork, except the unparking. Takes a helper, or else a worker in
    /// `idle`.
    pub fn take_helper(&self, idle: &Self) -> Option<Sleeper> {
        // ORDERING(sleep.fence): P2, against a helper that stops searching.
        fence(Ordering::SeqCst);
        if self.searching.load(Ordering::Relaxed) > 0 {
            return None;
        }
        self.take_sleeper().or_else(|| idle.after_push())
    }

    /// Steps P4 and P5.
    #[inline]
    pub fn take_sleeper(&self) -> Option<Sleeper> {
        if self.table.is_empty() {
            return None;
        }
        let worker = self
            .table
            .take_any(self.in_driver.load(Ordering::Relaxed))?;
        Some(self.count_in(worker))
    }

    /// Steps P2, P4 and P5 for one given worker, after a push that only this worker can see.
    pub fn take_this(&self, worker: usize) -> Option<Sleeper> {
        // ORDERING(sleep.fence): P2.
        fence(Ordering::SeqCst);
        self.table.take(worker).then(|| self.count_in(worker))
    }

    /// Between the two looks of a worker that waits inside a poll: it has seen the executor
    /// closed, and looks at its pinned tasks next. A pusher of such a task calls
    /// [`take_this`](Self::take_this), and then looks whether the executor is closed.
    pub fn fence_against_pinned(&self) {
        // ORDERING(sleep.closed): the pusher sees the executor closed, and unparks the worker;
        // or the worker sees the task.
        fence(Ordering::SeqCst);
    }

    fn count_in(&self, worker: usize) -> Sleeper {
        chaos::point("sleep.push.took");
        if !self.is_in_driver(worker) {
            // ORDERING(sleep.raised): release side.
            self.searching.fetch_add(1, Ordering::Release);
        }
        chaos::point("sleep.push.counted");
        // ORDERING(sleep.notified): release side; the worker lowers the count only
        // after it was raised.
        self.notified[worker].store(true, Ordering::Release);
        Sleeper(worker)
    }

    /// Starts to search, unless enough workers search already.
    pub fn start_searching(&self) -> Option<Searching> {
        if self.searching.load(Ordering::Relaxed) >= self.limit {
            return None;
        }
        // ORDERING(sleep.raised): release side.
        self.searching.fetch_add(1, Ordering::Release);
        Some(Searching(()))
    }

    /// Whether no worker searches, and none is parked, at some moment.
    pub fn nobody_is_about(&self) -> bool {
        self.searching.load(Ordering::Relaxed) == 0 && self.table.is_empty()
    }

    /// Steps S1 and S2: stops searching, with a task in hand. Returns whether the caller must
    /// look for more work, and for a worker to do it (S3).
    #[must_use = "the last searcher is responsible for what is left"]
    pub fn found_work(&self, searching: Searching) -> bool {
        self.stop_searching(searching, || !self.table.is_empty())
    }

    /// As [`found_work`](Self::found_work), if workers that are parked here or in `other` can
    /// do the work.
    #[must_use = "the last searcher is responsible for what is left"]
    pub fn found_work_beside(&self, searching: Searching, other: &Self) -> bool {
        self.stop_searching(searching, || {
            !self.table.is_empty() || !other.table.is_empty()
        })
    }

    fn stop_searching(&self, searching: Searching, someone_parked: impl Fn() -> bool) -> bool {
        let Searching(()) = searching;
        // ORDERING(sleep.searched): acquire and release; the last searcher sees what the others
        // moved into their rings, and what they handed on.
        if self.searching.fetch_sub(1, Ordering::AcqRel) != 1 {
            return false;
        }
        chaos::point("sleep.found.last");
        // ORDERING(sleep.fence): S2; a worker that parks after this look at the table looks at
        // the queues after our fence. The caller looks at them after it, too, and so after P2
        // of a pusher that has seen the higher count.
        fence(Ordering::SeqCst);
        someone_parked()
    }

    /// Steps W1 to W3: publishes that `worker` is about to park.
    pub fn start_parking(&self, worker: usize, searching: Option<Searching>) -> Parking {
        self.table.enter(worker);
        chaos::point("sleep.park.published");
        if let Some(Searching(())) = searching {
            // ORDERING(sleep.searched): acquire and release, as in `found_work`.
            self.searching.fetch_sub(1, Ordering::AcqRel);
        }
        // ORDERING(sleep.fence): W3.
        fence(Ordering::SeqCst);
        chaos::point("sleep.park.fenced");
        Parking { worker }
    }

    /// The end of step W4: there is work after all. Fails if a pusher was faster: then its
    /// notification is on the way.
    pub fn cancel_parking(&self, parking: Parking) -> Result<Searching, Parking> {
        if !self.table.take(parking.worker) {
            return Err(parking);
        }
        // ORDERING(sleep.raised): release side.
        self.searching.fetch_add(1, Ordering::Release);
        Ok(self.depart(parking))
    }

    /// As [`cancel_parking`](Self::cancel_parking), by a worker that has work of its own, about
    /// which no other worker was to be notified. So it need not count as searching.
    pub fn cancel_parking_with_work(&self, parking: Parking) -> Result<(), Parking> {
        if !self.table.take(parking.worker) {
            return Err(parking);
        }
        // ORDERING(sleep.departed): release side; before everything that the worker does now.
        fence(Ordering::SeqCst);
        Ok(())
    }

    /// Step W5, after each return of the parker: succeeds if the worker was notified.
    pub fn wake_up(&self, parking: Parking) -> Result<Searching, Parking> {
        let notified = &self.notified[parking.worker];
        // ORDERING(sleep.notified): acquire side.
        if notified.load(Ordering::Relaxed) && notified.swap(false, Ordering::Acquire) {
            if self.is_in_driver(parking.worker) {
                // ORDERING(sleep.raised): release side.
                self.searching.fetch_add(1, Ordering::Release);
            }
            Ok(self.depart(parking))
        } else {
            Err(parking)
        }
    }

    /// The worker is out of the table, and about to do something.
    fn depart(&self, _: Parking) -> Searching {
        // ORDERING(sleep.departed): release side; before everything that the worker does now.
        fence(Ordering::SeqCst);
        Searching(())
    }

    /// Says that `worker` is going to sleep in the driver. Called before W1.
    pub fn enter_driver(&self, worker: usize) {
        self.in_driver.store(worker, Ordering::Relaxed);
    }

    /// Says that no worker sleeps in the driver.
    pub fn leave_driver(&self) {
        self.in_driver.store(NO_ONE, Ordering::Relaxed);
    }

    /// Whether `worker` sleeps in the driver. The caller is this worker, or has taken it out of
    /// the table.
    pub fn is_in_driver(&self, worker: usize) -> bool {
        self.in_driver.load(Ordering::Relaxed) == worker
    }

    /// How many workers are parked, at some moment.
    pub fn parked(&self) -> usize {
        self.table.count()
    }

    /// Whether all of `workers` workers are parked and do nothing during `check`, and `check`
    /// succeeds. A push that comes after `check` has looked at its queue takes a worker out of
    /// the table. Then the result is false as well, if `check` sees the end of the push.
    pub fn all_parked_while(&self, workers: usize, check: impl FnOnce() -> bool) -> bool {
        let before = self.table.departures();
        // A worker between W1 and W2 is in the table and counts as searching, so a pusher would
        // rely on it. If no worker is counted now, only departures raise the count.
        let all = self.table.count() == workers && self.nobody_searches() && {
            chaos::point("sleep.drain.counted");
            // ORDERING(sleep.fence): `check` sees the task of a pusher that has seen an
            // older count at P3.
            fence(Ordering::SeqCst);
            check()
        };
        // ORDERING(sleep.departed): acquire side. If `check` saw anything that a worker did
        // after it left the table, the second look sees that the worker left.
        fence(Ordering::SeqCst);
        all && self.table.departures() == before
    }

    fn nobody_searches(&self) -> bool {
        self.searching.load(Ordering::Relaxed) == 0
    }

    /// Whether any worker is parked, at some moment.
    #[inline(always)]
    pub fn someone_parked(&self) -> bool {
        !self.table.is_empty()
    }
}
