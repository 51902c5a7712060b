//! Nodes that block: their code runs on a thread for blocking code, as a branch.

use std::panic::resume_unwind;

use super::branch::Membership;
use super::ctx::Ctx;
use crate::base::panics::{contain, ignore_panic};
use crate::graph::observe::{At, within};

impl<St, R, S, const N: usize> Ctx<St, R, S, N> {
    /// Runs the code of a node that blocks on a thread for blocking code.
    ///
    /// The code counts as a branch: once it runs it cannot be cancelled, so a run does not
    /// return before the code has ended.
    pub fn blocking<T>(
        &self,
        node: usize,
        code: impl FnOnce() -> T + Send + 'static,
    ) -> crate::Task<T>
    where
        St: Send + Sync + 'static,
        R: Send + 'static,
        S: Send + Sync + 'static,
        T: Send + 'static,
    {
        let member = Membership::new(self);
        let at = At::new(self.shared.plan.graph, node);
        let observer = self.bound().observer().cloned();
        crate::spawn_blocking(move || {
            let watch = observer.as_ref().map(|observer| (observer, at));
            let output = within(watch, || contain(code));
            // The closure must hold nothing of the run when the run can return.
            drop(observer);
            if member.is_cancelled() {
                // No code waits for the output.
                ignore_panic(|| drop(output));
                member.leave();
                resume_unwind(Box::new("the run was cancelled"));
            }
            member.leave();
            output.unwrap_or_else(|payload| resume_unwind(payload))
        })
    }
}
