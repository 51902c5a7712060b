//! The rules, one function each, in the order of the table in the module above.
//!
//! Each rule makes its parker on the thread that parks on it, except the rule that moves
//! a parker. So a parker that cannot move breaks that rule only.

use core::cell::RefCell;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use core::time::Duration;
use std::boxed::Box;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::vec::Vec;

use super::rule::{Make, Rule};
use super::tools::{Alarm, NAP, blocks_mostly, join, linger, naps, sweep};
use crate::{Park, Unpark};

/// The table of the module's docs, in its order.
pub(super) fn all<P: Park + 'static>() -> [Rule<P>; 21] {
    let rule = |name, contract, body| Rule {
        name,
        contract,
        body,
    };
    [
        rule("token_before_park", 2, token_before_park),
        rule("self_unpark", 6, self_unpark),
        rule("wakes_parked_thread", 2, wakes_parked_thread),
        rule("blocks_without_token", 4, blocks_without_token),
        rule("short_timeout", 5, short_timeout),
        rule("timeout_keeps_later_token", 5, timeout_keeps_later_token),
        rule("token_ends_one_park", 2, token_ends_one_park),
        rule("zero_timeout", 5, zero_timeout),
        rule("longest_timeout", 5, longest_timeout),
        rule("unpark_waits_for_nobody", 6, unpark_waits_for_nobody),
        rule("two_unparks_one_token", 1, two_unparks_one_token),
        rule("ping_pong", 2, ping_pong),
        rule("token_publishes", 3, token_publishes),
        rule("many_unparkers", 3, many_unparkers),
        rule("moved_parker", 6, moved_parker),
        rule("timeout_leaves_nothing", 5, timeout_leaves_nothing),
        rule("timeout_races_unpark", 5, timeout_races_unpark),
        rule("unparker_outlives_parker", 7, unparker_outlives_parker),
        rule("parker_outlives_unparkers", 7, parker_outlives_unparkers),
        rule("drop_gives_no_token", 7, drop_gives_no_token),
        rule("thread_local_destructor", 6, thread_local_destructor),
    ]
}

fn token_before_park<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    for _ in 0..10 {
        let unparker = parker.unparker();
        join(thread::spawn(move || unparker.unpark()));
        parker.park();
    }
}

fn self_unpark<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let unparker = parker.unparker();
    for _ in 0..1_000 {
        unparker.unpark();
        parker.park();
    }
}

fn wakes_parked_thread<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let alarm = Alarm::new(parker.unparker());
    for _ in 0..10 {
        alarm.set(NAP);
        alarm.await_it(&parker);
    }
}

fn blocks_without_token<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let alarm = Alarm::new(parker.unparker());
    blocks_mostly("without a token", || {
        alarm.is_awaited_by(&parker, || parker.park())
    });
}

fn short_timeout<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let _unparker = parker.unparker(); // parkers without unparkers have their own rule
    parker.park_timeout(Duration::from_nanos(1));
    parker.park_timeout(Duration::from_micros(10));
    blocks_mostly("with a timeout", || naps(&parker));
}

fn timeout_keeps_later_token<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let unparker = parker.unparker();
    for _ in 0..10 {
        parker.park_timeout(NAP / 2);
        unparker.unpark();
        parker.park();
    }
}

fn token_ends_one_park<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let unparker = parker.unparker();
    blocks_mostly("after a park took the token", || {
        unparker.unpark();
        parker.park();
        naps(&parker)
    });
}

fn zero_timeout<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let unparker = parker.unparker();
    for _ in 0..100 {
        parker.park_timeout(Duration::ZERO);
    }
    blocks_mostly("after a zero timeout took the token", || {
        unparker.unpark();
        parker.park_timeout(Duration::ZERO);
        naps(&parker)
    });
}

fn longest_timeout<P: Park + 'static>(make: &Make<P>) {
    // The longest timeout, then timeouts at the limits of what clocks can express.
    let seconds = [u64::MAX, i64::MAX as u64, u32::MAX.into(), i32::MAX as u64];
    let long = [Duration::MAX]
        .into_iter()
        .chain(seconds.map(Duration::from_secs));
    let parker = make();
    let unparker = parker.unparker();
    for timeout in long.clone() {
        unparker.unpark();
        parker.park_timeout(timeout);
    }
    let alarm = Alarm::new(unparker);
    for timeout in long {
        blocks_mostly("with a very long timeout", || {
            alarm.is_awaited_by(&parker, || parker.park_timeout(timeout))
        });
    }
}

