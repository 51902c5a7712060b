//! A parallel run: nodes on branches, branches on any executor.
//!
//! A *branch* is a task that runs one node after the other. When a node is done, its
//! branch counts down what each successor still misses; of those that miss nothing any
//! more it goes on with the first one itself and spawns a branch for each of the others.
//! So a chain runs on one task, and a fan-out of `n` costs `n - 1` spawns. The first
//! branch is not spawned: it is part of the future of the run.
//!
//! All that a run shares is in one allocation: the slots of the values, the counters,
//! the result. A spawned branch is one future, whose place is the executor's to choose.
//! There is no channel.
//!
//! # How a run ends
//!
//! The result of the tail, an error by `?`, a panic, a deadline: whatever comes first is
//! the end, and cancels the run. A branch that is cancelled drops the future of its node
//! and leaves. The run returns when the last branch has left, so nothing of it lives on
//! in the executor. If the future of the run is dropped, the run is cancelled and its
//! branches leave at their next poll, to which they are woken.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | what it makes visible |
//! |---|---|---|---|
//! | `run.ready` | counting down `missing` | the count that reaches 0 | the values that the node misses, from all who made them |
//! | `run.left` | counting down `live` | the run's look at `live` | all that branches did, and that their futures are gone |
//!
//! `cancelled` is set before the lock of `waiting` is taken to wake the branches, and
//! looked at after a branch has left its waker there under the same lock: one of the two
//! sees the other.

use std::any::Any;
use std::fmt;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use ws_core::Spawn;
use ws_core::sync::Mutex;
use ws_core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use super::attempt::Site;
use super::bound::Bound;
use super::limit::Limit;
use super::observe::{At, Observer, tell};
use super::outcome::Flow;
use super::testing::Scripted;
use super::{Graph, lock};
use crate::task::contain::{contain, ignore_panic};

/// The shape of a run, as the macro writes it down.
#[derive(Debug)]
pub struct Plan<const N: usize> {
    /// What it is the plan of.
    pub graph: &'static Graph,
    /// How many nodes each node waits for.
    pub needs: [u32; N],
    /// Who waits for each node.
    pub next: [&'static [u32]; N],
    /// The nodes that wait for nobody.
    pub first: &'static [u32],
    /// Where each node is to run.
    pub place: [Place; N],
    /// The limits of the nodes that have one.
    pub limits: &'static [usize],
}

/// Where a node that is ready runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the branch that made it ready, if that has nothing else to do.
    Any,
    /// On the branch that made it ready, after what that has to do.
    Inline,
    /// On a branch of its own.
    Spawn,
}

/// The shared memory of a run. A node gets one, and with it its inputs.
pub struct Ctx<St, R, S, const N: usize> {
    shared: Arc<Shared<St, R, S, N>>,
}

impl<St, R, S, const N: usize> Clone for Ctx<St, R, S, N> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

struct Shared<St, R, S, const N: usize> {
    state: St,
    plan: &'static Plan<N>,
    bound: Bound<S>,
    missing: [AtomicU32; N],
    /// Branches that have not left.
    live: AtomicUsize,
    cancelled: AtomicBool,
    end: Mutex<Option<End<R>>>,
    waiting: Mutex<Waiting>,
}

/// Why a run is over, if not because all of its nodes are done.
enum End<R> {
    Exit(R),
    Panicked(Box<dyn Any + Send>),
    Late,
    /// The executor dropped a branch.
    Lost,
}

/// Who is to be woken: every branch that is pending when the run is cancelled, and the
/// run when its last branch leaves.
#[derive(Default)]
struct Waiting {
    branches: Vec<Option<Waker>>,
    run: Option<Waker>,
}

/// How a run ended.
pub enum Ended<R, C> {
    /// With a result.
    Exit(R),
    /// All nodes of a partial run are done; these are their values.
    Complete(C),
    /// The deadline passed.
    Late,
}

impl<R, C> fmt::Debug for Ended<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exit(_) => "Exit",
            Self::Complete(_) => "Complete",
            Self::Late => "Late",
        })
    }
}

