//! Litmus tests on real cores: two threads that do one thing each, at the same moment.
//!
//! A missing fence shows only if a store is delayed until the other core has looked. So
//! each thread has a core of its own, both start together, and one of them fills the store
//! buffer of its core first ([`Stores::Slow`]): with stores to lines that the other core has
//! just written. Stores leave the buffer in order on x86-64, so what is stored next is late.
//! The other thread starts a little later, by chance. A look must not be late: before the
//! start, a thread should look at what it is going to look at.
//!
//! Such a test can show that a fence is missing, and cannot show that none is. How often it
//! fails without one is said where it is used.

use core::cell::{Cell, RefCell};

use super::atomic::{AtomicU64, Ordering};
use super::{CachePadded, hint, thread};
use crate::rand::FastRand;

/// Lines that a slow side writes: about what a store buffer holds. Not measured.
const LINES: usize = 48;

/// Looks at the other side before the thread lets others run: on a busy machine, the other
/// side may have to wait for its core. Not measured.
const PATIENCE: u32 = 1_000;

/// A fast side waits for fewer pauses than this: the slow one has more to do. In the test
/// `litmus`, most failures came with less than twenty.
const JITTER: u32 = 24;

/// Runs both sides, each on a core of its own.
///
/// # Errors
///
/// Says why that is not possible here: there must be two cores.
///
/// # Panics
///
/// As `left` or `right` do.
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
    /// How often each side has come.
    arrivals: [CachePadded<AtomicU64>; 2],
    /// What each side writes to be slow.
    lines: [Lines; 2],
}

/// Memory that is written only for the time it takes.
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
        // SAFETY: `at` goes through the lines, which are atomics: any thread may store to
        // them at any time, and nobody reads them.
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

/// How long what a side stores after a start takes to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// As long as ever.
    Fast,
    /// Long.
    Slow,
}

impl Side<'_> {
    /// Waits for the other side, which must call this or [`start`](Self::start) as often.
    pub fn meet(&self) {
        let meetings = self.meetings.get() + 1;
        self.meetings.set(meetings);
        let [mine, other] = [self.number, 1 - self.number].map(|side| &self.meeting.arrivals[side]);
        // ORDERING: release and acquire; what a side did before a meeting is seen after it.
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
            // SAFETY: the core is below the size of the set.
            unsafe { CPU_ISSET(*core, &set) }
        };
        (0..CPU_SETSIZE as usize).filter(may_use).collect()
    }

    /// Pins the calling thread to one core.
    pub(super) fn pin_to(core: usize) {
        let mut set = empty();
        // SAFETY: the core came from `cores`, so it is below the size of the set.
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
