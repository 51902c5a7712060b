//! A branch: one task that runs nodes, one after the other.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use ws_core::Spawn;
use ws_core::sync::atomic::Ordering;

use super::ctx::{Ctx, RunEnd};
use super::plan::Place;
use crate::base::panics::ignore_panic;
use crate::graph::cancel::CancelSeat;
use crate::graph::lock;
use crate::graph::observe::{At, Observer, WatchedNode, tell};
use crate::graph::outcome::Flow;

/// Runs `node` and the nodes that it makes ready.
///
/// This is a function with `Send` in its type, and not an `async fn`: a branch spawns branches,
/// and the compiler must know that they are `Send` without looking into this body.
#[expect(clippy::manual_async_fn, reason = "see above")]
pub(super) fn branch<St, R, S, const N: usize, P, Fut>(
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
        // Passed from node to node, so that a node need not change the reference count.
        let mut given = member.ctx.clone();
        while let Some(node) = next.take().or_else(|| inline.pop()) {
            let ctx = member.ctx.as_ref().expect("there until dropped");
            let watched = Watched::new(ctx, node);
            let own = given.take().expect("given back by the node before");
            // Making the future runs no user code: it is an async block.
            let end = run_node(ctx, &watched, &mut member.seat, program(own, node)).await;
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
                Some(ControlFlow::Break(result)) => ctx.finish(RunEnd::Exit(result)),
                None => break,
            }
        }
        drop(given);
        member.leave();
    }
}

/// Polls a node until it is done, panics, or the run is cancelled. Panics are caught.
///
/// `None`: cancelled or panicked. When this returns, the future of the node has been dropped.
async fn run_node<St, R, S, const N: usize, Fut>(
    ctx: &Ctx<St, R, S, N>,
    watched: &Watched<'_>,
    seat: &mut CancelSeat,
    node: Fut,
) -> Option<Fut::Output>
where
    Fut: Future,
{
    let cancel = &ctx.shared.cancel;
    let end = cancel.unless(seat, watched.watch(), node).await;
    end.unwrap_or_else(|payload| {
        ctx.finish(RunEnd::Panicked(payload));
        None
    })
}

/// A counted branch. Dropping it, in any place, counts the branch out.
pub(super) struct Membership<St, R, S, const N: usize> {
    /// `None` only while it is dropped.
    ctx: Option<Ctx<St, R, S, N>>,
    /// The index of the branch's waker, once the branch was pending.
    seat: CancelSeat,
    /// The branch ran to its end.
    complete: bool,
}

impl<St, R, S, const N: usize> Membership<St, R, S, N> {
    pub(super) fn new(ctx: &Ctx<St, R, S, N>) -> Self {
        // Relaxed: the branch that spawns this one is counted, too.
        ctx.shared.live.fetch_add(1, Ordering::Relaxed);
        Self {
            ctx: Some(ctx.clone()),
            seat: None,
            complete: false,
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        let ctx = self.ctx.as_ref();
        ctx.is_some_and(|ctx| ctx.shared.cancel.is_cancelled())
    }

    /// Says that the branch has no more nodes to run, and counts it out.
    pub(super) fn leave(mut self) {
        self.complete = true;
    }
}

impl<St, R, S, const N: usize> Drop for Membership<St, R, S, N> {
    fn drop(&mut self) {
        let Some(ctx) = self.ctx.take() else { return };
        if !self.complete && !ctx.shared.cancel.is_cancelled() {
            ctx.finish(RunEnd::Lost);
        }
        ctx.shared.cancel.stand_up(self.seat);
        // ORDERING(run.left): release side, and acquire for the last one to wake the run.
        let last = ctx.shared.live.fetch_sub(1, Ordering::AcqRel) == 1;
        let run = if last {
            lock(&ctx.shared.waker).take()
        } else {
            None
        };
        // This may drop the values of a run whose future was dropped.
        ignore_panic(|| drop(ctx));
        if let Some(run) = run {
            ignore_panic(|| run.wake());
        }
    }
}

/// Tells the observer when a node begins and how it ends, wherever the node is dropped.
struct Watched<'a> {
    /// The observer, the node, and when it began; `None` without an observer.
    watch: Option<(&'a Arc<dyn Observer>, At, Instant)>,
}

impl<'a> Watched<'a> {
    #[inline]
    fn new<St, R, S, const N: usize>(ctx: &'a Ctx<St, R, S, N>, node: u32) -> Self {
        let watch = ctx.bound().observer().map(|observer| {
            let at = At::new(ctx.shared.plan.graph, node as usize);
            tell(Some(observer), |observer| observer.started(at));
            (observer, at, Instant::now())
        });
        Self { watch }
    }

    fn watch(&self) -> WatchedNode<'a> {
        self.watch.map(|(observer, at, _)| (observer, at))
    }

    #[inline]
    fn ended(mut self, done: bool) {
        if let Some((observer, at, began)) = self.watch.take_if(|_| done) {
            tell(Some(observer), |observer| {
                observer.finished(at, began.elapsed())
            });
        }
    }
}

impl Drop for Watched<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some((observer, at, _)) = self.watch {
            tell(Some(observer), |observer| observer.cancelled(at));
        }
    }
}
