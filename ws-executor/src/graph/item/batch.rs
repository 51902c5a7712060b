//! One call for many items: `batch(x, max = 500, within = "200ms")`.
//!
//! Items that reach the node gather in a *company*. It is complete when it has `max` items,
//! when its first item has waited `within`, or when all items of the pipeline wait for company
//! and no more come; then
//! the node is called once with all of them, and each item takes its answer.
//!
//! Nobody is spawned for that. The call belongs to the company, and one of its items, the
//! *driver*, polls it; the others wait. An item that is cancelled leaves: before the call
//! its value is not part of it, after that its answer is dropped. If it was the driver,
//! another item is woken to drive, and polls with its own waker. When the last item leaves,
//! the call goes with it. So a call lives as long as somebody wants an answer.
//!
//! | phase | what the driver does |
//! |---|---|
//! | `Gathering` | sleeps until `within` has passed |
//! | `Complete` | makes the call |
//! | `Calling` | polls the call |
//! | `Over` | nothing: the answers are there |
//!
//! Timers, calls, values and wakers are foreign code: they are polled and dropped outside
//! of the locks. The lock of the gate, for the company that gathers, is taken before that
//! of a company.

use std::any::Any;
use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{panic_any, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ws_core::sync::Mutex;

use super::gates::Gates;
use crate::graph::outcome::Outcome;
use crate::graph::{Sleep, Timer, lock};
use crate::task::contain::{contain, ignore_panic};

/// The gate of a node with a batch. Its types are known when the first item comes.
pub(super) struct BatchGate {
    max: usize,
    within: Duration,
    companies: OnceLock<Box<dyn AnyCompanies>>,
}

impl BatchGate {
    pub(super) fn new(max: usize, within: Duration) -> Self {
        assert!(max > 0, "a batch of 0 takes nobody");
        Self {
            max,
            within,
            companies: OnceLock::new(),
        }
    }

    /// How many items wait for company.
    pub(super) fn gathering(&self) -> usize {
        self.companies
            .get()
            .map_or(0, |companies| companies.gathering())
    }

    /// Whoever waits for company goes on without.
    pub(super) fn flush(&self) {
        if let Some(companies) = self.companies.get() {
            companies.flush();
        }
    }

    fn companies<In, Out, C>(&self) -> &Companies<In, Out, C>
    where
        In: Send + 'static,
        Out: Send + 'static,
        C: Send + Sync + 'static,
    {
        self.companies
            .get_or_init(|| Box::new(Companies::<In, Out, C>(Mutex::new(None))))
            .as_any()
            .downcast_ref()
            .expect("a node has one type")
    }
}

trait AnyCompanies: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn gathering(&self) -> usize;
    fn flush(&self);
}

/// The company that gathers, if there is one.
struct Companies<In, Out, C>(Mutex<Option<Arc<Company<In, Out, C>>>>);

struct Company<In, Out, C>(Mutex<State<In, Out, C>>);

/// A call under way.
type Call<Out, C> = Pin<Box<dyn Future<Output = Result<Vec<Out>, C>> + Send>>;

struct State<In, Out, C> {
    phase: Phase<Out, C>,
    /// By seat; nothing where the item has left, or is in the call.
    values: Vec<Option<In>>,
    /// By seat: whoever is to be woken.
    wakers: Vec<Option<Waker>>,
    /// Items that have not left.
    present: usize,
    /// The seat of who drives. With nobody there, who is polled next does.
    driver: Option<usize>,
}

enum Phase<Out, C> {
    /// The sleep is not there before it began, and while it is polled.
    Gathering(Option<Sleep>),
    Complete,
    /// The call is not there while it is polled; the seats of its items, in order.
    Calling(Option<Call<Out, C>>, Vec<usize>),
    Over(Over<Out, C>),
}

enum Over<Out, C> {
    /// By seat.
    Answers(Vec<Option<Out>>),
    Failed(Arc<C>),
    Panicked(Arc<str>),
}

impl<In, Out, C> AnyCompanies for Companies<In, Out, C>
where
    In: Send + 'static,
    Out: Send + 'static,
    C: Send + Sync + 'static,
{
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn gathering(&self) -> usize {
        let open = lock(&self.0);
        open.as_ref().map_or(0, |company| lock(&company.0).present)
    }

    fn flush(&self) {
        let mut open = lock(&self.0);
        let Some(company) = open.take() else { return };
        let mut state = lock(&company.0);
        let sleep = state.complete();
        let waker = state.wake_driver();
        drop((state, open));
        drop(sleep);
        if let Some(waker) = waker {
            ignore_panic(|| waker.wake());
        }
    }
}

