//! What each item of a batch does.

use std::any::Any;
use std::panic::{panic_any, resume_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ws_core::sync::Mutex;

use super::company::{BatchCall, Companies, Company, CompanyPhase, CompanyState, Over};
use crate::base::panics::{contain, ignore_panic};
use crate::graph::{Sleep, Timer, lock};

/// An item of a batch.
pub(super) struct BatchMember<'a, In: Send + 'static, Out: Send + 'static, C: Send + Sync + 'static>
{
    companies: &'a Companies<In, Out, C>,
    company: Arc<Company<In, Out, C>>,
    seat: usize,
    /// It has its answer.
    over: bool,
}

/// The properties of a node that its batches need.
pub(super) struct BatchNode<'a> {
    pub(super) timer: &'a dyn Timer,
    pub(super) within: Duration,
    pub(super) node: &'static str,
}

/// What an item does next, outside the locks.
enum MemberStep<In, Out, C> {
    Wait,
    Sleep(Option<Sleep>),
    Make(Vec<In>),
    Poll(BatchCall<Out, C>),
    Answer(Option<Out>),
    Fail(Arc<C>),
    Panic(Arc<str>),
}

/// Whether the item has more to do in this poll.
#[derive(PartialEq)]
enum Then {
    Wait,
    Look,
}

/// The items of a call.
struct Called {
    /// Their seats, in order.
    seats: Vec<usize>,
    /// The number of all seats, including those of items that have left.
    all: usize,
}

