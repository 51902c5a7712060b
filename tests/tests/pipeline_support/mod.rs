//! What the tests of pipelines share: a source that remembers what was acknowledged, items
//! that are counted while they live, and a gate for futures.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use ws_executor::pipeline::{BoxError, PullResult, Report, Source};

/// What a [`Numbers`] source has been told.
#[derive(Clone, Default)]
pub(crate) struct Acks(Arc<Mutex<Vec<u64>>>);

impl Acks {
    /// The acknowledged numbers, sorted.
    pub(crate) fn sorted(&self) -> Vec<u64> {
        let mut acks = self.0.lock().unwrap().clone();
        acks.sort_unstable();
        acks
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// The numbers from 0 on, each pulled once, acknowledged by itself.
pub(crate) struct Numbers {
    next: u64,
    end: u64,
    /// Pending, with a wake at once, before every item of such a number.
    pub(crate) hesitates: fn(u64) -> bool,
    hesitated: bool,
    acks: Acks,
}

impl Numbers {
    pub(crate) fn to(end: u64) -> (Self, Acks) {
        let acks = Acks::default();
        let numbers = Self {
            next: 0,
            end,
            hesitates: |_| false,
            hesitated: false,
            acks: acks.clone(),
        };
        (numbers, acks)
    }
}

impl Source for Numbers {
    type Item = u64;
    type Ack = u64;

    fn poll_pull(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        let number = self.next;
        if number == self.end {
            return Poll::Ready(None);
        }
        if !self.hesitated && (self.hesitates)(number) {
            self.hesitated = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.hesitated = false;
        self.next += 1;
        Poll::Ready(Some(Ok((number, number))))
    }

    fn acknowledge(self: Pin<&mut Self>, number: u64) -> Result<(), BoxError> {
        self.acks.0.lock().unwrap().push(number);
        Ok(())
    }
}

/// Counts how many of something live, and the most that ever did.
#[derive(Clone, Default)]
pub(crate) struct Census(Arc<(AtomicUsize, AtomicUsize)>);

impl Census {
    pub(crate) fn live(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
    }

    pub(crate) fn most(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }

    pub(crate) fn member(&self) -> Member {
        let live = self.0.0.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.1.fetch_max(live, Ordering::SeqCst);
        Member(self.clone())
    }
}

/// Is counted while it lives; so is a clone.
pub(crate) struct Member(Census);

impl Clone for Member {
    fn clone(&self) -> Self {
        self.0.member()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.0.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A gate that futures wait at until it is opened, for ever.
#[derive(Clone, Default)]
pub(crate) struct Door(Arc<Mutex<(bool, VecDeque<Waker>)>>);

impl Door {
    pub(crate) fn open(&self) {
        let wakers = {
            let mut door = self.0.lock().unwrap();
            door.0 = true;
            std::mem::take(&mut door.1)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(crate) async fn pass(&self) {
        poll_fn(|cx| {
            let mut door = self.0.lock().unwrap();
            if door.0 {
                return Poll::Ready(());
            }
            door.1.push_back(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Checks that every item is in exactly one of the counts.
pub(crate) fn assert_adds_up(report: &Report) {
    let sum =
        report.done + report.skipped + report.dead_lettered + report.failed + report.cancelled;
    assert_eq!(report.items, sum, "{report:?}");
}
