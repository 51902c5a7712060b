//! Broken parkers, each with one fault, and the rule by which it is rejected.
//!
//! Two rules have no parker here. What breaks `token_publishes` or
//! `timeout_races_unpark` alone is a missing memory ordering, which these machines
//! hardly ever show; the models of the parker have it as a mutant.

use std::cell::RefCell;
use std::panic;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, mpsc};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use ws_core::park::{ThreadUnparker, conformance};
use ws_core::{Park, ThreadParker, Unpark};

use super::locked::{Kind, Locked, Shared, State};

/// All of them at once: those that hang do nothing but wait for the watchdog.
#[test]
fn broken_parkers_are_rejected() {
    let cases: [(&str, fn()); 22] = [
        (
            "losing_a_token_given_before_park",
            losing_a_token_given_before_park,
        ),
        ("ignoring_own_tokens", ignoring_own_tokens),
        ("needing_two_unparks", needing_two_unparks),
        ("never_blocking", never_blocking),
        (
            "never_blocking_in_timed_parks",
            never_blocking_in_timed_parks,
        ),
        ("never_timing_out", never_timing_out),
        ("blocking_for_zero", blocking_for_zero),
        (
            "not_taking_the_token_for_zero",
            not_taking_the_token_for_zero,
        ),
        ("overflowing_the_clock", overflowing_the_clock),
        (
            "returning_at_once_for_long_timeouts",
            returning_at_once_for_long_timeouts,
        ),
        ("waking_twice_by_one_token", waking_twice_by_one_token),
        ("counting_tokens", counting_tokens),
        (
            "losing_a_token_that_races_with_park",
            losing_a_token_that_races_with_park,
        ),
        ("losing_tokens_of_a_crowd", losing_tokens_of_a_crowd),
        ("being_bound_to_a_thread", being_bound_to_a_thread),
        ("waiting_in_unpark", waiting_in_unpark),
        ("panicking_without_a_parker", panicking_without_a_parker),
        (
            "losing_the_token_after_a_timeout",
            losing_the_token_after_a_timeout,
        ),
        (
            "leaving_a_token_after_a_timeout",
            leaving_a_token_after_a_timeout,
        ),
        (
            "not_blocking_without_unparkers",
            not_blocking_without_unparkers,
        ),
        ("giving_a_token_on_drop", giving_a_token_on_drop),
        (
            "needing_a_thread_local_that_is_gone",
            needing_a_thread_local_that_is_gone,
        ),
    ];
    let threads = cases.map(|(name, case)| (name, thread::spawn(case)));
    let accepted = threads.map(|(name, thread)| thread.join().err().map(|_| name));
    let accepted: Vec<_> = accepted.into_iter().flatten().collect();
    assert!(
        accepted.is_empty(),
        "not rejected, or by another rule: {accepted:?}"
    );
}

/// Asserts that the suite rejects these parkers, by this rule and in these words.
fn rejected<P: Park + 'static>(
    make: impl Fn() -> P + Send + Sync + 'static,
    rule: &str,
    how: &str,
) {
    let verdict = verdict(make);
    assert!(verdict.contains(&format!("`{rule}`")), "{verdict}");
    assert!(verdict.contains(how), "{verdict}");
}

/// What the suite says when it rejects these parkers.
fn verdict<P: Park + 'static>(make: impl Fn() -> P + Send + Sync + 'static) -> String {
    let check = panic::AssertUnwindSafe(|| conformance::check(make));
    let panic = panic::catch_unwind(check).expect_err("the suite accepts a broken parker");
    *panic.downcast().expect("a message")
}

/// Only a thread that sleeps already is given a token.
struct ForgetsEarlyTokens;
impl Kind for ForgetsEarlyTokens {
    fn give(state: &mut State) {
        state.token = state.sleeping;
    }
}

fn losing_a_token_given_before_park() {
    rejected(
        Locked::<ForgetsEarlyTokens>::new,
        "token_before_park",
        "hangs",
    );
}

/// "I am awake, so I need no token."
struct ForgetsOwnTokens;
impl Kind for ForgetsOwnTokens {
    fn give(state: &mut State) {
        state.token |= state.thread != Some(thread::current().id());
    }

