//! `DynGraph`: every node runs once, after those it uses, whatever the shape.

mod graph_support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use graph_support::{Program, on_every_executor};
use tests::drops::Drops;
use tests::exec::{assert_alive, executor, until};
use tests::watchdog;
use ws_core::{FastRand, Spawn};
use ws_executor::graph::{DynGraph, Output};
use ws_executor::yield_now;

/// A random graph, computed by the graph and one after the other.
fn random_graph(seed: u64, nodes: u32) -> (DynGraph, Vec<Output<u64>>, Vec<u64>) {
    let mut random = FastRand::new(seed);
    let mut graph = DynGraph::new();
    let mut outputs: Vec<Output<u64>> = Vec::new();
    let mut expected: Vec<u64> = Vec::new();
    for n in 0..nodes {
        let mut pick = || random.below(n.max(1)) as usize;
        let (kind, a, b, c) = (pick() % 8, pick(), pick(), pick());
        let n = u64::from(n);
        let (output, value) = match kind {
            _ if outputs.is_empty() => (graph.source(move || n), n),
            0 => (graph.source(move || n), n),
            1 => (graph.then(&outputs[a], move |a| a ^ n), expected[a] ^ n),
            2 => (
                graph.join(&outputs[a], &outputs[b], move |a, b| {
                    a.wrapping_mul(3) ^ b ^ n
                }),
                expected[a].wrapping_mul(3) ^ expected[b] ^ n,
            ),
            3 => (graph.source_async(move || yielding(n)), n),
            4 => {
                let code = async move |a: Output<u64>| yielding(*a.get()).await ^ n;
                (graph.then_async(&outputs[a], code), expected[a] ^ n)
            }
            5 => {
                let code =
                    async move |a: Output<u64>, b: Output<u64>| yielding(*a.get()).await ^ *b.get();
                let node = graph.join_async(&outputs[a], &outputs[b], code);
                (node, expected[a] ^ expected[b])
            }
            6 => {
                let all = [a, b, c].map(|index| outputs[index].clone());
                let code = async |all: Vec<Output<u64>>| {
                    yielding(0).await;
                    all.iter().fold(0, |all, x| all ^ *x.get())
                };
                let value = expected[a] ^ expected[b] ^ expected[c];
                (graph.gather_async(&all, code), value)
            }
            _ => {
                let all = [a, b, c].map(|index| outputs[index].clone());
                let sum = move |all: &[&u64]| all.iter().fold(n, |sum, x| sum.wrapping_add(**x));
                let value = [a, b, c]
                    .iter()
                    .fold(n, |sum, &x| sum.wrapping_add(expected[x]));
                (graph.gather(&all, sum), value)
            }
        };
        outputs.push(output);
        expected.push(value);
    }
    (graph, outputs, expected)
}

/// Waits a little, as those do that wait for something.
async fn yielding(n: u64) -> u64 {
    for _ in 0..n % 4 {
        yield_now().await;
    }
    n
}

#[test]
fn random_shapes_compute_what_they_should_on_every_executor() {
    struct Shapes;
    impl Program for Shapes {
        fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
            for seed in 1..=30 {
                let (graph, outputs, expected) = random_graph(seed, 300);
                block_on(graph.run(on));
                let values: Vec<u64> = outputs.into_iter().map(Output::take).collect();
                assert_eq!(values, expected, "{name}, seed {seed}");
            }
        }
    }
    watchdog::guard(
        "random_shapes_compute_what_they_should_on_every_executor",
        || {
            on_every_executor(&Shapes);
        },
    );
}

#[test]
fn long_wide_and_empty_graphs() {
    watchdog::guard("long_wide_and_empty_graphs", || {
        let executor = executor(2);
        let handle = executor.handle();
        block_on(DynGraph::new().run(&handle));

        let mut graph = DynGraph::new();
        let mut last = graph.source(|| 0_u32);
        for _ in 0..200_000 {
            last = graph.then(&last, |n| n + 1);
        }
        block_on(graph.run(&handle));
        assert_eq!(last.take(), 200_000);

        let mut graph = DynGraph::new();
        let root = graph.source(|| 1_u64);
        let leaves: Vec<_> = (0..100_000)
            .map(|n| graph.then(&root, move |root| root + n))
            .collect();
        let sum = graph.gather(&leaves, |leaves| leaves.iter().copied().sum::<u64>());
        block_on(graph.run(&handle));
        assert_eq!(sum.take(), 100_000 + 99_999 * 50_000);
    });
}

