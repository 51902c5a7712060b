//! Signals: a handler must not wake or spawn, but there is a way round, and it works.
//!
//! The handler writes a byte to a socket, which is one of the few things that it may do. A
//! thread reads the other end, and wakes the task. The signals themselves reach any thread,
//! also workers that sleep, which must not mistake them for anything.

#![cfg(target_os = "linux")]

use std::future::poll_fn;
use std::io::Read;
use std::mem;
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;

use futures::task::AtomicWaker;
use tests::child;
use tests::exec::{assert_alive, executor};

/// How many signals the task waits for.
const ENOUGH: usize = 500;

/// The socket that the handler writes to.
static BELL: AtomicI32 = AtomicI32::new(-1);

extern "C" fn ring(_: libc::c_int) {
    let byte = 1_u8;
    // SAFETY: `write` may be called in a handler, and gets one byte that is there. If the
    // socket is full, nobody has to be told once more.
    unsafe { libc::write(BELL.load(Ordering::Relaxed), ptr::from_ref(&byte).cast(), 1) };
}

/// Has the process get a signal every half millisecond, and `bell` a byte for each.
fn start_signals(bell: UnixStream) {
    bell.set_nonblocking(true).unwrap();
    BELL.store(bell.into_raw_fd(), Ordering::Relaxed);
    // SAFETY: all fields of this plain structure may be zero.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = ring as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler does only what a handler may do.
    let set = unsafe { libc::sigaction(libc::SIGALRM, &action, ptr::null_mut()) };
    assert_eq!(set, 0);
    let interval = libc::timeval {
        tv_sec: 0,
        tv_usec: 500,
    };
    let timer = libc::itimerval {
        it_interval: interval,
        it_value: interval,
    };
    // SAFETY: reads a structure that is there.
    let started = unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, ptr::null_mut()) };
    assert_eq!(started, 0);
}

#[test]
fn a_thread_wakes_for_the_handler() {
    child::survives("a_thread_wakes_for_the_handler", || {
        let executor = executor(2);
        let (mut heard, bell) = UnixStream::pair().unwrap();
        let (count, waker) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicWaker::new()));
        let task = executor.spawn({
            let (count, waker) = (Arc::clone(&count), Arc::clone(&waker));
            poll_fn(move |cx| {
                waker.register(cx.waker());
                match count.load(Ordering::SeqCst) {
                    ENOUGH.. => Poll::Ready(()),
                    _ => Poll::Pending,
                }
            })
        });
        let reader = thread::spawn(move || {
            let mut bytes = [0; 1];
            while count.fetch_add(heard.read(&mut bytes).unwrap(), Ordering::SeqCst) < ENOUGH {
                waker.wake();
            }
        });
        start_signals(bell);
        executor.block_on(task);
        reader.join().unwrap();
        // The signals go on; everything else does, too.
        for _ in 0..100 {
            assert_alive(&executor);
        }
    });
}
