//! tokio's own facilities, in tasks that our workers poll.
#![cfg(target_os = "linux")]

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use io_tests::tokio_kinds::{both, runtime, start};
use tests::watchdog::guard;
use tokio::runtime::Handle as RuntimeHandle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use ws_executor::{Executor, Handle, yield_now};
use ws_io_adapters::tokio::{attach, spawn};

#[test]
fn a_task_with_ready_channels_yields() {
    both("budget", |executor| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        (0..10_000).for_each(|n| sender.send(n).unwrap());
        let other_ran = Arc::new(AtomicBool::new(false));
        let reads = executor.spawn({
            let other_ran = Arc::clone(&other_ran);
            async move {
                // On one worker, the other task runs only when this one lets it.
                let other = spawn(async move { other_ran.store(true, Ordering::Relaxed) });
                let mut polls = 0;
                for _ in 0..10_000 {
                    let mut read = std::pin::pin!(receiver.recv());
                    std::future::poll_fn(|cx| {
                        polls += 1;
                        read.as_mut().poll(cx)
                    })
                    .await
                    .unwrap();
                }
                other.await;
                polls
            }
        });
        let polls = executor.block_on(reads);
        // One yield for every 127 operations.
        assert!((10_050..=10_200).contains(&polls), "{polls}");
        assert!(other_ran.load(Ordering::Relaxed));
    });
}

/// Our `block_on` goes on being a worker, also inside of tokio's: it drives the reactor, and
/// runs tasks. On one worker nobody else would.
#[test]
fn a_worker_waits_inside_a_runtime_handle() {
    both("nested in a handle", |executor| {
        let task = executor.spawn(async {
            RuntimeHandle::current().block_on(async {
                Handle::current().block_on(async {
                    let other = spawn(async {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                        2
                    });
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    tokio::spawn(async { 5 }).await.unwrap() + other.await
                })
            })
        });
        assert_eq!(executor.block_on(task), 7);
        // The worker is as it was.
        let after = executor.spawn(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            RuntimeHandle::current().block_on(async { 3 })
        });
        assert_eq!(executor.block_on(after), 3);
    });
}

#[test]
fn a_nested_block_on_has_a_budget_of_its_own() {
    both("nested budget", |executor| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        (0..2_000).for_each(|n| sender.send(n).unwrap());
        let task = executor.spawn(async move {
            // Uses the budget of this poll up, and then waits inside it.
            let mut reads = 0;
            while futures::poll!(std::pin::pin!(receiver.recv())).is_ready() {
                reads += 1;
            }
            let rest = Handle::current().block_on(async {
                let mut rest = 0;
                while receiver.try_recv().is_ok() {
                    rest += 1;
                }
                sender.send(7).unwrap();
                assert_eq!(receiver.recv().await, Some(7));
                rest
            });
            reads + rest
        });
        assert_eq!(executor.block_on(task), 2_000);
    });
}

/// The timer is for another worker to see: this one is blocked.
#[test]
fn blocking_calls_work_inside_a_task() {
    both("blocking", |executor| {
        if executor.workers() == 1 {
            return;
        }
        let task = executor.spawn(async {
            let inside = tokio::task::block_in_place(|| {
                RuntimeHandle::current().block_on(async {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    1
                })
            });
            let direct = tokio::task::spawn_blocking(|| 2).await.unwrap();
            inside + direct
        });
        assert_eq!(executor.block_on(task), 3);
    });
}

/// `Handle::block_on` blocks its worker, so that another one has to drive the reactor.
#[test]
fn a_runtime_handle_blocks_inside_a_task() {
    guard("handle", || {
        let executor = start(2);
        let task = executor.spawn(async {
            RuntimeHandle::current().block_on(async {
                tokio::time::sleep(Duration::from_millis(5)).await;
                tokio::spawn(async { 5 }).await.unwrap()
            })
        });
        assert_eq!(executor.block_on(task), 5);
    });
}

#[test]
fn join_sets_and_select() {
    both("join set", |executor| {
        let task = executor.spawn(async {
            let mut set = JoinSet::new();
            for n in 0..100_u32 {
                set.spawn(async move {
                    tokio::time::sleep(Duration::from_micros(u64::from(n))).await;
                    n
                });
            }
            let mut sum = 0;
            while let Some(n) = set.join_next().await {
                sum += n.unwrap();
            }
            let mut interval = tokio::time::interval(Duration::from_millis(2));
            let (sender, mut receiver) = oneshot::channel::<u32>();
            let sends = spawn(async move {
                tokio::time::sleep(Duration::from_millis(9)).await;
                sender.send(1).unwrap();
            });
            let mut ticks = 0;
            loop {
                tokio::select! {
                    biased;
                    _ = interval.tick() => ticks += 1,
                    one = &mut receiver => {
                        sum += one.unwrap();
                        break;
                    }
                }
            }
            sends.await;
            assert!(ticks >= 1);
            sum
        });
        assert_eq!(executor.block_on(task), 4951);
    });
}