    fn park(shared: &Arc<Shared<Self>>) {
        shared.lock().thread = Some(thread::current().id());
        shared.sleep();
    }
}

fn ignoring_own_tokens() {
    rejected(Locked::<ForgetsOwnTokens>::new, "self_unpark", "hangs");
}

/// The first unpark of a sleeper is not enough.
struct NeedsTwoUnparks;
impl Kind for NeedsTwoUnparks {
    fn give(state: &mut State) {
        state.count += 1;
        state.token |= !state.sleeping || state.count % 2 == 0;
    }
}

fn needing_two_unparks() {
    rejected(
        Locked::<NeedsTwoUnparks>::new,
        "wakes_parked_thread",
        "hangs",
    );
}

struct NeverBlocks;
impl Kind for NeverBlocks {
    fn park(shared: &Arc<Shared<Self>>) {
        Self::take(&mut shared.lock());
    }

    fn park_timeout(shared: &Arc<Shared<Self>>, _: Duration) {
        Self::take(&mut shared.lock());
    }
}

fn never_blocking() {
    rejected(
        Locked::<NeverBlocks>::new,
        "blocks_without_token",
        "should block",
    );
}

struct NeverBlocksTimed;
impl Kind for NeverBlocksTimed {
    fn park_timeout(shared: &Arc<Shared<Self>>, _: Duration) {
        Self::take(&mut shared.lock());
    }
}

fn never_blocking_in_timed_parks() {
    rejected(
        Locked::<NeverBlocksTimed>::new,
        "short_timeout",
        "should block",
    );
}

struct NeverTimesOut;
impl Kind for NeverTimesOut {
    fn park_timeout(shared: &Arc<Shared<Self>>, _: Duration) {
        shared.sleep();
    }
}

fn never_timing_out() {
    rejected(Locked::<NeverTimesOut>::new, "short_timeout", "hangs");
}

/// Zero means for ever, as in many an old interface.
struct ZeroIsForEver;
impl Kind for ZeroIsForEver {
    fn park_timeout(shared: &Arc<Shared<Self>>, timeout: Duration) {
        match timeout.is_zero() {
            true => shared.sleep(),
            false => shared.sleep_for(timeout),
        }
    }
}

fn blocking_for_zero() {
    rejected(Locked::<ZeroIsForEver>::new, "zero_timeout", "hangs");
}

/// Zero returns without looking for a token.
struct ZeroLeavesTheToken;
impl Kind for ZeroLeavesTheToken {
    fn park_timeout(shared: &Arc<Shared<Self>>, timeout: Duration) {
        if !timeout.is_zero() {
            shared.sleep_for(timeout);
        }
    }
}

fn not_taking_the_token_for_zero() {
    rejected(
        Locked::<ZeroLeavesTheToken>::new,
        "zero_timeout",
        "should block",
    );
}

/// Adds without looking.
struct Overflows;
impl Kind for Overflows {
    fn park_timeout(shared: &Arc<Shared<Self>>, timeout: Duration) {
        let deadline = Instant::now() + timeout;
        shared.sleep_for(deadline - Instant::now());
    }
}

fn overflowing_the_clock() {
    rejected(Locked::<Overflows>::new, "longest_timeout", "overflow");
}

/// Takes a timeout it cannot express for one that is over.
struct LongIsNothing;
impl Kind for LongIsNothing {
    fn park_timeout(shared: &Arc<Shared<Self>>, timeout: Duration) {
        if Instant::now().checked_add(timeout).is_some() {
            shared.sleep_for(timeout);
        }
    }
}

fn returning_at_once_for_long_timeouts() {
    rejected(
        Locked::<LongIsNothing>::new,
        "longest_timeout",
        "should block",
    );
}

/// Takes a token in two calls: the first only looks at it.
struct TokenWakesTwice;
impl Kind for TokenWakesTwice {
    fn take(state: &mut State) -> bool {
        if !state.token {
            state.count = 0;
            return false;
        }
        state.count += 1;
        state.token = state.count % 2 == 1;
        true
    }
}

fn waking_twice_by_one_token() {
    rejected(
        Locked::<TokenWakesTwice>::new,
        "token_ends_one_park",
        "should block",
    );
}

/// One token for each unpark, as a semaphore has it.
struct CountsTokens;
impl Kind for CountsTokens {
    fn give(state: &mut State) {
        state.count += 1;
    }

