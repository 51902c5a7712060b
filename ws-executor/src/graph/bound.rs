//! A graph bound to an executor: what all of its runs share.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::limit::Limit;
use super::observe::{Observer, tell};
use super::script::Scripts;
use super::{Graph, ThreadTimer, Timer};

/// The settings that `on` collects: an executor and the settings of a run.
#[derive(Clone)]
pub struct Bound<S> {
    spawner: S,
    timer: Option<Arc<dyn Timer>>,
    deadline: Option<Duration>,
    observer: Option<Arc<dyn Observer>>,
    scripts: Option<Arc<Scripts>>,
    /// The limits. The first run makes them, because only a run knows them. `None` for a graph
    /// without limits.
    limits: Option<Arc<OnceLock<Box<[Limit]>>>>,
}

impl<S> Bound<S> {
    /// Binds a graph to `spawner`.
    pub fn new(spawner: S) -> Self {
        Self {
            spawner,
            timer: None,
            deadline: None,
            observer: None,
            scripts: None,
            limits: None,
        }
    }

    /// Makes room for limits, which the clones of this share.
    #[must_use]
    pub fn with_limits(mut self) -> Self {
        self.limits = Some(Arc::default());
        self
    }

    /// Sets the timer.
    #[must_use]
    pub fn with_timer(mut self, timer: Arc<dyn Timer>) -> Self {
        self.timer = Some(timer);
        self
    }

    /// Sets the deadline.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the observer.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Tells the observer that a run begins. The observer may return another one for this run.
    pub(super) fn observe_run(&mut self, graph: &'static Graph) {
        let mut own = None;
        tell(self.observer.as_ref(), |observer| own = observer.run(graph));
        self.observer = own.or(self.observer.take());
    }

    pub(super) fn with_scripts(mut self, scripts: Scripts) -> Self {
        self.scripts = Some(Arc::new(scripts));
        self
    }

    pub(super) fn observer(&self) -> Option<&Arc<dyn Observer>> {
        self.observer.as_ref()
    }

    pub(super) fn scripts(&self) -> Option<&Scripts> {
        self.scripts.as_deref()
    }

    /// Takes over the settings that a run inside another run inherits.
    #[must_use]
    pub fn within<T>(mut self, outer: &Bound<T>) -> Self {
        self.timer.clone_from(&outer.timer);
        self.observer.clone_from(&outer.observer);
        self
    }

    pub(super) fn limit(&self, index: usize, limits: &[usize]) -> &Limit {
        let make = || limits.iter().map(|&limit| Limit::new(limit)).collect();
        let all = self.limits.as_ref().expect("made for a graph with limits");
        &all.get_or_init(make)[index]
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    pub(super) fn timer(&self) -> &dyn Timer {
        self.timer.as_deref().unwrap_or(&ThreadTimer)
    }

    pub(super) fn spawner(&self) -> &S {
        &self.spawner
    }
}

impl<S> std::fmt::Debug for Bound<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound")
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
