//! How an item of a graph joins a batch.

use std::future::poll_fn;
use std::sync::Arc;

use super::member::BatchNode;
use crate::graph::item::gates::Gates;

impl Gates {
    /// Adds `value` to the batch that gathers, and waits for its answer. `call` makes the call
    /// of the batch, if this item is its leader at that time.
    ///
    /// # Errors
    /// The cause, if the call failed.
    pub async fn batch<In, Out, C, F>(
        &self,
        node: usize,
        value: In,
        call: impl FnOnce(Vec<In>) -> F,
    ) -> Result<Out, Arc<C>>
    where
        In: Send + 'static,
        Out: Send + 'static,
        C: Send + Sync + 'static,
        F: Future<Output = Result<Vec<Out>, C>> + Send + 'static,
    {
        let gate = self.batch_gate(node);
        let place = BatchNode {
            timer: self.timer(),
            within: gate.within,
            node: self.graph().nodes()[node].name(),
        };
        let mut call = Some(call);
        let mut member = gate.companies().join(gate.max, value);
        poll_fn(|cx| member.poll(cx, &place, &mut call)).await
    }
}