    fn take(state: &mut State) -> bool {
        let there = state.count > 0;
        state.count = state.count.saturating_sub(1);
        there
    }
}

fn counting_tokens() {
    rejected(
        Locked::<CountsTokens>::new,
        "two_unparks_one_token",
        "should block",
    );
}

/// Looks for the token and falls asleep in two steps, with room between them.
struct SleepsOverTokens;
impl Kind for SleepsOverTokens {
    fn park(shared: &Arc<Shared<Self>>) {
        if Self::take(&mut shared.lock()) {
            return;
        }
        thread::sleep(Duration::from_micros(50));
        let mut state = shared.lock();
        state.sleeping = true;
        state = shared.changed.wait(state).unwrap();
        state.sleeping = false;
        Self::take(&mut state);
    }
}

fn losing_a_token_that_races_with_park() {
    // By `ping_pong`, or by an earlier rule if the machine is very busy.
    let verdict = verdict(Locked::<SleepsOverTokens>::new);
    assert!(verdict.contains("hangs"), "{verdict}");
}

/// A correct parker with other unparkers.
struct With<U> {
    parker: ThreadParker,
    unparker: U,
}

impl<U> With<U> {
    fn new(unparker: impl FnOnce(ThreadUnparker) -> U) -> Self {
        let parker = ThreadParker::new();
        let unparker = unparker(parker.unparker());
        Self { parker, unparker }
    }
}

impl<U: Unpark + Clone> Park for With<U> {
    type Unparker = U;

    fn unparker(&self) -> U {
        self.unparker.clone()
    }

    fn park(&self) {
        self.parker.park();
    }

    fn park_timeout(&self, timeout: Duration) {
        self.parker.park_timeout(timeout);
    }
}

/// A table with room for three handles; those beyond wake nobody.
struct RoomForThree {
    inner: Option<ThreadUnparker>,
    /// Counts the handles, and the parker's own.
    handles: Arc<()>,
}

impl Clone for RoomForThree {
    fn clone(&self) -> Self {
        let handles = Arc::clone(&self.handles);
        let inner = self.inner.clone();
        Self {
            inner: inner.filter(|_| Arc::strong_count(&handles) <= 4),
            handles,
        }
    }
}

impl Unpark for RoomForThree {
    fn unpark(&self) {
        if let Some(inner) = &self.inner {
            inner.unpark();
        }
    }
}

fn losing_tokens_of_a_crowd() {
    let room_for_three = |inner| RoomForThree {
        inner: Some(inner),
        handles: Arc::default(),
    };
    rejected(move || With::new(room_for_three), "many_unparkers", "hangs");
}

/// Wakes the thread that made the parker, whoever parks.
struct BoundToItsMaker(Arc<Maker>);

struct Maker {
    token: AtomicBool,
    thread: Thread,
}

impl BoundToItsMaker {
    fn new() -> Self {
        Self(Arc::new(Maker {
            token: AtomicBool::new(false),
            thread: thread::current(),
        }))
    }
}

impl Park for BoundToItsMaker {
    type Unparker = Arc<Maker>;

    fn unparker(&self) -> Arc<Maker> {
        Arc::clone(&self.0)
    }

    fn park(&self) {
        while !self.0.token.swap(false, Acquire) {
            thread::park();
        }
    }

    fn park_timeout(&self, timeout: Duration) {
        let start = Instant::now();
        while !self.0.token.swap(false, Acquire) {
            match timeout.checked_sub(start.elapsed()) {
                None | Some(Duration::ZERO) => return,
                Some(left) => thread::park_timeout(left),
            }
        }
    }
}

impl Unpark for Maker {
    fn unpark(&self) {
        self.token.swap(true, Release);
        self.thread.unpark();
    }
}

fn being_bound_to_a_thread() {
    rejected(BoundToItsMaker::new, "moved_parker", "hangs");
}

/// A channel with room for one token.
struct Channel<U> {
    tokens: mpsc::Receiver<()>,
    unparker: U,
}

impl<U> Channel<U> {
    fn new(unparker: impl FnOnce(mpsc::SyncSender<()>) -> U) -> Self {
        let (sender, tokens) = mpsc::sync_channel(1);
        let unparker = unparker(sender);
        Self { tokens, unparker }
    }
}

