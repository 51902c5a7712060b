//! Aborting a task from outside, on any thread, at any time.
//!
//! # The idea
//!
//! An aborted task is woken, and its next poll ends it instead of polling its future. So two
//! things are needed: a flag that a poll looks at, and a waker for a task that waits. Both are
//! in an [`AbortState`], which the abort handles and the task share. Most tasks are never
//! aborted, so that state is made for the first abort handle only. A task of a
//! [`LocalExecutor`](crate::LocalExecutor) makes it at its first wait, because it takes no entry
//! in the registry. Until then a task has one word for all of this, its [`AbortSlot`]:
//!
//! ```text
//!            first wait                    first abort handle
//!   EMPTY ──────────────► KEY(number) ───────────────────────────► STATE(pointer)
//!     │ │                      │ future dropped                          ▲
//!     │ └──────────────────────┼─────────────────────────────────────────┘
//!     └────────────────────► ENDED          first abort handle
//! ```
//!
//! A task that waits has an [entry](super::registry) in the registry. Its waker is found there
//! when the state is made. A task that does not wait yet is in a queue, or is being polled for the first time.
//! It needs no waker: its next poll sees the flag, or the task sees the state when it tries to
//! note its key.
//!
//! # Why no abort is missed
//!
//! - The task leaves its waker in the state, under the lock, and then looks at the flag. The
//!   aborting thread sets the flag, and then takes the waker, under the lock. So either the
//!   task sees the flag and wakes itself, or the aborting thread has the waker.
//! - A waker that was taken from an entry belongs to the task. The task notes the key after it
//!   has the entry, and gives the entry back after the slot says ENDED. The exchange from KEY to STATE
//!   succeeds only if the slot did not say ENDED meanwhile. If the exchange fails, the waker
//!   may be another task's, and is dropped unused.
//! - A wake makes visible what came before it, so the poll that follows sees the flag.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `abort.slot` | the exchange to KEY or STATE | every look at the slot | that the entry was given; what is in the state |
//! | (the lock) | the aborting thread takes the waker | the task leaves its waker | the flag |
//! | `abort.ended` | the future is dropped | `AbortHandle::is_finished` | all that the task did |
//!
//! No model shows what fails without the first edge: what it makes visible is behind locks, and
//! loom does not see whether memory is initialised.

use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::task::Waker;

use ws_core::chaos;
use ws_core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use ws_core::sync::{Mutex, MutexGuard};

use super::registry::RegistryKey;

/// The payload that an aborted task ends with. No user sees it.
pub(crate) struct Aborted;

/// Aborts a task from anywhere, without owning the handle of the task.
///
/// Made by [`Task::abort_handle`](crate::Task::abort_handle). It keeps the memory of a
/// task that waits, but neither its future nor its output. When the future is gone, it keeps
/// nothing of the task.
///
/// ```
/// let task = ws_executor::spawn(std::future::pending::<()>()).into_join_handle();
/// let handle = task.abort_handle();
/// std::thread::spawn(move || handle.abort()).join().unwrap();
/// assert!(ws_executor::block_on(task).unwrap_err().is_cancelled());
/// ```
#[derive(Clone)]
pub struct AbortHandle(Arc<AbortState>);

impl AbortHandle {
    /// The handle of a task that has ended.
    pub(crate) fn of_ended() -> Self {
        Self(Arc::new(AbortState::ended()))
    }

    /// Aborts the task: it is not polled again. Its future is dropped soon, by the thread that
    /// would have polled it, and never in this call.
    ///
    /// A poll that is under way goes on. If the task ends in that poll, it keeps its output. A
    /// task that has ended before keeps its output as well. To wait until the future is gone,
    /// await the task.
    ///
    /// ```
    /// let task = ws_executor::spawn(std::future::pending::<()>());
    /// task.abort_handle().abort();
    /// assert_eq!(ws_executor::block_on(task.fallible()), None);
    /// ```
    pub fn abort(&self) {
        self.0.flags.fetch_or(ABORTED, Ordering::Relaxed);
        chaos::point("abort.flag.set");
        let waker = self.0.lock().waker.take();
        // Outside the lock. One wake is enough: the poll that follows is the last.
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns whether the task has ended, or was cancelled, and its future is gone.
    ///
    /// ```
    /// let task = ws_executor::spawn(std::future::pending::<()>());
    /// let handle = task.abort_handle();
    /// assert!(!handle.is_finished());
    /// ws_executor::block_on(task.cancel());
    /// assert!(handle.is_finished());
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        // ORDERING(abort.ended): acquire side.
        self.0.flags.load(Ordering::Acquire) & ENDED_FLAG != 0
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let finished = self.is_finished();
        f.debug_struct("AbortHandle")
            .field("is_finished", &finished)
            .finish()
    }
}