fn unpark_waits_for_nobody<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let unparker = parker.unparker();
    for _ in 0..10_000 {
        unparker.unpark();
    }
    parker.park();
}

fn two_unparks_one_token<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let (one, two) = (parker.unparker(), parker.unparker());
    blocks_mostly("after two unparks and a park", || {
        one.unpark();
        two.unpark();
        parker.park();
        naps(&parker)
    });
}

fn ping_pong<P: Park + 'static>(make: &Make<P>) {
    const HANDOVERS: u32 = 10_000;
    let ball = Arc::new(AtomicU32::new(0));
    // Two threads exchange unparkers, then each waits for its turn. The spins vary the
    // moment at which the unpark of one thread meets the park of the other.
    let (to_other, from_first) = mpsc::channel::<P::Unparker>();
    let (to_first, from_other) = mpsc::channel::<P::Unparker>();
    let player = |first_turn: u32, me: mpsc::Sender<_>, you: mpsc::Receiver<P::Unparker>| {
        let (make, ball) = (Arc::clone(make), Arc::clone(&ball));
        move || {
            let parker = make();
            me.send(parker.unparker()).expect("the other player");
            let other = you.recv().expect("the other player");
            for turn in (first_turn..HANDOVERS).step_by(2) {
                while ball.load(Relaxed) != turn {
                    parker.park();
                }
                for _ in 0..turn % 61 {
                    core::hint::spin_loop();
                }
                ball.store(turn + 1, Relaxed);
                other.unpark();
            }
            parker // outlives the last unpark
        }
    };
    let first = player(0, to_other, from_other);
    let other = thread::spawn(player(1, to_first, from_first));
    let _first = first();
    join(other);
}

fn token_publishes<P: Park + 'static>(make: &Make<P>) {
    const ROUNDS: u32 = 1_000;
    let parker = make();
    let unparker = parker.unparker();
    let data: Arc<[AtomicU32; 32]> = Arc::default();
    let written = Arc::clone(&data);
    let (next, rounds) = mpsc::channel();
    let writer = thread::spawn(move || {
        for round in rounds {
            written.iter().for_each(|word| word.store(round, Relaxed));
            unparker.unpark();
        }
    });
    for round in 1..=ROUNDS {
        next.send(round).expect("the writer");
        // If a token publishes too little, a park takes it without success, and the rule
        // hangs.
        while data.iter().any(|word| word.load(Relaxed) != round) {
            parker.park();
        }
    }
    drop(next);
    join(writer);
}

fn many_unparkers<P: Park + 'static>(make: &Make<P>) {
    const ROUNDS: u32 = 250;
    const THREADS: usize = 4;
    let parker = make();
    let _unparker = parker.unparker();
    let data: Arc<[AtomicU32; THREADS]> = Arc::default();
    let start = Arc::new(Barrier::new(THREADS + 1));
    let unparkers: Vec<_> = (0..THREADS)
        .map(|me| {
            let (unparker, data, start) = (parker.unparker(), data.clone(), start.clone());
            thread::spawn(move || {
                for round in 1..=ROUNDS {
                    start.wait();
                    // All threads at once, or clearly one after the other in any order.
                    let place = (me as u32 + round) % THREADS as u32;
                    linger(Duration::from_micros(20) * (place * (round % 2)));
                    data[me].store(round, Relaxed);
                    unparker.unpark();
                }
            })
        })
        .collect();
    for round in 1..=ROUNDS {
        start.wait();
        while data.iter().any(|word| word.load(Relaxed) != round) {
            parker.park();
        }
    }
    unparkers.into_iter().for_each(join);
    // Of all the tokens, at most one is left.
    parker.park_timeout(Duration::ZERO);
    blocks_mostly("after a crowd of unparks", || naps(&parker));
}