impl<St, R, S, const N: usize> fmt::Debug for Ctx<St, R, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx")
            .field("graph", &self.shared.plan.graph.name())
            .finish_non_exhaustive()
    }
}

impl<St, R, S, const N: usize> Ctx<St, R, S, N> {
    /// The slots.
    #[inline]
    pub fn state(&self) -> &St {
        &self.shared.state
    }

    /// Where the node with this index runs.
    pub fn site(&self, node: usize) -> Site<'_> {
        let bound = &self.shared.bound;
        let at = At::new(self.shared.plan.graph, node);
        Site {
            timer: bound.timer(),
            observer: bound.observer().map(|observer| (observer, at)),
        }
    }

    /// What a test says the next attempt of a node comes to.
    #[inline]
    pub fn scripted<T: 'static>(&self, node: usize) -> Option<Scripted<T>> {
        self.shared.bound.scripts()?.next(node)
    }

    /// What this run is bound to.
    pub fn bound(&self) -> &Bound<S> {
        &self.shared.bound
    }

    /// How many runs of this graph may be in the node with this limit.
    pub fn limit(&self, index: usize) -> &Limit {
        self.shared.bound.limit(index, self.shared.plan.limits)
    }

    /// Runs code that blocks on a thread for that.
    ///
    /// It counts as a branch: it cannot be cancelled once it runs, so a run does not
    /// return before it is over.
    pub fn blocking<T>(&self, code: impl FnOnce() -> T + Send + 'static) -> crate::Task<T>
    where
        St: Send + Sync + 'static,
        R: Send + 'static,
        S: Send + Sync + 'static,
        T: Send + 'static,
    {
        let member = Membership::new(self);
        crate::spawn_blocking(move || {
            let output = contain(code);
            member.leave();
            output.unwrap_or_else(|payload| resume_unwind(payload))
        })
    }

    /// The executor of this run.
    pub fn spawner(&self) -> &S {
        self.shared.bound.spawner()
    }

    /// Ends the run, unless it has ended, and cancels its branches.
    fn finish(&self, end: End<R>) {
        let shared = &*self.shared;
        let mut slot = lock(&shared.end);
        let late = if slot.is_none() {
            *slot = Some(end);
            None
        } else {
            Some(end)
        };
        drop(slot);
        // Relaxed: whoever sees 1 is the only branch, and only a branch makes others.
        if shared.live.load(Ordering::Relaxed) == 1 {
            shared.cancelled.store(true, Ordering::Relaxed);
        } else {
            self.cancel();
        }
        // The result of a node that lost the race is dropped like any other value of a
        // run that is cancelled: a panic goes to the hook.
        ignore_panic(|| drop(late));
    }

    fn cancel(&self) {
        // Relaxed is enough: see `waiting` in the module docs.
        self.shared.cancelled.store(true, Ordering::Relaxed);
        let branches = std::mem::take(&mut lock(&self.shared.waiting).branches);
        for waker in branches.into_iter().flatten() {
            ignore_panic(|| waker.wake());
        }
    }

    fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }

    /// Leaves the waker of a pending branch, so that a cancellation finds it.
    fn wait(&self, seat: &mut Option<usize>, waker: &Waker) {
        let known = |waiting: &Waiting| {
            let old = waiting.branches.get((*seat)?)?.as_ref()?;
            Some(old.will_wake(waker))
        };
        if known(&lock(&self.shared.waiting)) == Some(true) {
            return;
        }
        let waker = waker.clone(); // foreign code: not under the lock
        let mut waiting = lock(&self.shared.waiting);
        // A cancellation takes the whole list, and the seats with it.
        let seat = match *seat {
            Some(seat) if seat < waiting.branches.len() => seat,
            _ => {
                waiting.branches.push(None);
                *seat.insert(waiting.branches.len() - 1)
            }
        };
        let old = waiting.branches[seat].replace(waker);
        drop(waiting);
        ignore_panic(|| drop(old));
    }

    /// Takes back the waker of a branch.
    fn stand_up(&self, seat: usize) {
        let mut waiting = lock(&self.shared.waiting);
        let waker = waiting.branches.get_mut(seat).and_then(Option::take);
        drop(waiting);
        ignore_panic(|| drop(waker));
    }

    /// Counts down the successors of `node`; what is ready goes to `ready`.
    fn done(&self, node: u32, mut ready: impl FnMut(u32)) {
        for &next in self.shared.plan.next[node as usize] {
            // ORDERING(run.ready): both sides; who counts to 0 sees the values of all
            // who counted before.
            if self.shared.missing[next as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                ready(next);
            }
        }
    }
}