impl<In, Out, C> State<In, Out, C> {
    /// Ends the gathering.
    #[must_use]
    fn complete(&mut self) -> Option<Sleep> {
        match std::mem::replace(&mut self.phase, Phase::Complete) {
            Phase::Gathering(sleep) => sleep,
            Phase::Complete | Phase::Calling(..) | Phase::Over(_) => {
                unreachable!("only what gathers becomes complete")
            }
        }
    }

    /// The waker of the driver, or of another one that becomes it.
    #[must_use]
    fn wake_driver(&mut self) -> Option<Waker> {
        if let Some(waker) = self.driver.and_then(|seat| self.wakers[seat].take()) {
            return Some(waker);
        }
        // A driver without a waker is being polled, and looks again before it waits.
        if self.driver.is_none() {
            self.driver = self.wakers.iter().position(Option::is_some);
            return self.driver.and_then(|seat| self.wakers[seat].take());
        }
        None
    }
}

/// An item of a company.
struct Member<'a, In: Send + 'static, Out: Send + 'static, C: Send + Sync + 'static> {
    companies: &'a Companies<In, Out, C>,
    company: Arc<Company<In, Out, C>>,
    seat: usize,
    /// It has its answer.
    over: bool,
}

impl<In, Out, C> Companies<In, Out, C>
where
    In: Send + 'static,
    Out: Send + 'static,
    C: Send + Sync + 'static,
{
    fn join(&self, max: usize, value: In) -> Member<'_, In, Out, C> {
        let mut open = lock(&self.0);
        let company = open.get_or_insert_with(|| {
            Arc::new(Company(Mutex::new(State {
                phase: Phase::Gathering(None),
                values: Vec::new(),
                wakers: Vec::new(),
                present: 0,
                driver: None,
            })))
        });
        let company = company.clone();
        let mut state = lock(&company.0);
        let seat = state.values.len();
        state.values.push(Some(value));
        state.wakers.push(None);
        state.present += 1;
        let mut sleep = None;
        if state.present == max {
            sleep = state.complete();
            // Not the one who sleeps: this one is being polled.
            state.driver = Some(seat);
            *open = None;
        }
        drop((state, open));
        drop(sleep);
        Member {
            companies: self,
            company,
            seat,
            over: false,
        }
    }
}

/// What a member does next, outside of the locks.
enum Step<In, Out, C> {
    Wait,
    Sleep(Option<Sleep>),
    Make(Vec<In>),
    Poll(Call<Out, C>),
    Answer(Option<Out>),
    Fail(Arc<C>),
    Panic(Arc<str>),
}

/// Whether there is more to do in this poll.
#[derive(PartialEq)]
enum Then {
    Wait,
    Look,
}

