//! Descriptors: too few of them, very many, and none left behind; and the cost of silence.
//!
//! Each runs in a process of its own, because limits and counts are the process's.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use io_tests::limits::{descriptor_limits, limit_descriptors, need_descriptors, open_descriptors};
use io_tests::world::World;
use tests::child;
use ws_executor::Handle;

use crate::streams::{echo, echo_server};

/// Runs `scene` in a child, which has to succeed.
fn alone(name: &str, scene: impl FnOnce()) {
    if let Some(ending) = child::run(name, scene) {
        assert_eq!(ending.code, Some(0), "{}", ending.stderr);
    }
}

fn assert_echo(stream: &mut TcpStream) {
    let mut byte = [0];
    stream.write_all(&[7]).unwrap();
    stream.read_exact(&mut byte).unwrap();
    assert_eq!(byte, [7]);
}

/// When there are no descriptors left, `accept` says so; the server goes on when there are.
pub(crate) fn descriptors_exhausted<W: World>(name: &str) {
    const CLIENTS: usize = 30;
    const SPARE: usize = 10;
    alone(name, || {
        let (executor, _keep) = W::start(2);
        let (listener, address) = executor.block_on(W::bind()).unwrap();
        // They are connected by the system, before anyone accepts.
        let mut clients: Vec<_> = (0..CLIENTS)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        let errors = Arc::new(AtomicUsize::new(0));
        limit_descriptors((open_descriptors() + SPARE) as u64);
        let server = executor.spawn({
            let errors = Arc::clone(&errors);
            async move {
                let handle = Handle::current();
                loop {
                    match W::accept(&listener).await {
                        Ok(stream) => handle.spawn(echo(stream)).detach(),
                        Err(error) => {
                            assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
                            errors.fetch_add(1, Ordering::Relaxed);
                            W::sleep(Duration::from_millis(10)).await;
                        }
                    }
                }
            }
        });
        tests::exec::until(|| errors.load(Ordering::Relaxed) > 2);
        // Those that were accepted are served.
        assert_echo(&mut clients[0]);
        // The server waits, and nothing spins: some polls for each error.
        let (before, polls) = (
            errors.load(Ordering::Relaxed),
            executor.metrics().total().polls,
        );
        thread::sleep(Duration::from_millis(300));
        let polls = executor.metrics().total().polls - polls;
        let seen = (errors.load(Ordering::Relaxed) - before) as u64;
        assert!(polls <= 20 * (seen + 2), "{polls} polls for {seen} errors");
        // Some clients leave, and there is room for the others.
        let rest = clients.split_off(CLIENTS - 3);
        drop(clients);
        for mut client in rest {
            assert_echo(&mut client);
        }
        drop(server);
    });
}

pub(crate) fn no_descriptor_is_left_behind<W: World>(name: &str) {
    fn live<W: World>() {
        let (executor, _keep) = W::start(2);
        let (listener, address) = executor.block_on(W::bind()).unwrap();
        executor.spawn(echo_server::<W>(listener)).detach();
        let mut streams: Vec<_> = (0..10)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        streams.iter_mut().for_each(assert_echo);
        executor.spawn(W::sleep(Duration::from_secs(3600))).detach();
        executor.shutdown();
    }

    alone(name, || {
        // What is there for the whole process comes with the first one.
        live::<W>();
        let before = open_descriptors();
        for _ in 0..10 {
            live::<W>();
        }
        // A runtime that is shut down in the background takes a moment.
        tests::exec::until(|| open_descriptors() <= before);
    });
}

/// The context switches of all threads but the calling one.
fn switches() -> u64 {
    let me = fs::read_link("/proc/thread-self").unwrap();
    let mut sum = 0;
    for thread in fs::read_dir("/proc/self/task").unwrap().flatten() {
        if me.ends_with(thread.file_name()) {
            continue;
        }
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let counts = status.lines().filter_map(|line| {
            let (name, count) = line.split_once(':')?;
            name.ends_with("ctxt_switches")
                .then_some(count)?
                .trim()
                .parse::<u64>()
                .ok()
        });
        sum += counts.sum::<u64>();
    }
    sum
}