impl<U: Unpark + Clone> Park for Channel<U> {
    type Unparker = U;

    fn unparker(&self) -> U {
        self.unparker.clone()
    }

    fn park(&self) {
        let _ = self.tokens.recv();
    }

    fn park_timeout(&self, timeout: Duration) {
        let _ = self.tokens.recv_timeout(timeout);
    }
}

/// Waits for room.
#[derive(Clone)]
struct Waits(mpsc::SyncSender<()>);

impl Unpark for Waits {
    fn unpark(&self) {
        let _ = self.0.send(());
    }
}

fn waiting_in_unpark() {
    rejected(|| Channel::new(Waits), "unpark_waits_for_nobody", "hangs");
}

/// Does not wait for room, but insists on a receiver.
#[derive(Clone)]
struct Insists(mpsc::SyncSender<()>);

impl Unpark for Insists {
    fn unpark(&self) {
        let sent = self.0.try_send(());
        assert_ne!(sent, Err(mpsc::TrySendError::Disconnected(())), "no parker");
    }
}

fn panicking_without_a_parker() {
    rejected(
        || Channel::new(Insists),
        "unparker_outlives_parker",
        "no parker",
    );
}

/// A sleeper that timed out stays registered and is given the next token.
struct GivesToOneWhoLeft;
impl GivesToOneWhoLeft {
    /// Starts waiting; what was given to this thread directly is not looked at.
    fn register(shared: &Shared<Self>) {
        shared.lock().count = 0;
    }
}

impl Kind for GivesToOneWhoLeft {
    fn give(state: &mut State) {
        match std::mem::take(&mut state.sleeping) {
            true => state.count = 1,
            false => state.token = true,
        }
    }

    fn take(state: &mut State) -> bool {
        std::mem::take(&mut state.count) == 1 || std::mem::take(&mut state.token)
    }

    fn park(shared: &Arc<Shared<Self>>) {
        Self::register(shared);
        shared.sleep();
    }

    fn park_timeout(shared: &Arc<Shared<Self>>, timeout: Duration) {
        Self::register(shared);
        shared.sleep_for(timeout);
    }

    fn time_is_over(state: &mut State) {
        state.sleeping = true;
    }
}

fn losing_the_token_after_a_timeout() {
    rejected(
        Locked::<GivesToOneWhoLeft>::new,
        "timeout_keeps_later_token",
        "hangs",
    );
}

/// A timed park wakes itself by a token, and leaves it there.
struct LeavesItsToken;
impl Kind for LeavesItsToken {
    fn time_is_over(state: &mut State) {
        state.token = true;
    }
}

fn leaving_a_token_after_a_timeout() {
    rejected(
        Locked::<LeavesItsToken>::new,
        "timeout_leaves_nothing",
        "should block",
    );
}

/// "Nobody can wake me, so I had better not sleep."
struct AfraidAlone;
impl Kind for AfraidAlone {
    fn park_timeout(shared: &Arc<Shared<Self>>, timeout: Duration) {
        if Arc::strong_count(shared) > 1 {
            shared.sleep_for(timeout);
        }
    }
}

fn not_blocking_without_unparkers() {
    rejected(
        Locked::<AfraidAlone>::new,
        "parker_outlives_unparkers",
        "should block",
    );
}

/// Gives a token with its last breath.
#[derive(Clone)]
struct DropUnparks(ThreadUnparker);

impl Unpark for DropUnparks {
    fn unpark(&self) {
        self.0.unpark();
    }
}

impl Drop for DropUnparks {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

fn giving_a_token_on_drop() {
    rejected(
        || With::new(DropUnparks),
        "drop_gives_no_token",
        "should block",
    );
}

/// Keeps a list per thread, and without the list gives no token.
#[derive(Clone)]
struct NeedsALocal(ThreadUnparker);

impl Unpark for NeedsALocal {
    fn unpark(&self) {
        thread_local! {
            static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        if LOG.try_with(|log| log.borrow_mut().push(1)).is_ok() {
            self.0.unpark();
        }
    }
}

fn needing_a_thread_local_that_is_gone() {
    rejected(
        || With::new(NeedsALocal),
        "thread_local_destructor",
        "hangs",
    );
}