impl<In, Out, C> Companies<In, Out, C>
where
    In: Send + 'static,
    Out: Send + 'static,
    C: Send + Sync + 'static,
{
    pub(super) fn join(&self, max: usize, value: In) -> BatchMember<'_, In, Out, C> {
        let mut open = lock(&self.0);
        let company = open.get_or_insert_with(|| {
            Arc::new(Company(Mutex::new(CompanyState {
                phase: CompanyPhase::Gathering(None),
                values: Vec::new(),
                wakers: Vec::new(),
                present: 0,
                leader: None,
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
            // Not the item that sleeps: this one is being polled.
            state.leader = Some(seat);
            *open = None;
        }
        drop((state, open));
        drop(sleep);
        BatchMember {
            companies: self,
            company,
            seat,
            over: false,
        }
    }
}

impl<In, Out, C> BatchMember<'_, In, Out, C>
where
    In: Send + 'static,
    Out: Send + 'static,
    C: Send + Sync + 'static,
{
    pub(super) fn poll<F>(
        &mut self,
        cx: &mut Context<'_>,
        place: &BatchNode<'_>,
        call: &mut Option<impl FnOnce(Vec<In>) -> F>,
    ) -> Poll<Result<Out, Arc<C>>>
    where
        F: Future<Output = Result<Vec<Out>, C>> + Send + 'static,
    {
        loop {
            let then = match self.step(cx.waker().clone()) {
                MemberStep::Wait => Then::Wait,
                MemberStep::Sleep(sleep) => {
                    self.sleep(sleep.unwrap_or_else(|| place.timer.sleep(place.within)), cx)
                }
                MemberStep::Make(values) => {
                    let call = call.take().expect("a company calls once");
                    self.lead(Box::pin(call(values)), cx, place)
                }
                MemberStep::Poll(call) => self.lead(call, cx, place),
                MemberStep::Answer(answer) => {
                    self.over = true;
                    return Poll::Ready(Ok(answer.expect("an answer is taken once")));
                }
                MemberStep::Fail(cause) => {
                    self.over = true;
                    return Poll::Ready(Err(cause));
                }
                MemberStep::Panic(message) => {
                    self.over = true;
                    // The hook has seen the panic where it occurred.
                    resume_unwind(Box::new(message.to_string()));
                }
            };
            if then == Then::Wait {
                return Poll::Pending;
            }
        }
    }

    /// Reads the phase. An item that does not lead leaves its waker.
    fn step(&self, waker: Waker) -> MemberStep<In, Out, C> {
        let mut guard = lock(&self.company.0);
        let state = &mut *guard;
        if let CompanyPhase::Over(over) = &mut state.phase {
            return match over {
                Over::Answers(answers) => MemberStep::Answer(answers[self.seat].take()),
                Over::Failed(cause) => MemberStep::Fail(cause.clone()),
                Over::Panicked(message) => MemberStep::Panic(message.clone()),
            };
        }
        if *state.leader.get_or_insert(self.seat) != self.seat {
            let old = state.wakers[self.seat].replace(waker);
            drop(guard);
            drop(old);
            return MemberStep::Wait;
        }
        match &mut state.phase {
            CompanyPhase::Gathering(sleep) => MemberStep::Sleep(sleep.take()),
            CompanyPhase::Complete => {
                let (seats, values) = state
                    .values
                    .iter_mut()
                    .enumerate()
                    .filter_map(|(seat, value)| Some((seat, value.take()?)))
                    .unzip();
                state.phase = CompanyPhase::Calling(None, seats);
                MemberStep::Make(values)
            }
            CompanyPhase::Calling(call, _) => {
                MemberStep::Poll(call.take().expect("nobody polls it but the leader"))
            }
            CompanyPhase::Over(_) => unreachable!("seen above"),
        }
    }

    /// Waits for other items to join.
    fn sleep(&self, mut sleep: Sleep, cx: &mut Context<'_>) -> Then {
        let over = sleep.as_mut().poll(cx).is_ready();
        let waker = cx.waker().clone();
        let mut open = lock(&self.companies.0);
        let mut state = lock(&self.company.0);
        let mut old = None;
        let then = match &mut state.phase {
            CompanyPhase::Gathering(place) if !over => {
                *place = Some(sleep);
                old = state.wakers[self.seat].replace(waker);
                Then::Wait
            }
            CompanyPhase::Gathering(_) => {
                let _taken_out = state.complete();
                *open = None;
                Then::Look
            }
            // Another item or a flush has completed the batch meanwhile.
            CompanyPhase::Complete | CompanyPhase::Calling(..) | CompanyPhase::Over(_) => {
                Then::Look
            }
        };
        drop((state, open));
        drop(old);
        then
    }

    /// Polls the call. When it is over, gives each item its answer.
    fn lead(
        &mut self,
        mut call: BatchCall<Out, C>,
        cx: &mut Context<'_>,
        place: &BatchNode<'_>,
    ) -> Then {
        let result = match contain(|| call.as_mut().poll(cx)) {
            Ok(Poll::Pending) => {
                self.put_back(call, cx.waker().clone());
                return Then::Wait;
            }
            Ok(Poll::Ready(result)) => Ok(result),
            Err(payload) => Err(payload),
        };
        ignore_panic(|| drop(call));
        match result {
            Ok(Err(cause)) => self.end(|_| Over::Failed(Arc::new(cause))),
            Ok(Ok(answers)) => self.hand_out(answers, place),
            Err(payload) => {
                let text = message(&*payload).unwrap_or("a value that is no text");
                let message = format!("the call for this batch panicked: {text}").into();
                self.end(|_| Over::Panicked(message));
                self.over = true;
                resume_unwind(payload);
            }
        }
        Then::Look
    }

    fn put_back(&self, call: BatchCall<Out, C>, waker: Waker) {
        let mut state = lock(&self.company.0);
        if let CompanyPhase::Calling(place, _) = &mut state.phase {
            *place = Some(call);
        }
        let old = state.wakers[self.seat].replace(waker);
        drop(state);
        drop(old);
    }

    /// Stores each answer at the seat of its item.
    ///
    /// # Panics
    /// If the number of answers is not that of the items. Then the other items panic, too.
    fn hand_out(&mut self, answers: Vec<Out>, place: &BatchNode<'_>) {
        let (given, mut wrong) = (answers.len(), None);
        let mut answers = answers.into_iter();
        self.end(|called| {
            if called.seats.len() == given {
                let mut by_seat: Vec<Option<Out>> = (0..called.all).map(|_| None).collect();
                for (seat, answer) in called.seats.into_iter().zip(&mut answers) {
                    by_seat[seat] = Some(answer);
                }
                return Over::Answers(by_seat);
            }
            let message = format!(
                "node `{}` gave {given} answers for a batch of {} items",
                place.node,
                called.seats.len()
            );
            wrong = Some(message.clone());
            Over::Panicked(message.into())
        });
        ignore_panic(|| drop(answers)); // Foreign code: not under the lock.
        if let Some(message) = wrong {
            self.over = true;
            panic_any(message);
        }
    }

    /// Ends the call, and wakes the other items.
    fn end(&self, over: impl FnOnce(Called) -> Over<Out, C>) {
        let mut state = lock(&self.company.0);
        let CompanyPhase::Calling(_, seats) = &mut state.phase else {
            unreachable!("only the leader ends a call")
        };
        let called = Called {
            seats: std::mem::take(seats),
            all: state.values.len(),
        };
        state.phase = CompanyPhase::Over(over(called));
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        for (seat, waker) in wakers.into_iter().enumerate() {
            if let Some(waker) = waker.filter(|_| seat != self.seat) {
                ignore_panic(|| waker.wake());
            }
        }
    }
}

impl<In: Send + 'static, Out: Send + 'static, C: Send + Sync + 'static> Drop
    for BatchMember<'_, In, Out, C>
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
            if matches!(state.phase, CompanyPhase::Gathering(_)) {
                *open = None;
            }
            rest = Some(std::mem::replace(&mut state.phase, CompanyPhase::Complete));
        } else if state.leader == Some(self.seat) {
            state.leader = None;
            next = state.wake_leader();
        }
        drop((guard, open));
        // The last item that waits for an answer drops the call.
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
