//! What a worker waits for besides work.

/// Says when a worker should return to its caller.
pub(crate) trait Until {
    /// Whether the worker should return to its caller.
    fn is_over(&self) -> bool;
}

/// Until the executor is closed.
pub(crate) struct Never;

impl Until for Never {
    fn is_over(&self) -> bool {
        false
    }
}