const ABORTED: usize = 1;
/// The task has left its waker here.
const WAITS: usize = 2;
const ENDED_FLAG: usize = 4;

/// What a task and its abort handles share.
#[derive(Default)]
struct AbortState {
    flags: AtomicUsize,
    waiting: Mutex<Waiting>,
}

/// What a waiting task has left here.
#[derive(Default)]
struct Waiting {
    waker: Option<Waker>,
    key: Option<RegistryKey>,
}

impl AbortState {
    fn waiting(waker: Waker, key: Option<RegistryKey>) -> Self {
        Self {
            flags: AtomicUsize::new(WAITS),
            waiting: Mutex::new(Waiting {
                waker: Some(waker),
                key,
            }),
        }
    }

    fn ended() -> Self {
        Self {
            flags: AtomicUsize::new(ENDED_FLAG),
            waiting: Mutex::default(),
        }
    }

    fn has(&self, flag: usize) -> bool {
        self.flags.load(Ordering::Relaxed) & flag != 0
    }

    /// The task begins to wait. Returns whether it was aborted, and must be woken.
    fn wait(&self, waker: Waker, key: Option<RegistryKey>) -> Wait {
        let mut waiting = self.lock();
        waiting.waker = Some(waker);
        waiting.key = key;
        drop(waiting);
        chaos::point("abort.waker.left");
        match self.flags.fetch_or(WAITS, Ordering::Relaxed) & ABORTED {
            0 => Wait::Begun,
            _ => Wait::Aborted,
        }
    }

    /// The task's future is gone. Returns its entry.
    fn end(&self) -> Option<RegistryKey> {
        // ORDERING(abort.ended): release side.
        self.flags.fetch_or(ENDED_FLAG, Ordering::Release);
        let mut waiting = self.lock();
        let waker = waiting.waker.take();
        let key = waiting.key.take();
        drop(waiting);
        drop(waker);
        key
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // No user code runs under the lock, so it is not poisoned.
        self.waiting.lock().expect("never poisoned")
    }
}

/// Whether a task may wait.
#[must_use = "an aborted task must be woken"]
#[derive(Debug, PartialEq, Eq)]
pub enum Wait {
    /// It may.
    Begun,
    /// It was aborted, and must be polled once more.
    Aborted,
}

const EMPTY: u64 = 0;
const ENDED: u64 = 2;
/// Keys are odd. A state is at an address that is a multiple of four.
const KEY: u64 = 1;

/// The key of an entry, or what it shares with its abort handles; see the module docs.
pub struct AbortSlot(AtomicU64);

/// What is in a slot.
enum SlotContent<'a> {
    Empty,
    RegistryKey(RegistryKey),
    State(&'a AbortState),
    Ended,
}

impl AbortSlot {
    /// The slot of a task that was not polled yet.
    pub fn new() -> Self {
        Self(AtomicU64::new(EMPTY))
    }

    /// The slot of a task that has no future.
    pub(crate) fn ended() -> Self {
        Self(AtomicU64::new(ENDED))
    }

    #[inline]
    fn load(&self) -> u64 {
        // ORDERING(abort.slot): acquire side.
        self.0.load(Ordering::Acquire)
    }