fn moved_parker<P: Park + 'static>(make: &Make<P>) {
    let mut parker = make();
    let alarm = Alarm::new(parker.unparker());
    for delay in [Duration::ZERO, NAP, Duration::ZERO, NAP] {
        // The token is given on this thread and taken on another.
        parker.unparker().unpark();
        parker = join(thread::spawn(move || {
            parker.park();
            parker
        }));
        // The parker parks on another thread, and the alarm's thread unparks it.
        let (to_sleep, asleep) = mpsc::channel();
        let (to_wake, awake) = mpsc::channel();
        let sleeper = thread::spawn(move || {
            to_sleep.send(()).expect("the rule");
            while let Err(mpsc::TryRecvError::Empty) = awake.try_recv() {
                parker.park();
            }
            parker
        });
        asleep.recv().expect("the sleeper");
        linger(delay);
        to_wake.send(()).expect("the sleeper");
        alarm.set(Duration::ZERO);
        parker = join(sleeper);
        alarm.await_it(&parker);
    }
}

fn timeout_leaves_nothing<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let alarm = Alarm::new(parker.unparker());
    blocks_mostly("after a timeout", || {
        parker.park_timeout(NAP / 4);
        alarm.is_awaited_by(&parker, || parker.park())
    });
}

fn timeout_races_unpark<P: Park + 'static>(make: &Make<P>) {
    const ROUNDS: usize = 300;
    // Linux lets a timer be late by 50 µs, so the sweep is three times as long.
    const TIMEOUT: Duration = Duration::from_micros(50);
    let parker = make();
    let alarm = Alarm::new(parker.unparker());
    for delay in sweep(TIMEOUT * 3).take(ROUNDS) {
        alarm.set(delay);
        parker.park_timeout(TIMEOUT);
        // If the park took the token, the alarm is seen. If not, the token is there or
        // comes. Otherwise the rule hangs.
        alarm.await_it(&parker);
    }
}

fn unparker_outlives_parker<P: Park + 'static>(make: &Make<P>) {
    for _ in 0..20 {
        let parker = make();
        let unparker = parker.unparker();
        let (before, during) = (Arc::new(Barrier::new(2)), unparker.clone());
        let start = Arc::clone(&before);
        let crowd = thread::spawn(move || {
            start.wait();
            (0..100).for_each(|_| during.unpark());
        });
        before.wait();
        drop(parker);
        unparker.unpark();
        join(crowd);
        unparker.clone().unpark();
    }
    let parker = make();
    let _unparker = parker.unparker();
    blocks_mostly("with tokens given to other parkers", || naps(&parker));
}

fn parker_outlives_unparkers<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let unparker = parker.unparker();
    unparker.unpark();
    drop(unparker);
    parker.park(); // the token outlives its giver
    blocks_mostly("without unparkers", || naps(&parker));
    parker.unparker().unpark();
    parker.park();
}

fn drop_gives_no_token<P: Park + 'static>(make: &Make<P>) {
    let parker = make();
    let unparker = parker.unparker();
    blocks_mostly("after unparkers were dropped", || {
        drop((unparker.clone(), parker.unparker()));
        naps(&parker)
    });
    drop(unparker);
    parker.park_timeout(Duration::ZERO);
    blocks_mostly("after the last unparker was dropped", || naps(&parker));
}

fn thread_local_destructor<P: Park + 'static>(make: &Make<P>) {
    /// Does something when it is dropped.
    struct LastWords(Box<dyn Fn()>);

    impl Drop for LastWords {
        fn drop(&mut self) {
            (self.0)();
        }
    }

    std::thread_local! {
        static LAST_WORDS: RefCell<Option<LastWords>> = const { RefCell::new(None) };
    }

    for _ in 0..10 {
        let parker = make();
        let unparker = parker.unparker();
        let said = Arc::new(AtomicBool::new(false));
        let saying = Arc::clone(&said);
        let (to_hear, heard) = mpsc::channel();
        let speaker = thread::spawn(move || {
            let last = unparker.clone();
            LAST_WORDS.set(Some(LastWords(Box::new(move || {
                saying.store(true, Relaxed);
                last.unpark();
            }))));
            // Thread-locals that unpark itself uses are made after `LAST_WORDS`. So they
            // are destroyed before it on systems that destroy in reverse order.
            unparker.unpark();
            // The sleeper should sleep again when the last words come.
            heard.recv().expect("the sleeper");
            linger(NAP / 2);
        });
        while !said.load(Relaxed) {
            parker.park();
            let _ = to_hear.send(()); // the speaker listens only once
        }
        join(speaker);
    }
}