impl<In, Out, C> Member<'_, In, Out, C>
where
    In: Send + 'static,
    Out: Send + 'static,
    C: Send + Sync + 'static,
{
    fn poll<F>(
        &mut self,
        cx: &mut Context<'_>,
        place: &Place<'_>,
        call: &mut Option<impl FnOnce(Vec<In>) -> F>,
    ) -> Poll<Result<Out, Arc<C>>>
    where
        F: Future<Output = Result<Vec<Out>, C>> + Send + 'static,
    {
        loop {
            let then = match self.step(cx.waker().clone()) {
                Step::Wait => Then::Wait,
                Step::Sleep(sleep) => {
                    self.sleep(sleep.unwrap_or_else(|| place.timer.sleep(place.within)), cx)
                }
                Step::Make(values) => {
                    let call = call.take().expect("a company calls once");
                    self.drive(Box::pin(call(values)), cx, place)
                }
                Step::Poll(call) => self.drive(call, cx, place),
                Step::Answer(answer) => {
                    self.over = true;
                    return Poll::Ready(Ok(answer.expect("an answer is taken once")));
                }
                Step::Fail(cause) => {
                    self.over = true;
                    return Poll::Ready(Err(cause));
                }
                Step::Panic(message) => {
                    self.over = true;
                    // The hook has seen it where it happened.
                    resume_unwind(Box::new(message.to_string()));
                }
            };
            if then == Then::Wait {
                return Poll::Pending;
            }
        }
    }

    /// Looks at the phase. Who does not drive leaves its waker.
    fn step(&self, waker: Waker) -> Step<In, Out, C> {
        let mut guard = lock(&self.company.0);
        let state = &mut *guard;
        if let Phase::Over(over) = &mut state.phase {
            return match over {
                Over::Answers(answers) => Step::Answer(answers[self.seat].take()),
                Over::Failed(cause) => Step::Fail(cause.clone()),
                Over::Panicked(message) => Step::Panic(message.clone()),
            };
        }
        if *state.driver.get_or_insert(self.seat) != self.seat {
            let old = state.wakers[self.seat].replace(waker);
            drop(guard);
            drop(old);
            return Step::Wait;
        }
        match &mut state.phase {
            Phase::Gathering(sleep) => Step::Sleep(sleep.take()),
            Phase::Complete => {
                let (seats, values) = state
                    .values
                    .iter_mut()
                    .enumerate()
                    .filter_map(|(seat, value)| Some((seat, value.take()?)))
                    .unzip();
                state.phase = Phase::Calling(None, seats);
                Step::Make(values)
            }
            Phase::Calling(call, _) => {
                Step::Poll(call.take().expect("nobody polls it but the driver"))
            }
            Phase::Over(_) => unreachable!("seen above"),
        }
    }

    /// Waits for others to come.
    fn sleep(&self, mut sleep: Sleep, cx: &mut Context<'_>) -> Then {
        let over = sleep.as_mut().poll(cx).is_ready();
        let waker = cx.waker().clone();
        let mut open = lock(&self.companies.0);
        let mut state = lock(&self.company.0);
        let mut old = None;
        let then = match &mut state.phase {
            Phase::Gathering(place) if !over => {
                *place = Some(sleep);
                old = state.wakers[self.seat].replace(waker);
                Then::Wait
            }
            Phase::Gathering(_) => {
                let _taken_out = state.complete();
                *open = None;
                Then::Look
            }
            // Completed meanwhile, by an item or by a flush.
            Phase::Complete | Phase::Calling(..) | Phase::Over(_) => Then::Look,
        };
        drop((state, open));
        drop(old);
        then
    }

    /// Polls the call; when it is over, hands out the answers.
    fn drive(&mut self, mut call: Call<Out, C>, cx: &mut Context<'_>, place: &Place<'_>) -> Then {
        let mut raised = None;
        let over = match contain(|| call.as_mut().poll(cx)) {
            Ok(Poll::Pending) => {
                let waker = cx.waker().clone();
                let mut state = lock(&self.company.0);
                if let Phase::Calling(place, _) = &mut state.phase {
                    *place = Some(call);
                }
                let old = state.wakers[self.seat].replace(waker);
                drop(state);
                drop(old);
                return Then::Wait;
            }
            Ok(Poll::Ready(Ok(answers))) => Ok(answers),
            Ok(Poll::Ready(Err(cause))) => Err(Over::Failed(Arc::new(cause))),
            Err(payload) => {
                let text = message(&*payload).unwrap_or("a value that is no text");
                let message = format!("the call for this batch panicked: {text}").into();
                raised = Some(payload);
                Err(Over::Panicked(message))
            }
        };
        ignore_panic(|| drop(call));
        let mut state = lock(&self.company.0);
        let Phase::Calling(_, seats) = &mut state.phase else {
            unreachable!("only the driver ends a call")
        };
        let seats = std::mem::take(seats);
        let wrong = match &over {
            Ok(answers) if answers.len() != seats.len() => Some(format!(
                "node `{}` gave {} answers for a batch of {} items",
                place.node,
                answers.len(),
                seats.len()
            )),
            _ => None,
        };
        let (over, surplus) = match (over, &wrong) {
            (Ok(answers), Some(wrong)) => (Over::Panicked(wrong.as_str().into()), Some(answers)),
            (Ok(answers), None) => {
                let mut by_seat: Vec<Option<Out>> = state.values.iter().map(|_| None).collect();
                for (seat, answer) in seats.into_iter().zip(answers) {
                    by_seat[seat] = Some(answer);
                }
                (Over::Answers(by_seat), None)
            }
            (Err(over), _) => (over, None),
        };
        state.phase = Phase::Over(over);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        for (seat, waker) in wakers.into_iter().enumerate() {
            if let Some(waker) = waker.filter(|_| seat != self.seat) {
                ignore_panic(|| waker.wake());
            }
        }
        ignore_panic(|| drop(surplus));
        if let Some(payload) = raised {
            self.over = true;
            resume_unwind(payload);
        }
        if let Some(wrong) = wrong {
            self.over = true;
            panic_any(wrong);
        }
        Then::Look
    }
}

