//! A parallel run: branches run nodes, and any executor runs branches.
//!
//! A *branch* is a task that runs nodes, one after the other. When a node is done, its branch
//! counts down the missing inputs of each successor. Of the successors that are now ready, the
//! branch runs the first itself, and spawns a branch for each of the others. So a chain runs on
//! one task, and a fan-out of `n` costs `n - 1` spawns. The first branch is not spawned: it is
//! part of the run's future.
//!
//! All that a run shares is in one allocation: the slots of the values, the counters, the
//! result. A spawned branch is one future, and the executor decides where it is stored. There
//! are no channels.
//!
//! # How a run ends
//!
//! A run ends with the result of the tail, an error by `?`, a panic, or its deadline. The first
//! of them cancels the run. A cancelled branch drops the future of its node and leaves. The run
//! returns when the last branch has left, so no part of it stays in the executor. If the future
//! of the run is dropped, the run is cancelled; its branches are woken, and leave at their next
//! poll.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | what it makes visible |
//! |---|---|---|---|
//! | `run.ready` | counting down `missing` | the count that reaches 0 | the inputs of the node, from all branches that made them |
//! | `run.left` | counting down `live` | the run's look at `live` | all that branches did, and that their futures are gone |
//!
//! `cancel.rs` ensures that a branch which falls asleep notices the cancellation. The models
//! `exec.graph` check all of this, with mutants.

mod blocking;
mod branch;
mod ctx;
mod plan;

use std::fmt;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use ws_core::sync::atomic::Ordering;
use ws_core::{Backoff, Spawn};

use self::branch::{Membership, branch};
pub use self::ctx::Ctx;
use self::ctx::{RunEnd, RunShared};
pub use self::plan::{Place, Plan};
use super::bound::Bound;
use super::lock;
use super::outcome::Flow;
use crate::base::panics::ignore_panic;

/// How a run ended.
pub enum Ended<R, C> {
    /// With a result.
    Exit(R),
    /// All nodes of a partial run are done; this holds their values.
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

/// What a parallel run returns.
#[diagnostic::on_unimplemented(
    message = "a parallel run cannot return `{Self}`",
    label = "the result, or the error, cannot be sent to another thread",
    note = "of a `Box<dyn Error>`, write `Box<dyn Error + Send + Sync>`; \
            or make it `#[task_graph(local)]`, a graph that stays on one task"
)]
pub trait Returns: Send + 'static {}

#[diagnostic::do_not_recommend]
impl<R: Send + 'static> Returns for R {}

/// Runs a graph on the executor of `bound`.
///
/// `program` makes the future of a node. It is a closure without captures: all inputs of a node
/// are in the run's shared memory.
pub async fn start<St, R, S, const N: usize, P, Fut>(
    mut bound: Bound<S>,
    plan: &'static Plan<N>,
    state: St,
    program: P,
) -> Ended<R, St>
where
    St: Send + Sync + 'static,
    R: Returns,
    S: Spawn + Clone + Send + Sync + 'static,
    P: Fn(Ctx<St, R, S, N>, u32) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = (Ctx<St, R, S, N>, Flow<R>)> + Send + 'static,
{
    let deadline = bound.deadline();
    if deadline == Some(Duration::ZERO) {
        return Ended::Late;
    }
    bound.observe_run(plan.graph);
    let owner = RunOwner(Some(Ctx {
        shared: Arc::new(RunShared::new(bound, plan, state)),
    }));
    run_branches(owner.ctx(), program, deadline).await;
    let mut shared = owner.into_shared();
    let end = std::mem::take(&mut shared.end).into_inner();
    match end.unwrap_or_else(PoisonError::into_inner) {
        Some(RunEnd::Exit(result)) => Ended::Exit(result),
        Some(RunEnd::Late) => Ended::Late,
        None => Ended::Complete(shared.state),
        Some(RunEnd::Panicked(payload)) => {
            ignore_panic(|| drop(shared));
            resume_unwind(payload)
        }
        Some(RunEnd::Lost) => panic!(
            "the executor dropped a branch of the graph `{}`: it was shut down",
            plan.graph.name()
        ),
    }
}

/// Runs the first branch here, spawns the others, and waits until all branches have left.
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
    // Counted before the others are spawned, so that the run does not seem to be over.
    let member = Membership::new(ctx);
    for &node in others {
        ctx.spawner()
            .spawn(branch(Membership::new(ctx), program, node));
    }
    let mut own = pin!(branch(member, program, *first));
    let mut own_done = false;
    poll_fn(|cx| {
        if let Some(sleep) = &mut sleep {
            if !ctx.shared.cancel.is_cancelled() && sleep.as_mut().poll(cx).is_ready() {
                ctx.finish(RunEnd::Late);
                // This is not a branch, so even a single branch may be asleep and must be
                // woken.
                ctx.shared.cancel.cancel();
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
    // ORDERING(run.left): acquire side; makes visible what the branches did. The waker below is
    // left before `live` is read again.
    if ctx.shared.live.load(Ordering::Acquire) == 0 {
        return Poll::Ready(());
    }
    let waker = cx.waker().clone();
    let old = lock(&ctx.shared.waker).replace(waker);
    drop(old);
    // The last branch counts down before it takes this lock: it finds the waker, or this
    // finds 0.
    if ctx.shared.live.load(Ordering::Acquire) == 0 {
        Poll::Ready(())
    } else {
        Poll::Pending
    }
}

/// The run's own reference; cancels the run when its future is dropped.
struct RunOwner<St, R, S, const N: usize>(Option<Ctx<St, R, S, N>>);

impl<St, R, S, const N: usize> RunOwner<St, R, S, N> {
    fn ctx(&self) -> &Ctx<St, R, S, N> {
        self.0.as_ref().expect("there until the run is over")
    }

    /// Takes the shared memory, after the last branch has left.
    ///
    /// A branch drops its reference right after it has counted itself out, and no user code
    /// runs between the two. If another thread is between these two steps, this waits for it: a
    /// run must not return before its values are dropped.
    fn into_shared(mut self) -> RunShared<St, R, S, N> {
        let mut ctx = self.0.take().expect("there until the run is over");
        let mut backoff = Backoff::new();
        loop {
            match Arc::try_unwrap(ctx.shared) {
                Ok(shared) => return shared,
                Err(shared) => ctx = Ctx { shared },
            }
            backoff.snooze();
        }
    }
}

impl<St, R, S, const N: usize> Drop for RunOwner<St, R, S, N> {
    fn drop(&mut self) {
        if let Some(ctx) = &self.0 {
            ctx.shared.cancel.cancel();
        }
    }
}
