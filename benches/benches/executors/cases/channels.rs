//! Tasks that talk: many to many over one channel, and two in turn.
//!
//! The channels are async-channel's, which belongs to no executor.

use benches::meter::Meter;

use crate::case::{Case, Rules};
use crate::contender::Contender;

/// Four tasks send to four others over one channel.
pub(crate) struct ManyToMany;

impl Case for ManyToMany {
    const UNIT: &'static str = "message";
    const RULES: Rules = Rules::WITH_FLOOR;

    fn name() -> String {
        "MPMC channel 4×4".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const SIDES: usize = 4;
        const EACH: usize = 10_000;
        /// Small against what is sent, so that both sides have to wait.
        const CAPACITY: usize = 100;
        meter.time(SIDES * EACH, || {
            let (sender, receiver) = async_channel::bounded(CAPACITY);
            let mut tasks = Vec::new();
            for _ in 0..SIDES {
                let sender = sender.clone();
                tasks.push(contender.spawn(async move {
                    for number in 0..EACH {
                        sender.send(number).await.unwrap();
                    }
                    0
                }));
            }
            drop(sender);
            for _ in 0..SIDES {
                let receiver = receiver.clone();
                tasks.push(contender.spawn(async move {
                    let mut count = 0;
                    while receiver.recv().await.is_ok() {
                        count += 1;
                    }
                    count
                }));
            }
            let mut count = 0;
            contender.block_on(async {
                for task in tasks {
                    count += task.await;
                }
            });
            assert_eq!(count, SIDES * EACH);
        });
    }
}

/// Two tasks hand a token to each other over channels that hold one.
pub(crate) struct TokenRing;

impl Case for TokenRing {
    const UNIT: &'static str = "hop";
    const RULES: Rules = Rules::WITH_FLOOR;

    fn name() -> String {
        "token ring of two tasks".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const LAPS: usize = 10_000;
        meter.time(2 * LAPS, || {
            let (there, at_other) = async_channel::bounded(1);
            let (back, at_first) = async_channel::bounded(1);
            let first = contender.spawn(async move {
                for lap in 0..LAPS {
                    there.send(lap).await.unwrap();
                    assert_eq!(at_first.recv().await, Ok(lap));
                }
            });
            let other = contender.spawn(async move {
                for _ in 0..LAPS {
                    let token = at_other.recv().await.unwrap();
                    back.send(token).await.unwrap();
                }
            });
            contender.block_on(async {
                first.await;
                other.await;
            });
        });
    }
}
