//! The body is compiled several times, and what is in it may not be there several times.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use ws_executor::task_graph;

struct Metres(u32);

#[task_graph]
async fn count(n: u32) -> u32 {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    impl From<Metres> for u32 {
        fn from(metres: Metres) -> u32 {
            metres.0
        }
    }
    thread_local! {
        static LAST: Cell<u32> = const { Cell::new(0) };
    }
    struct Local(u32);
    impl Local {
        fn get(&self) -> u32 {
            self.0
        }
    }
    let calls = CALLS.fetch_add(n, Ordering::Relaxed);
    let more = {
        static MORE: AtomicU32 = AtomicU32::new(0);
        MORE.fetch_add(n, Ordering::Relaxed)
    };
    LAST.set(n);
    calls + more + Local(n).get() + u32::from(Metres(n))
}

fn main() {}