/// How often they have, when reactors and monitors have come to rest.
fn switches_at_rest() -> u64 {
    let begun = Instant::now();
    let mut before = switches();
    loop {
        thread::sleep(Duration::from_millis(300));
        let now = switches();
        if now == before {
            return now;
        }
        before = now;
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it does not come to rest"
        );
    }
}

/// Connections are open and a far timer is set, but nothing happens: no thread wakes up.
pub(crate) fn silence_costs_nothing<W: World>(name: &str) {
    alone(name, || {
        let (executor, _keep) = W::start(2);
        let (listener, address) = executor.block_on(W::bind()).unwrap();
        executor.spawn(echo_server::<W>(listener)).detach();
        executor
            .spawn(W::sleep(Duration::from_secs(36_000)))
            .detach();
        let mut stream = TcpStream::connect(address).unwrap();
        (0..100).for_each(|_| assert_echo(&mut stream));
        let silent = |_| {
            let before = switches_at_rest();
            thread::sleep(Duration::from_secs(3));
            switches() == before
        };
        // A thread that the machine kept waiting may come to rest late. That cannot always
        // be so.
        assert!((0..5).any(silent), "someone woke up");
        assert_echo(&mut stream);
    });
}

/// Tells a process that it is to be the clients, and of which server.
const CLIENTS: &str = "WS_IO_CLIENTS";

/// Tells it how many.
const COUNT: &str = "WS_IO_COUNT";

/// 10,000 connections that say nothing, held by another process, and one that does.
pub(crate) fn one_is_served_beside_ten_thousand<W: World>(name: &str) {
    const MOST: u64 = 10_000;
    if let Ok(address) = env::var(CLIENTS) {
        return hold_connections(address.parse().unwrap());
    }
    alone(name, || {
        let (_, hard) = descriptor_limits();
        let idle = MOST.min(hard.saturating_sub(500));
        if idle < MOST {
            eprintln!(
                "{idle} idle connections instead of {MOST}: the hard limit on descriptors is {hard}"
            );
        }
        need_descriptors(idle + 500);
        let (executor, _keep) = W::start(2);
        let (listener, address) = executor.block_on(W::bind()).unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let server = executor.spawn({
            let accepted = Arc::clone(&accepted);
            async move {
                let handle = Handle::current();
                loop {
                    let stream = W::accept(&listener).await.unwrap();
                    accepted.fetch_add(1, Ordering::Relaxed);
                    handle.spawn(echo(stream)).detach();
                }
            }
        });
        let mut clients = Command::new(env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture"])
            .env(CLIENTS, address.to_string())
            .env(COUNT, idle.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        tests::exec::until(|| {
            thread::sleep(Duration::from_millis(5));
            accepted.load(Ordering::Relaxed) as u64 == idle
        });
        let mut active = TcpStream::connect(address).unwrap();
        for _ in 0..1_000 {
            assert_echo(&mut active);
        }
        drop(clients.stdin.take());
        // It says how many it had, after the lines of the test harness.
        let output = BufReader::new(clients.stdout.take().unwrap());
        let lines: Vec<String> = output.lines().map_while(Result::ok).collect();
        assert!(clients.wait().unwrap().success());
        assert!(
            lines
                .iter()
                .any(|line| line.contains(&format!("held {idle}"))),
            "{lines:?}"
        );
        drop(server);
    });
}

fn hold_connections(address: SocketAddr) {
    let count: u64 = env::var(COUNT).unwrap().parse().unwrap();
    need_descriptors(count + 200);
    let mut streams = Vec::new();
    for number in 0..count {
        streams.push(TcpStream::connect(address).unwrap());
        if number % 100 == 0 {
            // The server has caught up: a full queue of connections costs a second.
            assert_echo(&mut streams[number as usize]);
        }
    }
    let _ = std::io::stdin().read(&mut [0]);
    println!("held {}", streams.len());
}