    #[inline]
    fn content(&self, word: u64) -> SlotContent<'_> {
        match word {
            EMPTY => SlotContent::Empty,
            ENDED => SlotContent::Ended,
            key if key & KEY != 0 => SlotContent::RegistryKey(RegistryKey::from_bits(key >> 1)),
            // SAFETY: the word came from `Arc::into_raw` in `put`, and that reference is
            // dropped with this slot.
            address => SlotContent::State(unsafe { &*pointer(address) }),
        }
    }

    /// Whether the task was aborted; asked before each poll.
    #[inline]
    pub fn is_aborted(&self) -> bool {
        let word = self.load();
        // Most tasks have no abort handle.
        word != EMPTY && word & KEY == 0 && self.has(word, ABORTED)
    }

    /// Whether the task has left a waker where an abort finds it; asked after each poll.
    #[inline]
    pub fn waits(&self) -> bool {
        let word = self.load();
        word & KEY != 0 || word != EMPTY && self.has(word, WAITS)
    }

    /// Whether the slot has a state with this flag.
    #[cold]
    fn has(&self, word: u64, flag: usize) -> bool {
        match self.content(word) {
            SlotContent::State(state) => state.has(flag),
            _ => false,
        }
    }

    /// Notes the entry of a task that waits for the first time.
    pub fn wait_in(&self, key: RegistryKey, waker: &Waker) -> Wait {
        let word = key.bits() << 1 | KEY;
        // ORDERING(abort.slot): release and acquire side.
        let noted = self
            .0
            .compare_exchange(EMPTY, word, Ordering::AcqRel, Ordering::Acquire);
        match noted.map_err(|other| self.content(other)) {
            Err(SlotContent::State(state)) => state.wait(waker.clone(), Some(key)),
            _ => Wait::Begun,
        }
    }

    /// The task waits for the first time, and has no entry in its executor's registry.
    pub(crate) fn wait_unregistered(&self, waker: &Waker) -> Wait {
        let state = Arc::new(AbortState::waiting(waker.clone(), None));
        match self.put(EMPTY, &state) {
            Ok(()) => Wait::Begun,
            Err(other) => match self.content(other) {
                SlotContent::State(state) => state.wait(waker.clone(), None),
                _ => Wait::Begun,
            },
        }
    }

    /// The task's future is gone. Returns its entry, to be given back.
    #[inline]
    pub fn end(&self) -> Option<RegistryKey> {
        let word = self.load();
        // A task that has not waited and has no abort handle: the usual short one.
        if word == EMPTY && self.end_from(EMPTY).is_ok() {
            return None;
        }
        self.end_slow()
    }

    fn end_slow(&self) -> Option<RegistryKey> {
        let mut word = self.load();
        loop {
            let key = match self.content(word) {
                SlotContent::State(state) => return state.end(),
                SlotContent::RegistryKey(key) => Some(key),
                SlotContent::Empty | SlotContent::Ended => None,
            };
            match self.end_from(word) {
                Ok(_) => return key,
                Err(other) => word = other,
            }
        }
    }

    #[inline]
    fn end_from(&self, word: u64) -> Result<u64, u64> {
        // ORDERING(abort.slot): acquire side, if a state came in between.
        self.0
            .compare_exchange(word, ENDED, Ordering::AcqRel, Ordering::Acquire)
    }

    /// Makes an abort handle; `waker_in` gives the waker in an entry.
    pub fn handle(&self, waker_in: impl Fn(&RegistryKey) -> Option<Waker>) -> AbortHandle {
        let mut word = self.load();
        loop {
            let state = match self.content(word) {
                SlotContent::State(_) => {
                    let pointer = pointer(word);
                    // SAFETY: the word came from `Arc::into_raw`, and the slot has a
                    // reference.
                    unsafe { Arc::increment_strong_count(pointer) };
                    // SAFETY: as above; this is the reference that was just counted.
                    return AbortHandle(unsafe { Arc::from_raw(pointer) });
                }
                SlotContent::Ended => return AbortHandle::of_ended(),
                SlotContent::Empty => Some(AbortState::default()),
                // If the entry has no waker, the task has just ended.
                SlotContent::RegistryKey(key) => {
                    waker_in(&key).map(|waker| AbortState::waiting(waker, Some(key)))
                }
            };
            chaos::point("abort.handle.found");
            let Some(state) = state.map(Arc::new) else {
                word = self.load();
                continue;
            };
            match self.put(word, &state) {
                Ok(()) => return AbortHandle(state),
                Err(other) => word = other,
            }
        }
    }

    /// Puts a state into the slot, which then has one more reference to it.
    fn put(&self, expected: u64, state: &Arc<AbortState>) -> Result<(), u64> {
        let pointer = Arc::into_raw(Arc::clone(state));
        let word = pointer.expose_provenance() as u64;
        // ORDERING(abort.slot): release and acquire side.
        let put = self
            .0
            .compare_exchange(expected, word, Ordering::AcqRel, Ordering::Acquire);
        put.map(drop).inspect_err(|_| {
            // SAFETY: it came from `Arc::into_raw`, and the slot has not taken it.
            drop(unsafe { Arc::from_raw(pointer) });
        })
    }
}

impl Default for AbortSlot {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for AbortSlot {
    fn drop(&mut self) {
        let word = self.load();
        if let SlotContent::State(_) = self.content(word) {
            // SAFETY: it came from `Arc::into_raw`, and is the slot's own reference.
            drop(unsafe { Arc::from_raw(pointer(word)) });
        }
    }
}

/// The address of a state, as `put` has exposed it.
#[inline]
fn pointer(word: u64) -> *const AbortState {
    ptr::with_exposed_provenance(word as usize)
}