/// Being a branch: counted while it lives, wherever it is dropped.
struct Membership<St, R, S, const N: usize> {
    /// There until it is dropped.
    ctx: Option<Ctx<St, R, S, N>>,
    /// Where its waker is, once it was pending.
    seat: Option<usize>,
    /// The branch ran to its end.
    complete: bool,
}

impl<St, R, S, const N: usize> Membership<St, R, S, N> {
    fn new(ctx: &Ctx<St, R, S, N>) -> Self {
        // Relaxed: the branch that spawns this one is itself counted.
        ctx.shared.live.fetch_add(1, Ordering::Relaxed);
        Self {
            ctx: Some(ctx.clone()),
            seat: None,
            complete: false,
        }
    }

    /// The branch has nothing more to run.
    fn leave(mut self) {
        self.complete = true;
    }
}

impl<St, R, S, const N: usize> Drop for Membership<St, R, S, N> {
    fn drop(&mut self) {
        let Some(ctx) = self.ctx.take() else { return };
        if !self.complete && !ctx.is_cancelled() {
            ctx.finish(End::Lost);
        }
        if let Some(seat) = self.seat {
            ctx.stand_up(seat);
        }
        // ORDERING(run.left): release side, and acquire for the last one to wake the run.
        let last = ctx.shared.live.fetch_sub(1, Ordering::AcqRel) == 1;
        let run = if last {
            lock(&ctx.shared.waiting).run.take()
        } else {
            None
        };
        // The values of a run whose future was dropped may go with this.
        ignore_panic(|| drop(ctx));
        if let Some(run) = run {
            ignore_panic(|| run.wake());
        }
    }
}

/// The run's own share; cancels the run when its future is dropped.
struct Owner<St, R, S, const N: usize>(Option<Ctx<St, R, S, N>>);

impl<St, R, S, const N: usize> Owner<St, R, S, N> {
    fn ctx(&self) -> &Ctx<St, R, S, N> {
        self.0.as_ref().expect("there until the run is over")
    }

    /// The shared memory, after the last branch has left.
    ///
    /// A branch lets go of it right after it counted itself out. If one is just between
    /// the two, this yields until it is not: the values are to be gone when a run returns.
    async fn into_shared(mut self) -> Shared<St, R, S, N> {
        loop {
            let ctx = self.0.take().expect("there until the run is over");
            match Arc::try_unwrap(ctx.shared) {
                Ok(shared) => return shared,
                Err(shared) => self.0 = Some(Ctx { shared }),
            }
            crate::yield_now().await;
        }
    }
}

impl<St, R, S, const N: usize> Drop for Owner<St, R, S, N> {
    fn drop(&mut self) {
        if let Some(ctx) = &self.0 {
            ctx.cancel();
        }
    }
}