#[test]
fn processes_and_signals() {
    both("process", |executor| {
        let task = executor.spawn(async {
            let kind = tokio::signal::unix::SignalKind::user_defined2();
            let mut signals = tokio::signal::unix::signal(kind).unwrap();
            let kill = format!("kill -USR2 {}; echo sent", std::process::id());
            let output = tokio::process::Command::new("sh")
                .args(["-c", &kill])
                .output()
                .await
                .unwrap();
            assert_eq!(output.stdout, b"sent\n");
            signals.recv().await.unwrap();
        });
        executor.block_on(task);
    });
}

#[test]
fn files() {
    both("files", |executor| {
        let task = executor.spawn(async {
            let path = std::env::temp_dir().join(format!("ws-files-{}", std::process::id()));
            tokio::fs::write(&path, b"written").await.unwrap();
            let read = tokio::fs::read(&path).await.unwrap();
            tokio::fs::remove_file(&path).await.unwrap();
            read
        });
        assert_eq!(executor.block_on(task), b"written");
    });
}

/// `tokio::spawn` runs on whichever worker is in the reactor, or on the runtime's thread.
#[test]
fn tokio_spawn_lands_on_the_runtime() {
    both("spawn", |executor| {
        let names = executor.spawn(async {
            let mut names = HashSet::new();
            for _ in 0..50 {
                let name = || thread::current().name().unwrap_or_default().to_owned();
                names.insert(tokio::spawn(async move { name() }).await.unwrap());
            }
            names
        });
        let names = executor.block_on(names);
        let ours = |name: &String| name.starts_with("ws-worker-");
        let theirs = |name: &String| name.starts_with("tokio-");
        assert!(
            names.iter().all(|name| ours(name) || theirs(name)),
            "{names:?}"
        );
    });
}

#[test]
fn panics_and_cancellations_cross() {
    both("crossing", |executor| {
        // A panic of a tokio task, awaited by one of ours.
        let task = executor.spawn(async {
            let error = tokio::spawn(async { panic!("theirs") }).await.unwrap_err();
            error.is_panic()
        });
        assert!(executor.block_on(task));
        // A panic of ours, awaited by a tokio task.
        let task = executor.spawn(async {
            let ours = spawn(async { panic!("ours") }).fallible();
            let theirs = tokio::spawn(ours);
            theirs.await.unwrap_err().is_panic()
        });
        assert!(executor.block_on(task));
        // Cancelling either drops what it awaits.
        let task = executor.spawn(async {
            let (sender, receiver) = oneshot::channel::<()>();
            let theirs = tokio::spawn(receiver);
            theirs.abort();
            assert!(theirs.await.unwrap_err().is_cancelled());
            assert!(sender.is_closed());

            let (sender, receiver) = oneshot::channel::<()>();
            let ours = spawn(receiver);
            yield_now().await;
            assert!(ours.cancel().await.is_none());
            assert!(sender.is_closed());
        });
        executor.block_on(task);
    });
}

/// Counts how many of them are dropped.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_shutdown_drops_what_is_on_the_runtime() {
    guard("shutdown", || {
        for workers in [1, 2] {
            let executor = start(workers);
            let handle = executor.handle();
            let drops = Arc::new(AtomicUsize::new(0));
            let (ours, theirs) = (Counts(Arc::clone(&drops)), Counts(Arc::clone(&drops)));
            let started = executor.spawn(async move {
                let (running, runs) = oneshot::channel();
                spawn(async move {
                    let _ours = ours;
                    std::future::pending::<()>().await;
                })
                .detach();
                tokio::spawn(async move {
                    let _theirs = theirs;
                    running.send(()).unwrap();
                    tokio::time::sleep(Duration::from_secs(3600)).await;
                });
                runs.await.unwrap();
            });
            executor.block_on(started);
            executor.shutdown();
            assert_eq!(drops.load(Ordering::Relaxed), 2);
            // A handle that outlives it spawns nothing.
            let late = handle.spawn(async {}).fallible();
            assert_eq!(futures::executor::block_on(late), None);
        }
    });
}