impl<In: Send + 'static, Out: Send + 'static, C: Send + Sync + 'static> Drop
    for Member<'_, In, Out, C>
{
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let mut open = lock(&self.companies.0);
        let mut guard = lock(&self.company.0);
        let state = &mut *guard;
        let value = state.values[self.seat].take();
        let own = state.wakers.get_mut(self.seat).and_then(Option::take);
        state.present -= 1;
        let (mut next, mut rest) = (None, None);
        if state.present == 0 {
            if matches!(state.phase, Phase::Gathering(_)) {
                *open = None;
            }
            rest = Some(std::mem::replace(&mut state.phase, Phase::Complete));
        } else if state.driver == Some(self.seat) {
            state.driver = None;
            next = state.wake_driver();
        }
        drop((guard, open));
        // The call goes with the last one who wants an answer.
        ignore_panic(|| drop(rest));
        if let Some(waker) = next {
            ignore_panic(|| waker.wake());
        }
        ignore_panic(|| drop((own, value)));
    }
}

fn message(payload: &(dyn Any + Send)) -> Option<&str> {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// What a member needs to know about its node.
struct Place<'a> {
    timer: &'a dyn Timer,
    within: Duration,
    node: &'static str,
}

impl Gates {
    /// Gathers company for `value`, and has `call` called for all of it.
    ///
    /// # Errors
    /// Why the call failed.
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
        let place = Place {
            timer: self.timer(),
            within: gate.within,
            node: self.graph().nodes()[node].name(),
        };
        let mut call = Some(call);
        let mut member = gate.companies().join(gate.max, value);
        poll_fn(|cx| member.poll(cx, &place, &mut call)).await
    }
}

/// What is left of the graph's return type without a payload: why a call failed.
pub trait BatchCause: Outcome {
    /// That.
    type Cause;

    /// The answers, or why there are none.
    ///
    /// # Errors
    /// That.
    fn cause<V>(with: Self::With<V>) -> Result<V, Self::Cause>;
}

/// A return type whose error each item of a batch can have.
#[diagnostic::on_unimplemented(
    message = "an error of a batch reaches every item of it, so `{Self}` needs an error that is `Clone`",
    label = "this may fail for many items at once",
    note = "derive `Clone` for the error, or wrap what cannot be cloned in an `Arc`"
)]
pub trait BatchOutcome: BatchCause {
    /// The end of an item whose call failed.
    fn ended(cause: &Self::Cause) -> Self::With<Infallible>;
}

impl<T, E> BatchCause for Result<T, E> {
    type Cause = E;

    fn cause<V>(with: Result<V, E>) -> Result<V, E> {
        with
    }
}

impl<T> BatchCause for Option<T> {
    type Cause = ();

    fn cause<V>(with: Option<V>) -> Result<V, ()> {
        with.ok_or(())
    }
}

#[diagnostic::do_not_recommend]
impl<T, E: Clone> BatchOutcome for Result<T, E> {
    fn ended(cause: &E) -> Result<Infallible, E> {
        Err(cause.clone())
    }
}

#[diagnostic::do_not_recommend]
impl<T> BatchOutcome for Option<T> {
    fn ended((): &()) -> Option<Infallible> {
        None
    }
}

/// [`BatchCause::cause`], with the type first.
///
/// # Errors
/// As there.
pub fn cause<R: BatchCause, V>(with: R::With<V>) -> Result<V, R::Cause> {
    R::cause(with)
}

/// [`BatchOutcome::ended`], with the type first.
pub fn ended<R: BatchOutcome>(cause: &R::Cause) -> R::With<Infallible> {
    R::ended(cause)
}

/// The answers for a batch of one: what a call is outside of a pipeline.
pub trait Single {
    /// The one answer.
    type One;
    /// Takes it out.
    fn single(self) -> Self::One;
}

impl<T> Single for Vec<T> {
    type One = T;

    fn single(mut self) -> T {
        let count = self.len();
        match (self.pop(), count) {
            (Some(answer), 1) => answer,
            _ => panic!("a node gave {count} answers for a batch of 1 item"),
        }
    }
}

impl<T, E> Single for Result<Vec<T>, E> {
    type One = Result<T, E>;

    fn single(self) -> Result<T, E> {
        self.map(Vec::single)
    }
}

impl<T> Single for Option<Vec<T>> {
    type One = Option<T>;

    fn single(self) -> Option<T> {
        self.map(Vec::single)
    }
}

/// [`Single::single`].
///
/// # Panics
/// If there is not exactly one.
pub fn single<S: Single>(answers: S) -> S::One {
    answers.single()
}