/// Polls a node with its panics caught, and looks whether the run was cancelled.
///
/// `None`: cancelled. The future of the node is gone when this is ready.
async fn run_node<St, R, S, const N: usize, Fut>(
    ctx: &Ctx<St, R, S, N>,
    seat: &mut Option<usize>,
    node: Fut,
) -> Option<Fut::Output>
where
    Fut: Future,
{
    let mut node = pin!(Some(node));
    let polled = poll_fn(|cx: &mut Context<'_>| {
        if ctx.is_cancelled() {
            return Poll::Ready(Ok(None));
        }
        let future = node.as_mut().as_pin_mut().expect("dropped only when ready");
        match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(Some(output))),
            Err(payload) => Poll::Ready(Err(payload)),
            Ok(Poll::Pending) => {
                ctx.wait(seat, cx.waker());
                // After leaving the waker: see `waiting` in the module docs.
                if ctx.is_cancelled() {
                    Poll::Ready(Ok(None))
                } else {
                    Poll::Pending
                }
            }
        }
    })
    .await;
    let dropped = catch_unwind(AssertUnwindSafe(|| node.set(None)));
    match (polled, dropped) {
        (Ok(output), Ok(())) => output,
        (Err(payload), Ok(())) | (Ok(_), Err(payload)) => {
            ctx.finish(End::Panicked(payload));
            None
        }
        (Err(payload), Err(second)) => {
            ctx.finish(End::Panicked(payload));
            ignore_panic(|| drop(second));
            None
        }
    }
}

/// Tells the observer of a node that begins, and how it ended, wherever it is dropped.
struct Watched<'a> {
    /// The observer, the node, and when it began; nothing if nobody watches.
    watch: Option<(&'a Arc<dyn Observer>, At, Instant)>,
}

impl<'a> Watched<'a> {
    fn new<St, R, S, const N: usize>(ctx: &'a Ctx<St, R, S, N>, node: u32) -> Self {
        let watch = ctx.bound().observer().map(|observer| {
            let at = At::new(ctx.shared.plan.graph, node as usize);
            tell(Some(observer), |observer| observer.started(at));
            (observer, at, Instant::now())
        });
        Self { watch }
    }

    fn ended(mut self, done: bool) {
        if let Some((observer, at, began)) = self.watch.take_if(|_| done) {
            tell(Some(observer), |observer| {
                observer.finished(at, began.elapsed())
            });
        }
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if let Some((observer, at, _)) = self.watch {
            tell(Some(observer), |observer| observer.cancelled(at));
        }
    }
}

/// Runs `node` and whatever it makes ready.
///
/// A function with `Send` in its type instead of an `async fn`: a branch spawns branches,
/// and to know that they are `Send` the compiler must not look into this body.
#[expect(clippy::manual_async_fn, reason = "see above")]
fn branch<St, R, S, const N: usize, P, Fut>(
    mut member: Membership<St, R, S, N>,
    program: P,
    node: u32,
) -> impl Future<Output = ()> + Send + 'static
where
    St: Send + Sync + 'static,
    R: Send + 'static,
    S: Spawn + Send + Sync + 'static,
    P: Fn(Ctx<St, R, S, N>, u32) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = (Ctx<St, R, S, N>, Flow<R>)> + Send + 'static,
{
    async move {
        let mut inline = Vec::new();
        let mut next = Some(node);
        // Goes from node to node, so that each need not count itself in and out.
        let mut given = member.ctx.clone();
        while let Some(node) = next.take().or_else(|| inline.pop()) {
            let ctx = member.ctx.as_ref().expect("there until dropped");
            let watched = Watched::new(ctx, node);
            let own = given.take().expect("given back by the node before");
            // Making the future runs no code of the user's: it is an async block.
            let end = run_node(ctx, &mut member.seat, program(own, node)).await;
            watched.ended(end.is_some());
            let end = end.map(|(own, flow)| {
                given = Some(own);
                flow
            });
            match end {
                Some(ControlFlow::Continue(())) => {
                    ctx.done(node, |ready| match ctx.shared.plan.place[ready as usize] {
                        Place::Inline => inline.push(ready),
                        Place::Any if next.is_none() => next = Some(ready),
                        Place::Any | Place::Spawn => {
                            ctx.spawner()
                                .spawn(branch(Membership::new(ctx), program, ready));
                        }
                    })
                }
                Some(ControlFlow::Break(result)) => ctx.finish(End::Exit(result)),
                None => break,
            }
        }
        drop(given);
        member.leave();
    }
}

