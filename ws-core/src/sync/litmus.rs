//! Litmus tests on real cores: two threads that do one thing each, at the same moment.
//!
//! A missing fence shows only if a store is delayed until the other core has loaded the
//! word. So each thread has a core of its own, and both threads start together. One thread
//! first fills the store buffer of its core ([`Stores::Slow`]), with stores to lines that
//! the other core has just written. Stores leave the buffer in order on x86-64, so the next
//! store is late. The other thread starts a little later, by chance. Its load must not be
//! late: before the start, a thread should load the word that it is going to load.
//!
//! Such a test can show that a fence is missing. It cannot show that no fence is missing.
//! Each test says how often it fails without its fence.

use core::cell::{Cell, RefCell};

use super::atomic::{AtomicU64, Ordering};
use super::{CachePadded, hint, thread};
use crate::rand::FastRand;

/// Lines that a slow side writes: about as many as a store buffer has entries. Not measured.
const LINES: usize = 48;

/// How often a thread checks for the other side before it yields: on a busy machine, the
/// other side may have to wait for its core. Not measured.
const PATIENCE: u32 = 1_000;

/// A fast side waits for fewer pauses than this, because the slow side has more to do. In
/// the test `litmus`, most failures came with less than twenty.
const JITTER: u32 = 24;

/// Runs both sides, each on a core of its own.
///
/// # Errors
///
/// If the calling thread may not use two cores. The error says so.
///
/// # Panics
///
/// If `left` or `right` panics.
pub fn on_two_cores(
    left: impl FnOnce(&Side<'_>) + Send,
    right: impl FnOnce(&Side<'_>) + Send,
) -> Result<(), &'static str> {
    let cores = affinity::cores();
    let [first, second, ..] = cores[..] else {
        return Err("there are no two cores");
    };
    let meeting = Meeting::default();
    std::thread::scope(|scope| {
        let run = |number, core| {
            affinity::pin_to(core);
            Side {
                meeting: &meeting,
                number,
                meetings: Cell::new(0),
                rand: RefCell::new(FastRand::new(number as u64)),
            }
        };
        scope.spawn(move || left(&run(0, first)));
        scope.spawn(move || right(&run(1, second)));
    });
    Ok(())
}

/// What both sides share.
#[derive(Default)]
struct Meeting {
    /// How often each side has arrived.
    arrivals: [CachePadded<AtomicU64>; 2],
    /// The lines that each side writes to be slow.
    lines: [Lines; 2],
}

/// Memory that is written only for the time that the stores take.
struct Lines([CachePadded<AtomicU64>; LINES]);

impl Default for Lines {
    fn default() -> Self {
        Self(core::array::from_fn(|_| CachePadded::default()))
    }
}

impl Lines {
    /// Stores to every line, faster than the stores leave the buffer, also in a build
    /// without optimisation.
    fn write(&self) {
        // SAFETY: `at` goes through the `LINES` lines, `stride` bytes each. They are atomics,
        // so any thread may store to them at any time, and no thread reads them. The code
        // writes no other memory, no register but its operands and the flags, and no stack.
        unsafe {
            core::arch::asm!(
                "2:",
                "mov qword ptr [{at}], {at}",
                "add {at}, {stride}",
                "dec {left:e}",
                "jnz 2b",
                at = inout(reg) self.0.as_ptr() => _,
                left = inout(reg) LINES as u32 => _,
                stride = const size_of::<CachePadded<AtomicU64>>(),
                options(nostack),
            );
        }
    }
}

/// One of the two threads.
pub struct Side<'a> {
    meeting: &'a Meeting,
    number: usize,
    meetings: Cell<u64>,
    rand: RefCell<FastRand>,
}

/// How long it takes until a store of a side, after a start, is visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// The usual time.
    Fast,
    /// A long time.
    Slow,
}

impl Side<'_> {
    /// Waits for the other side. The other side must call this or [`start`](Self::start)
    /// as often as this side.
    pub fn meet(&self) {
        let meetings = self.meetings.get() + 1;
        self.meetings.set(meetings);
        let [mine, other] = [self.number, 1 - self.number].map(|side| &self.meeting.arrivals[side]);
        // ORDERING: release and acquire; what a side did before a meeting is visible after
        // the meeting.
        mine.store(meetings, Ordering::Release);
        let mut looks = 0;
        while other.load(Ordering::Acquire) < meetings {
            looks += 1;
            if looks % PATIENCE == 0 {
                thread::yield_now();
            } else {
                hint::spin_loop();
            }
        }
    }

    /// Waits for the other side, and returns at about the same moment.
    pub fn start(&self, stores: Stores) {
        self.meeting.lines[1 - self.number].write();
        self.meet();
        match stores {
            Stores::Slow => self.meeting.lines[self.number].write(),
            Stores::Fast => {
                let pauses = self.rand.borrow_mut().below(JITTER);
                (0..pauses).for_each(|_| hint::spin_loop());
            }
        }
    }
}

mod affinity {
    use alloc::vec::Vec;

    use libc::{CPU_ISSET, CPU_SET, CPU_SETSIZE, cpu_set_t};

    /// The cores that the calling thread may run on.
    pub(super) fn cores() -> Vec<usize> {
        let mut set = empty();
        let size = size_of::<cpu_set_t>();
        // SAFETY: `set` is a valid set of `size` bytes; 0 is the calling thread.
        let failed = unsafe { libc::sched_getaffinity(0, size, &mut set) };
        assert_eq!(failed, 0, "sched_getaffinity");
        let may_use = |core: &usize| {
            // SAFETY: the core's number is below the size of the set.
            unsafe { CPU_ISSET(*core, &set) }
        };
        (0..CPU_SETSIZE as usize).filter(may_use).collect()
    }

    /// Pins the calling thread to one core.
    pub(super) fn pin_to(core: usize) {
        let mut set = empty();
        // SAFETY: the core came from `cores`, so its number is below the size of the set.
        unsafe { CPU_SET(core, &mut set) };
        let size = size_of::<cpu_set_t>();
        // SAFETY: `set` is a valid set of `size` bytes; 0 is the calling thread.
        let failed = unsafe { libc::sched_setaffinity(0, size, &set) };
        assert_eq!(failed, 0, "sched_setaffinity");
    }

    fn empty() -> cpu_set_t {
        // SAFETY: a set is an array of bits, for which zeros are valid.
        unsafe { std::mem::zeroed() }
    }
}
