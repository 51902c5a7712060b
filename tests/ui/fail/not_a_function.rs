//! A graph is a function.

use ws_executor::task_graph;

#[task_graph]
struct Square(u32);

fn main() {}