#[test]
fn a_graph_that_is_not_run_is_dropped_without_recursion() {
    let drops = Drops::of(1);
    let mut graph = DynGraph::new();
    let item = drops.item(0);
    let mut last = graph.source(move || {
        drop(item);
        0_u32
    });
    for _ in 0..300_000 {
        last = graph.then(&last, |n| n + 1);
    }
    drop(graph);
    drops.assert_each_once();
    // What held on to the whole chain is gone, too.
    assert!(catch_unwind(AssertUnwindSafe(|| last.take())).is_err());
}

#[test]
fn a_panic_ends_the_run_and_nothing_else() {
    watchdog::guard("a_panic_ends_the_run_and_nothing_else", || {
        let executor = executor(2);
        for culprit in 0..50 {
            let drops = Drops::of(50);
            let mut graph = DynGraph::new();
            let root = graph.source(|| ());
            let outputs: Vec<_> = (0..50)
                .map(|n| {
                    let item = drops.item(n);
                    graph.then(&root, move |()| {
                        assert_ne!(n, culprit, "the culprit");
                        item
                    })
                })
                .collect();
            let run = catch_unwind(AssertUnwindSafe(|| block_on(graph.run(&executor.handle()))));
            let payload = run.unwrap_err();
            assert!(
                payload
                    .downcast_ref::<String>()
                    .unwrap()
                    .contains("the culprit")
            );
            drop(outputs);
            until(|| (0..50).all(|n| drops.count(n) == 1));
        }
        assert_alive(&executor);
    });
}

#[test]
fn a_run_that_is_dropped_is_cancelled() {
    watchdog::guard("a_run_that_is_dropped_is_cancelled", || {
        let executor = executor(2);
        let ran = Arc::new(AtomicUsize::new(0));
        let mut graph = DynGraph::new();
        for _ in 0..20_000 {
            let ran = ran.clone();
            drop(graph.source(move || ran.fetch_add(1, Ordering::Relaxed)));
        }
        let handle = executor.handle();
        let mut run = Box::pin(graph.run(&handle));
        // A turn of nodes, and then it lets others run. They may be done by then, if this
        // thread had to wait for a core.
        let polled = block_on(async { futures::poll!(&mut run) });
        assert!(polled.is_pending() || ran.load(Ordering::Relaxed) == 20_000);
        drop(run);
        until(|| Arc::strong_count(&ran) == 1);
        assert!(ran.load(Ordering::Relaxed) > 0);
    });
}

#[test]
fn misuse_is_refused() {
    let refused = |code: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(code)).is_err();
    let (mut one, mut other) = (DynGraph::new(), DynGraph::new());
    let (first, second) = (one.source(|| 1), one.source(|| 2));
    let foreign = other.source(|| 3);
    assert!(refused(&mut || drop(one.then(&foreign, |n| *n))));
    assert!(refused(&mut || one.order(&second, &first)));
    assert!(refused(&mut || one.order(&first, &first)));
    assert!(refused(&mut || drop(first.get())), "it was not run");

    let executor = executor(2);
    let handle = executor.handle();
    executor.shutdown();
    let mut graph = DynGraph::new();
    for _ in 0..1000 {
        drop(graph.source(|| ()));
    }
    // The second branch is refused, and so the run is lost.
    assert!(catch_unwind(AssertUnwindSafe(|| block_on(graph.run(&handle)))).is_err());
}

/// A node that waits for ever is dropped with its run, and by the panic of another one.
#[test]
fn awaiting_nodes_are_dropped_with_their_run() {
    watchdog::guard("awaiting nodes, dropped", || {
        let executor = executor(2);
        let drops = Drops::of(2);
        for panics in [false, true] {
            let (began, begins) = async_channel::bounded::<()>(1);
            let mut graph = DynGraph::new();
            let item = drops.item(usize::from(panics));
            graph.source_async(async move || {
                let _item = item;
                began.send(()).await.unwrap();
                std::future::pending::<()>().await;
            });
            let handle = executor.handle();
            if panics {
                graph.source_async(async move || {
                    begins.recv().await.unwrap();
                    std::panic::panic_any(7_u8);
                });
                let run = AssertUnwindSafe(|| executor.block_on(graph.run(&handle)));
                assert_eq!(catch_unwind(run).unwrap_err().downcast_ref(), Some(&7_u8));
                assert_eq!(drops.count(1), 1, "gone when the run returns");
            } else {
                let run = executor.spawn(async move { graph.run(&handle).await });
                executor.block_on(begins.recv()).unwrap();
                drop(run);
                until(|| drops.count(0) == 1);
            }
        }
        drops.assert_each_once();
        assert_alive(&executor);
    });
}