/// Code in `spawn_blocking` keeps neither the executor nor its runtime from ending.
#[test]
fn a_shutdown_does_not_wait_for_blocking_code() {
    guard("blocking code", || {
        let executor = start(2);
        let (release, released) = std::sync::mpsc::channel::<()>();
        let (begin, begun) = std::sync::mpsc::channel::<()>();
        let task = executor.spawn(async move {
            tokio::task::spawn_blocking(move || {
                begin.send(()).unwrap();
                let _ = released.recv();
            })
            .await
        });
        begun.recv().unwrap();
        executor.shutdown();
        assert!(futures::executor::block_on(task.fallible()).is_none());
        drop(release);
    });
}

#[test]
fn a_runtime_may_end_before_the_executor_that_is_attached_to_it() {
    guard("runtime ends", || {
        let runtime = runtime();
        let builder = Executor::builder().workers(2);
        let executor = attach(builder, runtime.handle().clone()).unwrap();
        let (listening, listens) = oneshot::channel();
        let accepts = executor.spawn(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            listening.send(()).unwrap();
            listener.accept().await.map(drop)
        });
        let spawned = executor.spawn(async {
            let task = tokio::spawn(std::future::pending::<()>());
            task.await
        });
        executor.block_on(listens).unwrap();
        drop(runtime);
        executor.block_on(accepts).unwrap_err();
        assert!(executor.block_on(spawned).unwrap_err().is_cancelled());
        // What needs no reactor goes on.
        assert_eq!(executor.block_on(executor.spawn(async { 1 })), 1);
        executor.shutdown();
    });
}

#[test]
fn an_executor_may_end_before_the_runtime_that_it_is_attached_to() {
    guard("executor ends", || {
        let runtime = runtime();
        let builder = Executor::builder().workers(2);
        let executor = attach(builder, runtime.handle().clone()).unwrap();
        let drops = Arc::new(AtomicUsize::new(0));
        let counts = Counts(Arc::clone(&drops));
        executor
            .spawn(async move {
                let _counts = counts;
                tokio::time::sleep(Duration::from_secs(3600)).await;
            })
            .detach();
        let waits = runtime.spawn({
            let task = executor.spawn(std::future::pending::<()>()).fallible();
            async move { task.await.is_none() }
        });
        executor.shutdown();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        assert!(runtime.block_on(waits).unwrap(), "its task was cancelled");
    });
}

/// From a tokio program: built and dropped inside a runtime's task.
#[test]
fn an_executor_lives_inside_a_foreign_runtime() {
    guard("inside", || {
        let outer = runtime();
        let answer = outer.block_on(async {
            tokio::spawn(async {
                let executor = start(1);
                let answer = executor
                    .spawn(async {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                        42
                    })
                    .await;
                drop(executor);
                answer
            })
            .await
            .unwrap()
        });
        assert_eq!(answer, 42);
    });
}

/// tokio's reactor in a worker, async-io's on its own thread, one task.
#[test]
fn both_worlds_in_one_task() {
    both("both worlds", |executor| {
        let task = executor.spawn(async {
            let listener = async_net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
            let (mut server, _) = listener.accept().await.unwrap();
            for n in 0..100_u8 {
                tokio::io::AsyncWriteExt::write_all(&mut client, &[n])
                    .await
                    .unwrap();
                let mut byte = [0];
                futures::io::AsyncReadExt::read_exact(&mut server, &mut byte)
                    .await
                    .unwrap();
                async_io::Timer::after(Duration::from_micros(100)).await;
                futures::io::AsyncWriteExt::write_all(&mut server, &byte)
                    .await
                    .unwrap();
                tokio::time::sleep(Duration::from_micros(100)).await;
                tokio::io::AsyncReadExt::read_exact(&mut client, &mut byte)
                    .await
                    .unwrap();
                assert_eq!(byte, [n]);
            }
        });
        executor.block_on(task);
    });
}

/// A poll that computes for long does not keep events from others.
#[test]
fn an_event_is_seen_beside_a_blocked_poll() {
    guard("blocked poll", || {
        let executor = start(2);
        for _ in 0..20 {
            let (blocked, blocks) = std::sync::mpsc::channel();
            let (release, released) = std::sync::mpsc::channel::<()>();
            // The worker that sees the timer is the one that is blocked then.
            let blocker = executor.spawn(async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                blocked.send(()).unwrap();
                released.recv().unwrap();
            });
            blocks.recv().unwrap();
            executor.block_on(executor.spawn(tokio_sleep()));
            release.send(()).unwrap();
            executor.block_on(blocker);
        }
    });
}

async fn tokio_sleep() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}