/// Runs a graph on the executor of `bound`.
///
/// `program` makes the future of a node. It is a closure without captures: everything a
/// node needs is in the run's shared memory.
pub async fn start<St, R, S, const N: usize, P, Fut>(
    bound: Bound<S>,
    plan: &'static Plan<N>,
    state: St,
    program: P,
) -> Ended<R, St>
where
    St: Send + Sync + 'static,
    R: Send + 'static,
    S: Spawn + Clone + Send + Sync + 'static,
    P: Fn(Ctx<St, R, S, N>, u32) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = (Ctx<St, R, S, N>, Flow<R>)> + Send + 'static,
{
    let deadline = bound.deadline();
    if deadline == Some(Duration::ZERO) {
        return Ended::Late;
    }
    let owner = Owner(Some(Ctx {
        shared: Arc::new(Shared {
            state,
            plan,
            bound,
            missing: plan.needs.map(AtomicU32::new),
            live: AtomicUsize::new(0),
            cancelled: AtomicBool::new(false),
            end: Mutex::new(None),
            waiting: Mutex::new(Waiting::default()),
        }),
    }));
    run_branches(owner.ctx(), program, deadline).await;
    let shared = owner.into_shared().await;
    let mut shared = shared;
    let end = std::mem::take(&mut shared.end).into_inner();
    match end.unwrap_or_else(PoisonError::into_inner) {
        Some(End::Exit(result)) => Ended::Exit(result),
        Some(End::Late) => Ended::Late,
        None => Ended::Complete(shared.state),
        Some(End::Panicked(payload)) => {
            ignore_panic(|| drop(shared));
            resume_unwind(payload)
        }
        Some(End::Lost) => panic!(
            "the executor dropped a branch of the graph `{}`: it was shut down",
            plan.graph.name()
        ),
    }
}

/// Runs the first branch here, spawns the others, and waits until all have left.
async fn run_branches<St, R, S, const N: usize, P, Fut>(
    ctx: &Ctx<St, R, S, N>,
    program: P,
    deadline: Option<Duration>,
) where
    St: Send + Sync + 'static,
    R: Send + 'static,
    S: Spawn + Send + Sync + 'static,
    P: Fn(Ctx<St, R, S, N>, u32) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = (Ctx<St, R, S, N>, Flow<R>)> + Send + 'static,
{
    let mut sleep = deadline.map(|deadline| ctx.bound().timer().sleep(deadline));
    let (first, others) = ctx
        .shared
        .plan
        .first
        .split_first()
        .expect("a graph has a tail");
    // Counted before the others are spawned: the run must not seem over.
    let member = Membership::new(ctx);
    for &node in others {
        ctx.spawner()
            .spawn(branch(Membership::new(ctx), program, node));
    }
    let mut own = pin!(branch(member, program, *first));
    let mut own_done = false;
    poll_fn(|cx| {
        if let Some(sleep) = &mut sleep {
            if !ctx.is_cancelled() && sleep.as_mut().poll(cx).is_ready() {
                ctx.finish(End::Late);
                // Not a branch itself, so one that is alone must hear of it as well.
                ctx.cancel();
            }
        }
        own_done = own_done || own.as_mut().poll(cx).is_ready();
        if own_done {
            poll_left(ctx, cx)
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// Ready when the last branch has left.
fn poll_left<St, R, S, const N: usize>(ctx: &Ctx<St, R, S, N>, cx: &mut Context<'_>) -> Poll<()> {
    // ORDERING(run.left): acquire side; what the branches did is visible, and the waker
    // below is left before `live` is looked at again.
    if ctx.shared.live.load(Ordering::Acquire) == 0 {
        return Poll::Ready(());
    }
    let waker = cx.waker().clone();
    let old = lock(&ctx.shared.waiting).run.replace(waker);
    drop(old);
    // The last branch counts down before it takes this lock: it finds the waker, or this
    // finds 0.
    if ctx.shared.live.load(Ordering::Acquire) == 0 {
        Poll::Ready(())
    } else {
        Poll::Pending
    }
}
