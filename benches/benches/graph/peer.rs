//! dagx, the peer whose graphs are data with types as well: the shapes of `DynGraph`, on
//! the same executor. Its tasks are async blocks, and clone their inputs.

use dagx::{DagRunner, TaskHandle, task_fn};
use ws_executor::Handle;

use crate::shapes::{Shape, tick};

fn source(dag: &DagRunner, n: u64) -> TaskHandle<u64> {
    dag.add_task(task_fn(move |_: ()| async move { tick(n) }))
        .into()
}

fn then(dag: &DagRunner, input: &TaskHandle<u64>) -> TaskHandle<u64> {
    dag.add_task(task_fn(|n: u64| async move { tick(n) }))
        .depends_on(input)
}

fn join(dag: &DagRunner, a: &TaskHandle<u64>, b: &TaskHandle<u64>) -> TaskHandle<u64> {
    dag.add_task(task_fn(|(a, b): (u64, u64)| async move { tick(a ^ b) }))
        .depends_on((a, b))
}

/// The graph of this shape.
fn graph(shape: Shape) -> DagRunner {
    let dag = DagRunner::new();
    match shape {
        Shape::Chain(nodes) => {
            let mut last = source(&dag, 0);
            for _ in 1..nodes {
                last = then(&dag, &last);
            }
        }
        Shape::Tree(nodes) => {
            let mut outputs = vec![source(&dag, 0)];
            for node in 1..nodes {
                outputs.push(then(&dag, &outputs[(node - 1) / 2]));
            }
        }
        Shape::Wavefront(side) => {
            let mut above: Vec<TaskHandle<u64>> = Vec::new();
            for row in 0..side {
                let mut own: Vec<TaskHandle<u64>> = Vec::with_capacity(side);
                for column in 0..side {
                    own.push(match (row, column) {
                        (0, 0) => source(&dag, 0),
                        (0, _) => then(&dag, &own[column - 1]),
                        (_, 0) => then(&dag, &above[0]),
                        _ => join(&dag, &above[column], &own[column - 1]),
                    });
                }
                above = own;
            }
        }
        Shape::Parallel(nodes) => {
            for node in 0..nodes {
                source(&dag, node as u64);
            }
        }
    }
    dag
}

pub(crate) fn run(shape: Shape, handle: &Handle) {
    let (dag, on) = (graph(shape), handle.clone());
    handle.block_on(handle.spawn(async move {
        dag.run(|future| on.spawn(future).detach())
            .await
            .expect("no task fails");
    }));
}
